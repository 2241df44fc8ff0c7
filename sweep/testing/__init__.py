"""Contracts for implementers, as test classes to subclass; they need nothing but pytest to be collected."""

from sweep.testing.component_contract import ComponentContract as ComponentContract
