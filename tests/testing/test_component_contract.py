"""The contract catches what it says it checks: components that break it, one promise each."""

from __future__ import annotations

import numpy as np
import pytest

from sweep.runtime import Reads
from sweep.testing import ComponentContract
from tests.runtime.scenes import cart

HERE = f"{__name__}:"


class Good:
    """A device that keeps the contract."""

    reads = Reads()
    width = 1
    streams = ("white",)

    def __init__(self, setup):
        self._calls = 0

    def measure(self, view, noise):
        self._calls += 1
        return [view.joint_position("hinge") + 0.01 * noise["white"][0] + self._calls]


class SharedByLanes(Good):
    """Counts the calls of all lanes together, and of all episodes."""

    calls = 0

    def measure(self, view, noise):
        SharedByLanes.calls += 1
        return [SharedByLanes.calls]


class GlobalNoise(Good):
    """Draws from NumPy's global generator."""

    def measure(self, view, noise):
        return [np.random.standard_normal()]  # noqa: NPY002 - the fault that is to be found


class Contract(ComponentContract):
    """Not collected: its name does not begin with Test."""

    component = "mine"
    ticks = 40
    uses = "Good"

    def document(self):
        document = cart(metrics={})
        document["components"]["mine"] = {"type": "device", "class": HERE + self.uses, "period_s": 0.003}
        return document


PROMISES = [name for name in dir(ComponentContract) if name.startswith("test_")]


@pytest.mark.parametrize("promise", PROMISES)
def test_a_good_component_keeps_every_promise(promise):
    getattr(Contract(), promise)()


@pytest.mark.parametrize(
    ("broken", "promises"),
    [
        ("SharedByLanes", {"test_lanes_are_independent", "test_reset_is_clean", "test_same_seed_same_bits"}),
        ("GlobalNoise", {"test_same_seed_same_bits", "test_block_length_is_irrelevant", "test_reads_do_not_advance"}),
    ],
)
def test_a_broken_component_is_found_out(broken, promises):
    contract = Contract()
    contract.uses = broken
    for promise in promises:
        with pytest.raises(AssertionError, match=r"bits|left|looked at"):
            getattr(contract, promise)()


def test_one_that_is_not_in_its_document_is_told():
    contract = Contract()
    contract.component = "mien"
    with pytest.raises(LookupError, match="mien"):
        contract.test_reset_is_clean()
