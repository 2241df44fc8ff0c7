"""An Instance against the reference: what both must say of one episode, to the bit."""

from __future__ import annotations

import math
from typing import Any

from sweep.plan import stream_key
from sweep.runtime.model import open_model
from sweep.runtime.noise import receipt_digest
from tests.runtime.reference_model import ReferenceEpisode
from tests.runtime.scenes import bits

INPUT = ("source_id", "source_sequence", "acceptance", "values")
SAMPLE = ("index", "nominal_acquisition_s", "actual_acquisition_s", "requested_delivery_s", "values")
UNTOLD = ("message", "lost", "draw")
"""Of an event: words for people, what its other fields say already, and what only the reference tells."""


def episode_of(plan, seed, accepted=0):
    return ReferenceEpisode(plan.manifest.document(), open_model(plan.model), seed, accepted)


def agree(instance, reference):
    """Everything that can be read off an Instance in the middle of an episode."""
    assert instance.tick == reference.tick
    assert stopped(instance) == reference.stop
    for name, device in reference.devices.items():
        assert shown(instance.output(name)) == visible(device.visible(reference.applied))
    snapshot, data = instance.snapshot(), reference.data
    assert bits([snapshot.time_s]) == bits([reference.tick * reference.dt])
    for field in ("qpos", "qvel", "act", "ctrl", "sensordata"):
        assert (field, bits(getattr(snapshot, field))) == (field, bits(getattr(data, field)))
    history, first = instance.history, max(1, instance.history.first_tick)
    for mine, theirs in ((history.states, reference.states), (history.controls, reference.controls)):
        rows = mine[first - history.first_tick :]
        assert [bits(row) for row in rows] == [bits(row) for row in theirs[first - 1 :]]
    measured = {name: metric.value() for name, metric in reference.metrics.items()}
    measured |= {name: observer.own.summary()["seen"] for name, observer in reference.observers.items()}
    assert instance.metrics == measured
    receipts = instance.stream_receipts
    assert {name: (receipt.first, receipt.count) for name, receipt in receipts.items()} == used(reference)
    for name, receipt in receipts.items():
        key = stream_key(reference.seed, *name.split("/"))
        assert receipt.digest == receipt_digest(key, receipt.first, receipt.count, receipt.width)


def happened(events, episode=0):
    """The events of an episode as comparable texts, in an order that both sides can have."""
    return sorted(told(e.kind, e.tick, e.component, e.data) for e in events if e.episode_index == episode)


def expected(reference, *, over=False):
    """The events of the reference; with the cancellations if its episode is over."""
    events = [*reference.events, *cancelled(reference)] if over else list(reference.events)
    if reference.stop is not None:
        kind, tick, *rest = reference.stop
        names = ("phase", "component", "kind") if kind == "fault" else ("component", "reason", "success")
        data = dict(zip(names, rest, strict=True))
        events.append((kind, tick, data.pop("component"), data))
    return sorted(told(*event) for event in events)


def cancelled(reference):
    """What was on its way when an episode was over."""
    for name, device in reference.devices.items():
        for sample in device.samples:
            if sample["delivered_tick"] > reference.applied:
                yield "cancelled", reference.tick, name, {**{k: sample[k] for k in SAMPLE}, "what": "sample"}
    for command in reference.sent:
        committed = math.inf if command["committed"] is None else command["committed"]
        if max(committed, command["arrival"]) > reference.applied:
            yield "cancelled", reference.tick, command["target"], {**{k: command[k] for k in INPUT}, "what": "input"}
    for start, _, name, action in reference.pending:
        if start > reference.applied:
            data = {"what": "action", "action": type(action).__name__, "due_tick": start}
            yield "cancelled", reference.tick, name, data


def told(kind, tick, component, data):
    # When an input was meant for is settled at its commit, which a cancelled one may not have had.
    untold = {*UNTOLD, "effective_s"} if kind == "cancelled" else UNTOLD
    return repr((kind, tick, component, sorted((k, plain(v)) for k, v in data.items() if k not in untold)))


def plain(value: Any) -> Any:
    if isinstance(value, dict):
        return sorted((k, plain(v)) for k, v in value.items())
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    return value.hex() if isinstance(value, float) else value


def stopped(instance):
    fault, end = instance.fault, instance.end
    if fault is not None:
        return "fault", fault.tick, fault.phase.title, fault.component, fault.kind
    return None if end is None else ("end", end.tick, end.component, end.reason, end.success)


def shown(output):
    if output.valid:
        return bits(output.values), output.acquired_tick, output.delivered_tick, output.index
    return None


def visible(sample):
    if sample is not None:
        return bits(sample["values"]), sample["acquired_tick"], sample["delivered_tick"], sample["index"]
    return None


def used(reference):
    """First and number of the draws of every stream, by ``component/stream``."""
    spans = {}
    for name, device in reference.devices.items():
        first = 0 if device.spec["initial_acquisition"] else 1
        own = getattr(device.own, "streams", ())
        parts = [f"{m}_" for m in device.spec["measures"]] if device.spec["type"] in ("imu", "force_torque") else [""]
        sampled = [*transport(device.spec), *(own if device.own else [f"{part}white" for part in parts])]
        spans |= {f"{name}/{stream}": (first, device.index - first) for stream in sampled}
        spans |= {f"{name}/{part}bias": (0, 1) for part in parts if not device.own}
    for name, driver in reference.drivers.items():
        draws = [data["draw"] for kind, _, who, data in reference.events if (kind, who) == ("input", name)]
        first = draws[0] if draws else 1
        if draws == list(range(first, first + len(draws))):
            spans |= {f"{name}/{stream}": (first, len(draws)) for stream in transport(driver.spec)}
    for name in reference.pushes:
        begun = sum(kind == "push" and who == name for kind, _, who, _ in reference.events)
        spans |= {f"{name}/{stream}": (0, begun) for stream in ("time", "force", "direction", "torque")}
    return spans


def transport(spec):
    lossy = spec["drop_probability"] is not None or spec["burst_loss"] is not None
    return ["latency"] * (spec["jitter"] is not None) + ["dropout"] * lossy
