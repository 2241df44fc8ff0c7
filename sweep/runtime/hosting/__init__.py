"""A live session: a thread that steps one Instance, pacing, sinks, and what a fault leaves behind."""
