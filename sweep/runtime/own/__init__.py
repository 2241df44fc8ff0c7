"""Code of the user's own: classes found by name, what they are built from, and what they are shown."""
