"""Controllers that compute one lane at a time although they are written for many: as if each lane were alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sweep.runtime import InstanceBatch
from tests.runtime.scenes import cart, plan_of
from tests.runtime.test_faults import alone


def guarded(class_name, latency_s=0.002, *, unbatched=("fb",), **parameters):
    document = cart(runtime={"timestep_s": 0.001, "duration_s": 0.1, "unbatched": dict.fromkeys(unbatched, "a test")})
    document["components"]["enc"]["latency_s"] = latency_s
    document["controllers"]["fb"] |= {
        "class": f"tests.runtime.controllers:{class_name}",
        "parameters": {"gain": 3.0, "bad": 0.0, "at": 42, "kind": "flat", **parameters},
    }
    return plan_of(document)


@pytest.mark.parametrize("max_block", [None, 1])
@pytest.mark.parametrize("kind", ["Gain", "LaneGain", "Integral", "Shape"])
def test_every_lane_is_as_it_is_alone(kind, max_block):
    """Lanes that begin at different ticks, one that raises, and state that is declared."""
    latencies = (0.0, 0.02, 0.051, 0.0, 0.002)
    plans = [guarded(kind, latency, bad=float(lane == 3), gain=float(lane)) for lane, latency in enumerate(latencies)]
    records = InstanceBatch(plans, range(5), max_block).run()
    batched = [guarded(kind, p.manifest.components["enc"].latency_s, unbatched=(),
                       **p.manifest.controllers["fb"].parameters) for p in plans]  # fmt: skip
    assert [plan.plan_id for plan in batched] == [plan.plan_id for plan in plans]
    assert records == [alone(plan, seed) for seed, plan in enumerate(batched)]
    assert records[3].outcome.kind == "controller"


def test_the_record_says_so_and_does_not_differ_for_it():
    plain, apart = alone(guarded("Gain", unbatched=())), alone(guarded("Gain"))
    assert plain == apart
    assert (plain.remarks, apart.remarks) == (
        (), ("controllers.fb: computed one lane at a time, which is slower: a test",)
    )  # fmt: skip


def test_a_lone_lane_that_raises_is_not_asked_again():
    """What raises for many is tried lane by lane; for one there is nobody else to tell it from."""
    plan = guarded("Gain", bad=1.0, unbatched=())
    batch = InstanceBatch([plan], [0])
    batch.run()
    assert batch.parts.loops["fb"].raised == ""
    assert batch.record(0).outcome.kind == "controller"


def test_only_identities_of_what_is_simulated_change_an_id():
    plan = guarded("Gain")
    again = replace(plan, manifest=guarded("Gain", unbatched=()).manifest)
    assert (again.plan_id, again.layout) == (plan.plan_id, plan.layout)
