"""ComponentContract: what every component must hold to, as a test class."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from sweep.errors import SweepError
from sweep.plan.manifest import load_manifest
from sweep.plan.plan import Plan
from sweep.runtime import InstanceBatch, SimulationInstance, resolve_plan
from sweep.runtime.model import open_model
from sweep.runtime.model_index import ModelIndex

_BLOCKS = (1, 2, 3, 7, None)
_SEEDS = (0, 1, 2**32, 2**64 - 1, 5, 6, 7)
_OTHER = {"type": "encoder", "period_s": 0.003, "white_std": 0.1}


class ComponentContract:
    """Subclass it, say which document the component is in, and pytest checks the contract of the runtime for it::

        class TestMySensor(ComponentContract):
            component = "mine"

            def document(self):
                return {"schema": "3.3", "model": {"file": "arm.xml"}, "components": {"mine": {...}}, ...}

            def variants(self):
                return [{"components.mine.parameters.gain": gain} for gain in (0.5, 1.0, 2.0)]

    What is checked: lanes are independent of each other, block length is irrelevant, noise is the component's own,
    reads advance nothing, a reset leaves nothing behind, the same seed gives the same bits, and eager derived state
    changes none of them.

    Attributes:
        component: the component's id in the document.
        ticks: how long the runs of the tests are.
    """

    component: str = ""
    ticks: int = 60

    def document(self) -> Mapping[str, Any]:
        """The Manifest, as plain data, that the component is a part of."""
        raise NotImplementedError("say which document the component is in")

    def variants(self) -> Sequence[Mapping[str, Any]]:
        """Sets of parameters, by path, that lanes of one batch may differ in; none beside the document by default."""
        return [{}]

    def test_lanes_are_independent(self) -> None:
        """A lane has the same bits alone, among others, first and last, and on two threads."""
        plans = self._plans()
        lanes = [(plans[i % len(plans)], seed) for i, seed in enumerate(_SEEDS)]
        alone = [_digest([plan], [seed], self.ticks) for plan, seed in lanes]
        for order in (lanes, lanes[::-1]):
            for threads in (1, 2):
                batch = InstanceBatch([p for p, _ in order], [s for _, s in order], threads=threads)
                batch.advance(self.ticks)
                found = {seed: batch.trace_digest(lane) for lane, (_, seed) in enumerate(order)}
                for (_, seed), (expected,) in zip(lanes, alone, strict=True):
                    assert found[seed] == expected, f"seed {seed} has other bits among {len(order)} lanes than alone"

    def test_block_length_is_irrelevant(self) -> None:
        """However many ticks are executed at once, the bits are the same."""
        plans = self._plans()
        seeds = _SEEDS[: len(plans)]
        expected = _digest(plans, seeds, self.ticks, _BLOCKS[0])
        for longest in _BLOCKS[1:]:
            found = _digest(plans, seeds, self.ticks, longest)
            assert found == expected, f"max_block={longest} gives other bits than 1"

    def test_noise_is_stable(self) -> None:
        """No other component shifts the noise: added, put first, or drawing much."""
        joint = self._a_joint()
        expected = self._noise(self._with({}))
        for others in ({"_a": None}, {"_a": None, "_b": None}):
            extra = {name: {**_OTHER, "joints": joint} for name in others}
            assert self._noise(self._with(extra)) == expected, "another component shifts its noise"
            assert self._noise(self._with(extra, first=True)) == expected, "a component before it shifts its noise"

    def test_reads_do_not_advance(self) -> None:
        """Looking at outputs, snapshots, metrics and events changes nothing."""
        plan = self._plans()[0]
        quiet, watched = plan.instantiate(1), plan.instantiate(1)
        quiet.advance(self.ticks)
        for _ in range(self.ticks):
            watched.advance(1)
            for _ in range(3):
                _look(watched)
        assert watched.trace_digest == quiet.trace_digest, "being looked at changes the run"

    def test_reset_is_clean(self) -> None:
        """An episode after a dirty one equals the same episode of a fresh Instance."""
        plan = self._plans()[0]
        instance = plan.instantiate(3)
        instance.advance(self.ticks // 2)
        instance.reset(seed=4)
        instance.advance(self.ticks)
        assert [instance.trace_digest] == _digest([plan], [4], self.ticks), "the episode before left something behind"

    def test_same_seed_same_bits(self) -> None:
        """A seed decides everything, and an Instance does not see another one of the same process."""
        plan = self._plans()[0]
        one, other = plan.instantiate(9), plan.instantiate(9)
        for _ in range(self.ticks):
            one.advance(1)
            other.advance(1)
        assert one.trace_digest == other.trace_digest, "the same seed gave other bits"
        assert one.stream_receipts == other.stream_receipts, "the same seed drew other noise"

    def test_eager_derived_state_changes_nothing(self) -> None:
        """What is computed for nobody changes nothing for anybody."""
        plans = self._plans()
        eager = [resolve_plan(self._with({}), {**v, "runtime.derived_state": "eager"}) for v in self.variants()]
        seeds = _SEEDS[: len(plans)]
        assert _digest(eager, seeds, self.ticks) == _digest(plans, seeds, self.ticks), "eager forward changes bits"

    def _plans(self) -> list[Plan]:
        manifest = load_manifest(self._with({}))
        return [resolve_plan(manifest, variant) for variant in self.variants()]

    def _with(self, extra: Mapping[str, Any], *, first: bool = False) -> dict[str, Any]:
        document: dict[str, Any] = copy.deepcopy(dict(self.document()))
        if self.component not in document.get("components", {}):
            raise LookupError(f"there is no component {self.component!r} in the document; set `component`")
        own = document["components"]
        document["components"] = {**extra, **own} if first else {**own, **extra}
        return document

    def _noise(self, document: Mapping[str, Any]) -> Any:
        """What the component drew."""
        instance = resolve_plan(document).instantiate(2)
        instance.advance(self.ticks)
        return {name: r for name, r in instance.stream_receipts.items() if name.partition("/")[0] == self.component}

    def _a_joint(self) -> list[str]:
        names = ModelIndex(open_model(self._plans()[0].model)).joint_names()
        return names[:1]


def _digest(plans: Sequence[Plan], seeds: Sequence[int], ticks: int, max_block: int | None = None) -> list[str]:
    batch = InstanceBatch(plans, seeds, max_block)
    batch.advance(ticks)
    return [batch.trace_digest(lane) for lane in range(batch.lanes)]


def _look(instance: SimulationInstance) -> None:
    for name in instance.plan.manifest.components:
        try:
            instance.output(name)
        except SweepError:
            continue  # no device
    instance.snapshot()
    _ = instance.metrics, instance.trace_digest, instance.stream_receipts, instance.events()
