"""Contracts for implementers, shipped as test classes."""
