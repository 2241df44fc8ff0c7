"""Traces: what is kept of a run, digested, told as events, and written as files."""
