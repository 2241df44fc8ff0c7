"""The one way in: the mailbox, its producers, and the record of what came through it."""
