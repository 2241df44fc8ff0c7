"""Traces: what a level keeps, that keeping changes nothing, and that a lane's file depends on no other lane."""

from __future__ import annotations

import itertools
import json
import re
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sweep.digest import canonical_json
from sweep.runtime import InstanceBatch, SimulationInstance
from sweep.runtime.tracing import file as trace_file
from sweep.runtime.tracing import recorder as trace_recorder
from sweep.runtime.tracing.file import SCHEMA, TraceTables, parquet_bytes
from tests.runtime.scenes import bits, cart, plan_of

LEVELS = ("summary", "events", "full")
FALL = {"type": "limit_exceeded", "joints": "hinge", "limit": 0.2, "reason": "fell"}
LANES = [
    {},
    {"components.enc.latency_s": 0.011, "controllers.fb.compute_latency_s": 0.004},
    {"components.enc.period_s": 0.0045, "components.drive.command_latency_s": 0.0},
    {"controllers.fb.parameters.gain": [0, 0, 0, 0], "model.initial.hinge": 0.18},
    {"controllers.fb.parameters.gain": [0, 1e6, 0, 0], "components.drive.command_latency_s": 0.006},
]
"""Parameters that make lanes differ in when they act, how long things travel, and whether they fall."""


def scene(**runtime):
    document = cart(runtime={"timestep_s": 0.001, "duration_s": 0.12, **runtime})
    document["components"]["fall"] = FALL
    return document


@cache
def plans():
    return [plan_of(scene(trace="full"), parameters) for parameters in LANES]


def table(plan, seed=3, max_block=None, level="full"):
    batch = InstanceBatch([plan], [seed], max_block, trace=level)
    batch.run()
    return TraceTables(batch).lane(0, level)


@cache
def alone(lane):
    return table(plans()[lane])


def rows(trace, kind, component=None):
    return [r for r in trace.to_pylist() if r["kind"] == kind and component in (None, r["component"])]


def values(trace, kind, component=None):
    return np.array([row["values"] for row in rows(trace, kind, component)])


@pytest.mark.parametrize("max_block", [None, 1, 4])
def test_the_digest_does_not_depend_on_the_level(max_block):
    records = [InstanceBatch(plans(), [3] * 5, max_block, trace=level).run() for level in LEVELS]
    assert records[0] == records[1] == records[2]


def test_the_lanes_of_this_file_differ():
    kinds = [{row["kind"] for row in alone(lane).to_pylist()} for lane in range(5)]
    assert "end" in kinds[3]
    assert "end" not in kinds[0]
    first = [rows(alone(lane), "input")[0]["tick"] for lane in range(5)]
    assert len(set(first)) >= 3
    cancelled = [row for lane in range(5) for row in rows(alone(lane), "cancelled")]
    assert {row["detail"] for row in cancelled} == {'{"what":"sample"}', '{"what":"input"}'}


@pytest.mark.parametrize(
    ("lanes", "max_block", "threads"),
    [((0, 1, 2, 3, 4), None, 1), ((4, 3, 2, 1, 0), 3, 2), ((1, 0), 1, 1), ((3, 3, 2), None, 2)],
)
def test_a_lanes_table_depends_on_no_other_lane(lanes, max_block, threads):
    batch = InstanceBatch([plans()[lane] for lane in lanes], [3] * len(lanes), max_block, threads)
    batch.run()
    tables = TraceTables(batch)
    for position, lane in enumerate(lanes):
        assert_same(tables.lane(position, "full"), alone(lane))


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=6), st.sampled_from([None, 1, 2, 7]), st.data())
def test_a_lanes_table_depends_on_no_block(lanes, max_block, data):
    batch = InstanceBatch([plans()[lane] for lane in lanes], [3] * len(lanes), max_block)
    while batch.tick < batch.horizon and batch.living:
        batch.advance(min(data.draw(st.integers(1, 50)), batch.horizon - batch.tick))
    tables = TraceTables(batch)
    for position, lane in enumerate(lanes):
        assert_same(tables.lane(position, "full"), alone(lane))


def assert_same(found, expected):
    assert found.schema.equals(expected.schema, check_metadata=True)
    assert found.equals(expected)
    assert parquet_bytes(found) == parquet_bytes(expected)


def test_a_level_keeps_what_it_says():
    full, events = alone(0), table(plans()[0], level="events")
    assert {row["kind"] for row in full.to_pylist()} - {row["kind"] for row in events.to_pylist()} == {
        "boundary",
        "sensor",
        "control",
    }
    shared = [row for row in full.to_pylist() if row["kind"] not in ("boundary", "sensor", "control")]
    assert events.to_pylist() == shared


def test_lanes_may_ask_for_different_levels():
    asked = [plan_of(scene(trace=level)) for level in LEVELS]
    assert len({plan.plan_id for plan in asked}) == len({plan.layout for plan in asked}) == 1
    batch = InstanceBatch(asked, [3, 3, 3])
    batch.run()
    assert_same(TraceTables(batch).lane(2, "full"), table(asked[2]))
    assert InstanceBatch(asked[:1], [3]).recorder is None


# What the rows say


def test_events_and_file_agree():
    for lane, plan in enumerate(plans()):
        instance = SimulationInstance(plan, 3)
        instance.run()
        instance.reset()
        found = [said(event) for event in instance.events()]
        expected = [row for row in alone(lane).to_pylist() if row["kind"] not in ("boundary", "sensor", "control")]
        assert sorted(map(canonical_json, found)) == sorted(map(canonical_json, expected))


def said(event):
    """An event as a row of the file, by the documentation of the columns."""
    data = {key: value for key, value in event.data.items() if key != "acquired_tick"}
    row = dict.fromkeys(SCHEMA.names)
    row |= {"kind": event.kind, "tick": event.tick, "time_s": event.tick / 1000, "component": event.component}
    rest = {key: data.pop(key) for key in list(data) if key not in row}
    arrival = data.get("delivered_tick", data.get("arrival_tick"))
    if arrival is not None:
        row["lost"] = arrival < 0
    row |= {key: list(value) if isinstance(value, tuple) else value for key, value in data.items()}
    return row | ({"detail": canonical_json(rest)} if rest else {})


def test_boundaries_controls_and_applications_are_one_story():
    for lane in range(5):
        trace, record = alone(lane), InstanceBatch([plans()[lane]], [3]).run()[0]
        steps = record.outcome.tick + (record.outcome.reason is not None)
        assert [row["tick"] for row in rows(trace, "boundary")] == list(range(steps + 1))
        controls = values(trace, "control")
        assert len(controls) == steps
        applied = {row["tick"]: row["values"] for row in rows(trace, "application", "drive")}
        assert min(applied) == 0
        current = None
        for tick in range(steps):
            current = applied.get(tick, current)
            assert bits(current) == bits(controls[tick, :1])
        assert len(applied) == len(controls) - sum(a == b for a, b in itertools.pairwise(map(bits, controls[:, :1])))


def test_a_boundary_is_what_a_snapshot_shows():
    instance = SimulationInstance(plans()[0], 3)
    states = values(alone(0), "boundary")
    for tick in range(60):
        shown = instance.snapshot()
        assert bits(states[tick]) == bits([*shown.qpos, *shown.qvel])
        instance.step()


def test_a_metric_can_be_had_again_from_the_trace():
    record = InstanceBatch([plans()[0]], [3]).run()[0]
    hinge = values(alone(0), "boundary")[1:, 1]
    assert np.sqrt(np.mean(hinge**2)) == pytest.approx(record.metrics["angle"], rel=1e-14)


@pytest.mark.parametrize("integrator", ["implicitfast", "Euler", "RK4"])
def test_sensors_are_those_of_the_step(integrator):
    document = cart(integrator=integrator)
    positions = '<jointpos name="at" joint="slider"/><jointvel name="speed" joint="hinge"/></sensor>'
    document["model"]["xml"] = document["model"]["xml"].replace("</sensor>", positions)
    trace = table(plan_of(document))
    states, sensed, controls = (values(trace, kind) for kind in ("boundary", "sensor", "control"))
    assert bits(sensed[:, 1]) == bits(states[:-1, 0])
    assert bits(sensed[:, 2]) == bits(states[:-1, 3])
    assert bits(sensed[:, 0]) == bits(np.clip(controls[:, 0], -8, 6))  # the motor's force is its control
    assert json.loads(trace.schema.metadata[b"columns"])["sensor"][""] == ["force", "at", "speed"]


def test_what_is_under_way_at_the_end_is_cancelled():
    document = cart(controllers={}, runtime={"timestep_s": 0.001, "duration_s": 0.02})
    document["components"]["enc"] |= {"period_s": 0.004, "latency_s": 0.007}
    document["components"]["drive"]["command_latency_s"] = 0.005
    instance = plan_of(document).instantiate()
    instance.enqueue_external_input("drive", [1.0], source_id="arrives")
    instance.advance(18)
    instance.enqueue_external_input("drive", [2.0], source_id="travels", source_sequence=7)
    instance.advance(2)
    instance.enqueue_external_input("drive", [3.0], source_id="waits")
    instance.reset()
    cancelled = [e for e in instance.events() if e.kind == "cancelled"]
    inputs = [e.data for e in cancelled if e.component == "drive"]
    assert [data["source_id"] for data in inputs] == ["travels", "waits"]
    assert [data["acceptance"] for data in inputs] == [2, 3]
    assert [data["source_sequence"] for data in inputs] == [7, 3]
    assert [data["values"] for data in inputs] == [(2.0,), (3.0,)]
    # Samples of ticks 4, 8, 12, 16 arrive 7 ticks later; the last DeviceUpdate was that of tick 19.
    assert [e.data["index"] for e in cancelled if e.component == "enc"] == [4]
    assert {e.tick for e in cancelled} == {20}


def test_what_is_lost_was_never_delivered():
    document = cart(runtime={"timestep_s": 0.001, "duration_s": 0.3})
    document["components"]["enc"] |= {"period_s": 0.001, "drop_probability": 0.5}
    document["components"]["drive"] |= {"drop_probability": 0.5}
    plan = plan_of(document)
    trace, record = table(plan), InstanceBatch([plan], [3]).run()[0]
    for kind, component, times in (
        ("sample", "enc", ("actual_delivery_s", "delivered_tick")),
        ("input", "drive", ("arrival_tick",)),
    ):
        lost = [row for row in rows(trace, kind) if row["lost"]]
        assert len(lost) == record.summaries[f"{component}/lost"] > 0
        assert all(row[time] is None for row in lost for time in times)
        assert all(row[time] is not None for row in rows(trace, kind) if not row["lost"] for time in times)


def test_pushes_are_in_the_trace():
    xml = cart()["model"]["xml"].replace('<body><joint name="slider"', '<body name="cart"><joint name="slider"')
    document = cart(controllers={}, model={"xml": xml})
    document["components"]["shove"] = {"type": "push", "body": "cart", "interval_s": 0.05, "duration_s": 0.01,
                                       "force_n": [1, 2], "direction": [1, 0, 0]}  # fmt: skip
    trace = table(plan_of(document))
    pushes = rows(trace, "push", "shove")
    assert [row["tick"] for row in pushes] == [50, 100, 150]
    assert [row["detail"] for row in pushes] == [f'{{"stop_tick":{row["tick"] + 10}}}' for row in pushes]
    assert all(1 <= row["values"][0] <= 2 for row in pushes)


def test_the_domain_is_in_the_trace():
    xml = cart()["model"]["xml"].replace('<body><joint name="slider"', '<body name="cart"><joint name="slider"')
    actor = {"type": "interaction", "class": "tests.runtime.own_components:Actor"}
    shove = {"tick": 20, "delay_s": 0.005, "action": "wrench", "values": {"body": "cart", "duration_s": 0.01}}
    document = cart(controllers={}, model={"xml": xml})
    document["components"] |= {
        "a": {**actor, "parameters": shove},
        "b": {**actor, "parameters": {**shove, "delay_s": 9}},
    }
    trace = table(plan_of(document))
    deferred = rows(trace, "deferred")
    assert [(row["component"], row["tick"]) for row in deferred] == [("a", 19), ("b", 19)]
    assert json.loads(deferred[0]["detail"])["delay_s"] == 0.005
    (left,) = [row for row in rows(trace, "cancelled") if row["component"] in ("a", "b")]
    assert (left["component"], left["tick"], json.loads(left["detail"])["due_tick"]) == ("b", 200, 9020)


def test_a_lane_that_faults_has_the_rows_of_the_steps_it_lived():
    document = cart(controllers={}, runtime={"timestep_s": 0.001, "duration_s": 0.05})
    document["components"]["drive"] |= {"initial": [6.0], "command_latency_s": 0.0}
    document["model"]["xml"] = document["model"]["xml"].replace('damping="0.1"', 'damping="-1e3"')
    trace = table(plan_of(document))
    (fault,) = rows(trace, "fault")
    tick, detail = fault["tick"], json.loads(fault["detail"])
    assert (detail["phase"], detail["kind"]) == ("PhysicsStep", "diverged")
    assert 0 < tick < 49
    assert len(rows(trace, "boundary")) == tick + 1
    assert len(rows(trace, "control")) == tick
    assert max(row["tick"] for row in rows(trace, "sample")) <= tick


# The file


def test_the_schema_is_stable():
    integer, number, text, flag = pa.int64(), pa.float64(), pa.string(), pa.bool_()
    assert [(field.name, field.type) for field in SCHEMA] == [
        ("kind", text), ("tick", integer), ("time_s", number), ("component", text), ("index", integer),
        ("nominal_acquisition_s", number), ("actual_acquisition_s", number), ("requested_delivery_s", number),
        ("actual_delivery_s", number), ("delivered_tick", integer), ("stamp_s", number), ("lost", flag),
        ("values", pa.list_(number)), ("source_id", text), ("source_sequence", integer), ("acceptance", integer),
        ("effective_s", number), ("arrival_tick", integer), ("detail", text),
    ]  # fmt: skip
    assert set(alone(0).schema.metadata) == {b"run_id", b"plan_id", b"seed", b"trace", b"timestep_s", b"columns"}


def test_every_column_and_kind_is_documented():
    documented = set(re.findall(r"^``?([a-z_`, ]+?)`?`? {2,}", trace_file.__doc__, re.MULTILINE))
    documented |= set(re.findall(r"^([a-z_]+) {2,}", trace_file.__doc__, re.MULTILINE))
    words = {word.strip("`, ") for entry in documented for word in entry.split(",")}
    assert words >= set(SCHEMA.names)
    assert words >= {row["kind"] for lane in range(5) for row in alone(lane).to_pylist()}


def test_a_file_gives_back_its_table(tmp_path):
    (tmp_path / "t.parquet").write_bytes(parquet_bytes(alone(1)))
    assert pq.ParquetFile(tmp_path / "t.parquet").read().equals(alone(1))
    metadata = trace_file.trace_metadata(tmp_path / "t.parquet")
    assert metadata["trace"] == "full"
    assert metadata["seed"] == "3"
    assert metadata["plan_id"] == plans()[1].plan_id
    assert trace_file.trace_metadata(tmp_path / "none.parquet") is None
    (tmp_path / "torn.parquet").write_bytes(parquet_bytes(alone(1))[:-9])
    assert trace_file.trace_metadata(tmp_path / "torn.parquet") is None


def test_numbers_have_names():
    xml = """<mujoco><worldbody><body name="b"><freejoint name="root"/><geom size=".1"/>
    <body><joint name="arm"/><geom size=".1"/></body></body></worldbody>
    <actuator><motor name="m" joint="arm"/></actuator></mujoco>"""
    document = cart(controllers={}, metrics={}, model={"xml": xml})
    document["components"] = {"drive": {"type": "torque", "actuators": "m"}}
    names = json.loads(table(plan_of(document)).schema.metadata[b"columns"])
    assert names["boundary"][""] == [
        *(f"qpos/root.{i}" for i in range(7)),
        "qpos/arm",
        *(f"qvel/root.{i}" for i in range(6)),
        "qvel/arm",
    ]
    assert names["control"] == {"": ["m"]}
    assert names["application"] == {"drive": ["m"]}


def test_every_sensor_names_its_numbers():
    xml = cart()["model"]["xml"].replace('<body><joint name="hinge"', '<body name="pole"><joint name="hinge"')
    sensors = {
        "imu": {"type": "imu", "body": "pole"},
        "wrist": {"type": "force_torque", "body": "pole"},
        "touch": {"type": "contact", "body": "pole"},
        "beams": {"type": "range", "body": "pole", "beams": 3, "fov_rad": 1.0, "max_m": 5.0},
        "track": {"type": "pose_tracker", "body": "pole"},
    }
    document = cart(controllers={}, model={"xml": xml})
    document["components"] |= {name: {**sensor, "period_s": 0.01} for name, sensor in sensors.items()}
    trace = table(plan_of(document), level="events")
    names = json.loads(trace.schema.metadata[b"columns"])["sample"]
    assert names["enc"] == ["position/slider", "position/hinge", "velocity/slider", "velocity/hinge"]
    assert names["imu"] == ["gyro/x", "gyro/y", "gyro/z", "accelerometer/x", "accelerometer/y", "accelerometer/z"]
    assert names["beams"] == ["range/0", "range/1", "range/2"]
    assert {name: len(channels) for name, channels in names.items()} == {
        name: values(trace, "sample", name).shape[1] for name in ("enc", *sensors)
    }


def test_a_long_session_of_single_steps_is_one_trace(monkeypatch):
    monkeypatch.setattr(trace_recorder, "_CHUNK", 7)
    instance = SimulationInstance(plans()[0], 3)
    for _ in range(120):
        instance.step()
        if instance.tick % 50 == 0:
            instance.events()
    whole = SimulationInstance(plans()[0], 3)
    whole.run()
    assert instance.events() == whole.events()
