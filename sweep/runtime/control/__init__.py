"""Controllers: what they are built from, when they run, and whose fault it was."""
