"""How samples and commands travel: jitter, loss, ordering, and what is under way."""
