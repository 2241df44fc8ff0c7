"""The domain: what Interactions propose, one transaction a step, and actions that wait for their boundary."""
