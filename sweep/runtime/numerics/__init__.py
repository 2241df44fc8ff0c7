"""Arithmetic with the same bits on every CPU, with every NumPy and for any number of rows."""
