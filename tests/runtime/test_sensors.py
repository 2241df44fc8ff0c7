"""What sensors read: truths of physics, each family's own arithmetic, and bits that nothing around them changes."""

from __future__ import annotations

import math
from functools import cache

import mujoco
import numpy as np
import pytest

from sweep.errors import InvalidInputError
from sweep.plan.streams import stream_key
from sweep.runtime import InstanceBatch, normals, uniforms
from tests.runtime.scenes import bits, plan_of

SCENE = """
<mujoco><compiler angle="degree"/><option timestep="0.001" gravity="0 0 {g}"/>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 .1"/>
    <body name="ball" pos="0 0 0.103"><freejoint/><geom name="skin" size=".1" mass="1"/></body>
    <body name="stone" pos="5 0 50"><freejoint/><geom size=".1" mass="1"/></body>
    <body name="spin" pos="0 3 1"><joint name="turn" axis="0 0 1" armature="0.996"/>
      <geom size=".1" mass="1"/><site name="tilted" pos=".5 0 0" euler="0 0 90"/></body>
    <body name="post" pos="0 -3 1">
      <body name="arm"><geom type="box" size=".4 .01 .01" pos=".3 0 0" mass="2"/>
        <frame euler="0 0 90"><site name="wrist"/></frame></body>
    </body>
  </worldbody>
  <actuator><motor name="push" joint="turn"/></actuator>
  <keyframe>
    <key name="moving" qpos="0 0 .5 1 0 0 0  5 0 50 1 0 0 0  0.25" qvel="1 0 0 0 0 0  0 0 0 0 0 0  3"/>
  </keyframe>
</mujoco>
"""
DOWN = [0, 1, 0, 0]  # half a turn about x: +z of the mount looks down


def document(components, *, g=-9.81, dt=0.001, duration_s=0.1, **model):
    parts = {name: {"period_s": dt} | part for name, part in components.items()}
    return {
        "schema": "3.3",
        "model": {"xml": SCENE.format(g=g), **model},
        "runtime": {"timestep_s": dt, "duration_s": duration_s},
        "components": parts,
    }


def readings(components, *, ticks=12, seed=0, **settings):
    """What each component showed, ``(samples, width)`` by id, over some ticks."""
    instance = plan_of(document(components, **settings)).instantiate(seed)
    instance.advance(ticks)
    kept = {name: [] for name in components}
    for event in instance.events():
        if event.kind == "sample":
            kept[event.component].append(event.data["values"])
    return {name: np.array(rows) for name, rows in kept.items()}


def reading(part, **settings):
    return readings({"dev": part}, **settings)["dev"]


# --- inertial measurement -------------------------------------------------------------------------------------------


def test_at_rest_an_accelerometer_reads_what_holds_it_and_in_free_fall_nothing():
    for body, expected in (("arm", 9.81), ("stone", 0.0)):
        found = reading({"type": "imu", "body": body, "measures": "accelerometer"})
        assert found == pytest.approx(np.tile([0, 0, expected], (11, 1)), abs=1e-9)


def test_on_a_spinning_body_it_feels_the_lever_arm():
    """omega^2 r towards the axis, alpha r along the way; a frame turned by 90 degrees sees x as -y."""
    still = {"g": 0, "keyframe": "moving"}
    found = readings(
        {"lever": {"type": "imu", "body": "spin", "position_m": ["50 cm", 0, 0]},
         "tilted": {"type": "imu", "site": "tilted"},
         "beyond": {"type": "imu", "site": "tilted", "position_m": [0, -0.5, 0], "quaternion": [1, 0, 0, -1]}},
        **still,
    )  # fmt: skip
    assert found["lever"] == pytest.approx(np.tile([0, 0, 3, -4.5, 0, 0], (11, 1)), abs=1e-9)
    assert found["tilted"] == pytest.approx(np.tile([0, 0, 3, 0, 4.5, 0], (11, 1)), abs=1e-9)
    assert found["beyond"] == pytest.approx(np.tile([0, 0, 3, -9, 0, 0], (11, 1)), abs=1e-9)
    push = {"type": "torque", "actuators": "push", "initial": 2.0}
    pushed = plan_of(document({"imu": {"type": "imu", "site": "tilted"}}, g=0)).manifest.document()
    pushed["components"]["drive"] = push
    instance = plan_of(pushed).instantiate()
    instance.advance(2)  # torque 2 N m on 1 kg m^2: alpha 2 rad/s^2, and 2 mrad/s after a step
    assert instance.output("imu").values == pytest.approx([0, 0, 0.002, 1, 0.5 * 0.002**2, 0], abs=1e-9)


def test_imperfections_act_in_the_frame_of_the_device():
    found = reading({"type": "imu", "site": "tilted", "measures": "gyro", "quaternion": [1, 0, 1, 0],
                     "gyro": {"bias": [0.1, 0.2, 0.3], "scale_error": [0.01, 0, 0], "range": {"low": -3, "high": 1}}},
                    g=0, keyframe="moving")  # fmt: skip
    assert found == pytest.approx(np.tile([-2.93, 0.2, 0.3], (11, 1)), abs=1e-9)  # +z of the body is -x of the mount


@pytest.mark.parametrize(("measures", "level"), [("gyro", "VELOCITY"), (["gyro", "accelerometer"], "FULL")])
def test_only_an_accelerometer_needs_a_full_forward(measures, level):
    plan = plan_of(document({"imu": {"type": "imu", "body": "spin", "measures": measures}}))
    assert InstanceBatch([plan], [0]).parts.devices["imu"].reads.level.name == level


# --- force, torque, contact -----------------------------------------------------------------------------------------


def test_a_hanging_weight_reads_its_weight_and_its_moment():
    """2 kg, whose centre is 0.3 m along x: the hold is +m g, and its torque about the wrist -0.3 m g about y."""
    found = readings({"body": {"type": "force_torque", "body": "arm"},
                      "site": {"type": "force_torque", "site": "wrist", "measures": ["torque", "force"]},
                      "load": {"type": "force_torque", "site": "wrist", "position_m": [0, -0.3, 0],
                               "force": {"resolution": 0.5, "bias": [0, 0, 1]}}})  # fmt: skip
    weight = 2 * 9.81
    assert found["body"] == pytest.approx(np.tile([0, 0, weight, 0, -0.3 * weight, 0], (11, 1)), abs=1e-9)
    assert found["site"] == pytest.approx(np.tile([-0.3 * weight, 0, 0, 0, 0, weight], (11, 1)), abs=1e-9)
    assert found["load"] == pytest.approx(np.tile([0, 0, 20.5, 0, 0, 0], (11, 1)), abs=1e-9)


def contacts(ticks):
    """Whether the ball touches anything at each boundary, in plain MuJoCo."""
    model = mujoco.MjModel.from_xml_string(SCENE.format(g=-9.81))
    data, found = mujoco.MjData(model), []
    for _ in range(ticks):
        mujoco.mj_forward(model, data)
        found.append(float(data.ncon > 0))
        mujoco.mj_step(model, data)
    return found


def test_contact_is_found_at_the_very_boundary_where_it_is():
    parts = {"any": {"type": "contact", "geom": "skin"}, "floor": {"type": "contact", "body": "ball"},
             "stone": {"type": "contact", "body": "ball", "other_body": "stone"}}  # fmt: skip
    parts["floor"]["other_geom"] = "floor"
    found = readings(parts, ticks=60)
    expected = contacts(60)[1:]
    assert 0 < sum(expected) < 59
    assert found["any"].ravel().tolist() == found["floor"].ravel().tolist() == expected
    assert not found["stone"].any()


def test_a_resting_ball_is_carried_by_the_floor():
    force = {"type": "contact", "body": "ball", "other_body": "world", "measures": "force", "period_s": 0.5}
    parts = {"force": force, "soft": force | {"threshold_n": 9.7}, "hard": force | {"threshold_n": "10 N"},
             "biased": force | {"threshold_n": 10, "force": {"bias": [0, 0, 1]}},
             "floor": {"type": "contact", "geom": "floor", "measures": "force", "period_s": 0.5}}  # fmt: skip
    found = readings(parts, ticks=1001)
    assert found["force"][-1] == pytest.approx([0, 0, 9.81], abs=1e-3)
    assert bits(found["floor"][-1]) == bits(0.0 - found["force"][-1])
    assert [found[name][-1].tolist() for name in ("soft", "hard", "biased")] == [[1], [0], [1]]


# --- range ----------------------------------------------------------------------------------------------------------

SCANNER = {"type": "range", "body": "post", "position_m": [-0.5, 0, 0], "quaternion": DOWN, "max_m": 5}


def test_range_to_a_plane_is_exact_along_every_beam():
    assert reading(SCANNER)[0, 0] == pytest.approx(1.0, rel=1e-14)
    fan = reading(SCANNER | {"beams": 5, "fov_rad": "120 deg"})[0]
    assert fan == pytest.approx([1 / math.cos(math.radians(angle)) for angle in (-60, -30, 0, 30, 60)], rel=1e-12)
    # About the mount's y axis, towards its +x: 170 degrees from straight up, beams are at 150 and 190 degrees.
    tilted = [math.cos(math.radians(85)), 0, math.sin(math.radians(85)), 0]
    fan = reading(SCANNER | {"quaternion": tilted, "beams": 2, "fov_rad": "40 deg"})[0]
    assert fan == pytest.approx([1 / math.cos(math.radians(30)), 1 / math.cos(math.radians(10))], rel=1e-12)


def test_a_beam_that_meets_nothing_shows_what_was_asked_for():
    up = SCANNER | {"quaternion": [1, 0, 0, 0], "white_std_m": 1.0}
    assert reading(up).ravel().tolist() == [5.0] * 11
    assert reading(up | {"miss_m": -1}).ravel().tolist() == [-1.0] * 11
    assert reading(SCANNER | {"max_m": 0.9, "miss_m": 0}).ravel().tolist() == [0.0] * 11


def test_range_noise_grows_with_distance_within_what_can_be_shown():
    noisy = SCANNER | {"white_std_m": "1 cm", "white_per_m": 0.05, "noise_scale": 2}
    draws = normals(stream_key(7, "dev", "white"), 1, 11)
    expected = [1.0 + (2 * 0.01 + 2 * 0.05) * draw for draw in draws.tolist()]
    assert reading(noisy, seed=7).ravel() == pytest.approx(expected, rel=1e-13)
    coarse = reading(noisy | {"resolution_m": 0.25, "min_m": 1.0, "max_m": 1.1}, seed=7).ravel()
    assert set(coarse.tolist()) == {1.0}


# --- pose -----------------------------------------------------------------------------------------------------------


def test_row_10_a_pose_is_never_a_step_stale():
    moving = {"g": 0, "keyframe": "moving", "dt": 1 / 120}
    instance = plan_of(document({"dev": {"type": "pose_tracker", "body": "ball"}}, **moving)).instantiate()
    instance.advance(5)
    shown = instance.output("dev")
    assert shown.acquired_tick == shown.delivered_tick == 4
    assert shown.values[0] == pytest.approx(0.0333333, abs=1e-7)
    found = reading({"type": "pose_tracker", "body": "spin", "measures": ["orientation", "position"]}, **moving)
    angles = [0.25 + 3 * tick / 120 for tick in range(1, 12)]
    expected = [[math.cos(a / 2), 0, 0, math.sin(a / 2), 0, 3, 1] for a in angles]
    assert found == pytest.approx(np.array(expected), abs=1e-12)


def test_orientation_noise_is_a_small_rotation_of_the_tracked_frame():
    part = {"type": "pose_tracker", "site": "tilted", "measures": "orientation"}
    truth = reading(part, g=0)
    found = reading(part | {"orientation_std_rad": "1 mrad"}, g=0, seed=3)
    assert np.sqrt((found**2).sum(axis=1)) == pytest.approx(1, abs=1e-15)
    inverse, turned = truth[0] * [1, -1, -1, -1], np.empty((11, 4))
    for row, quaternion in zip(turned, found, strict=True):
        mujoco.mju_mulQuat(row, inverse, quaternion)
    draws = normals(stream_key(3, "dev", "orientation_white"), 3, 33).reshape(11, 3)
    assert 2 * turned[:, 1:] == pytest.approx(0.001 * draws, abs=1e-8)


def test_outliers_are_as_frequent_as_asked_and_as_large():
    part = {"type": "pose_tracker", "body": "post", "measures": "position", "position_std_m": 0.001,
            "outlier_probability": 0.3, "outlier_std_m": 2, "initial_acquisition": True}  # fmt: skip
    found = reading(part, ticks=60, seed=5) - reading(part | {"outlier_probability": 0}, ticks=60, seed=5)
    expected = uniforms(stream_key(5, "dev", "outlier"), 0, 60) < 0.3
    assert ((np.abs(found) > 0).any(axis=1) == expected).all()
    sizes = 2 * normals(stream_key(5, "dev", "outlier_size"), 0, 180).reshape(60, 3)
    assert found[expected] == pytest.approx(sizes[expected], abs=1e-12)


# --- encoder --------------------------------------------------------------------------------------------------------

ENCODER = {"type": "encoder", "joints": "turn"}
TURNING = {"g": 0, "keyframe": "moving"}  # at 3 rad/s from 0.25 rad
LSB = 2 * math.pi / 4096


def test_an_encoder_of_4096_counts_shows_multiples_of_one():
    assert pytest.approx(1.533981e-3, rel=1e-6) == LSB
    truth, found = (reading(ENCODER | counts, **TURNING) for counts in ({}, {"counts_per_turn": 4096}))
    assert bits(found.ravel()) == bits(np.rint(truth / LSB).ravel() * LSB)
    assert np.abs(found - truth).max() <= LSB / 2
    down = reading(ENCODER | {"resolution": 0.1, "rounding": "floor"}, **TURNING)
    assert bits(down.ravel()) == bits(np.floor(truth / 0.1).ravel() * 0.1)


def test_a_difference_of_one_count_at_1_khz_is_a_large_velocity():
    one = LSB / 0.001
    assert one == pytest.approx(1.534, abs=1e-4)
    part = ENCODER | {"counts_per_turn": 4096, "velocity_from": "difference"}
    both = reading(part | {"measures": ["velocity", "position"]}, **TURNING)
    assert both[0, 0] == 0.0  # no predecessor yet
    assert bits(both[1:, 0]) == bits(np.diff(both[:, 1]) / 0.001)
    steps = both[1:, 0] / one
    assert steps == pytest.approx(np.rint(steps), abs=1e-9)
    assert set(np.rint(steps)) == {1.0, 2.0}  # 3 rad/s is 1.96 counts per period
    alone = reading(part | {"measures": "velocity"}, **TURNING)
    assert bits(alone.ravel()) == bits(both[:, 0])


def test_a_difference_has_the_noise_of_the_positions_it_is_made_of():
    part = ENCODER | {"white_std": 0.01, "bias_std": 1.0, "measures": ["position", "velocity"]}
    found = reading(part | {"velocity_from": "difference"}, **TURNING)
    assert bits(found[1:, 1]) == bits(np.diff(found[:, 0]) / 0.001)


@pytest.mark.parametrize("counts", [None, 7, 8, 4096])
def test_a_single_turn_encoder_starts_over_at_half_a_turn(counts):
    slow = {"g": 0, "keyframe": "moving", "dt": 0.05, "duration_s": 10}  # 0.15 rad per sample
    part = ENCODER | ({} if counts is None else {"counts_per_turn": counts})
    whole, found = (reading(part | {"wrap": wrap}, ticks=50, **slow).ravel() for wrap in (False, True))
    turns = (whole - found) / (2 * math.pi)
    assert turns == pytest.approx(np.rint(turns), abs=1e-12)
    assert set(np.rint(turns)) == {0.0, 1.0}
    half = math.pi if counts is None else counts // 2 * (2 * math.pi / counts)
    assert -half <= found.min()
    assert found.max() < math.pi
    if counts in (7, 8):
        assert len(set(found.tolist())) == counts
    through = reading(part | {"wrap": True, "measures": "velocity", "velocity_from": "difference"}, ticks=50, **slow)
    assert (through >= 0).all()  # no jump where it starts over


def test_a_known_offset_is_added_and_bits_stay_without_one():
    plain = reading(ENCODER | {"white_std": 0.01}, seed=2, **TURNING)
    moved = reading(ENCODER | {"white_std": 0.01, "index_offset_rad": "90 deg"}, seed=2, **TURNING)
    assert moved - plain == pytest.approx(math.pi / 2, abs=1e-12)
    draws = normals(stream_key(2, "dev", "white"), 1, 11)
    truth = reading(ENCODER, seed=2, **TURNING).ravel()
    assert bits(plain.ravel()) == bits(truth + (0.01 * draws + 0.0))


# --- bits that nothing around a sensor changes ----------------------------------------------------------------------

NOISY = {"white_density": 0.01, "bias_std": 0.1, "random_walk": 0.02, "bias_instability": 0.3,
         "correlation_time_s": 0.5, "scale_error": 0.01, "bandwidth_hz": 200, "resolution": 0.001,
         "misalignment": [[1, 0.01, 0], [0, 1, 0.02], [0.01, 0, 1]], "range": {"low": -30, "high": 30}}  # fmt: skip
IMU = {"type": "imu", "body": "ball", "position_m": [0, 0, 0.05], "period_s": 0.002, "gyro": NOISY}
EVERYTHING = {
    "imu": IMU | {"accelerometer": NOISY, "period_s": 0.005},
    "gyro": IMU | {"measures": "gyro", "period_s": 0.003},
    "ft": {"type": "force_torque", "body": "arm", "force": NOISY, "torque": {"white_std": 0.1}, "period_s": 0.004},
    "touch": {"type": "contact", "body": "ball"},
    "press": {"type": "contact", "geom": "skin", "measures": "force", "threshold_n": 5, "force": NOISY,
              "period_s": 0.006},
    "scan": SCANNER | {"beams": 3, "fov_rad": 1.0, "white_std_m": 0.01, "white_per_m": 0.01, "period_s": 0.007},
    "pose": {"type": "pose_tracker", "body": "ball", "position_std_m": 0.01, "orientation_std_rad": 0.01,
             "bias_instability_m": 0.1, "correlation_time_s": 1, "outlier_probability": 0.2, "outlier_std_m": 1,
             "period_s": 0.003, "initial_acquisition": True},
    "enc": ENCODER | {"counts_per_turn": 4096, "velocity_from": "difference", "measures": ["position", "velocity"],
                      "wrap": True, "white_std": 0.001, "period_s": 0.003, "phase_s": 0.001},
}  # fmt: skip
CELLS = [
    {},
    {"imu.gyro.white_density": 0.02, "gyro.period_s": 0.002, "pose.period_s": 0.004, "enc.period_s": 0.002,
     "ft.noise_scale": 0.5, "scan.white_per_m": 0.5, "imu.period_s": 0.004, "press.threshold_n": 8},
    {"gyro.gyro.range.high": 0.1, "gyro.gyro.correlation_time_s": 2.0, "pose.outlier_probability": 1.0,
     "enc.counts_per_turn": 100, "scan.max_m": 0.5, "gyro.gyro.misalignment": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
     "gyro.gyro.scale_error": [0, 0.1, 0.2], "enc.phase_s": 0.0, "ft.force.resolution": 0.5,
     "ft.force.bandwidth_hz": 1},
]  # fmt: skip


@cache
def cells():
    whole = document(EVERYTHING, duration_s=0.06)
    return [plan_of(whole, {f"components.{path}": value for path, value in cell.items()}) for cell in CELLS]


@cache
def alone(cell, seed):
    return InstanceBatch([cells()[cell]], [seed]).run()[0]


def test_lanes_whose_numbers_differ_share_a_batch_and_lanes_whose_sources_differ_do_not():
    assert len({plan.layout for plan in cells()}) == 1
    assert len({plan.plan_id for plan in cells()}) == 3
    for path, value in {"gyro.gyro.bias": 0.1, "gyro.gyro.resolution": None, "scan.miss_m": 1.0,
                        "gyro.gyro.rounding": "floor", "enc.index_offset_rad": 0.0}.items():  # fmt: skip
        other = plan_of(document(EVERYTHING, duration_s=0.06), {f"components.{path}": value})
        assert other.layout != cells()[0].layout


@pytest.mark.parametrize(("max_block", "threads"), [(None, 1), (1, 1), (3, 2)])
def test_one_record_whatever_the_batch_and_the_blocks(max_block, threads):
    runs = [(2, 5), (0, 5), (1, 5), (0, 6)]
    records = InstanceBatch([cells()[c] for c, _ in runs], [seed for _, seed in runs], max_block, threads).run()
    for (cell, seed), record in zip(runs, records, strict=True):
        assert record == alone(cell, seed)
    assert len({record.trace_digest for record in records}) == 4


def test_what_is_computed_lazily_is_what_an_eager_run_sees():
    eager = plan_of(document(EVERYTHING, duration_s=0.06), {"runtime.derived_state": "eager"})
    assert InstanceBatch([eager], [5]).run()[0].trace_digest == alone(0, 5).trace_digest


def test_a_sensor_has_receipts_of_what_it_draws_from_and_of_nothing_else():
    plan = plan_of(document({"imu": {"type": "imu", "body": "ball", "gyro": {"white_std": 0.1, "bias": 1.0}}}))
    assert list(InstanceBatch([plan], [0]).run()[0].receipts) == ["imu/gyro_white"]
    names = {name for name in alone(0, 5).receipts if name.startswith("imu/")}
    sources = ("white", "random_walk", "bias_instability", "bias")
    assert names == {f"imu/{part}_{source}" for part in ("gyro", "accelerometer") for source in sources}


def test_row_17_noise_does_not_see_other_devices():
    cam = {"type": "pose_tracker", "body": "stone", "position_std_m": 1.0}
    expected = readings({"imu0": IMU})["imu0"]
    assert len(np.unique(expected)) > 10
    for others in ({"cam": cam, "imu0": IMU}, {"imu0": IMU, "cam": cam}, {"cam": cam | {"enabled": False}, "imu0": IMU},
                   {"cam": cam | {"noise_scale": 5, "period_s": 0.003}, "imu0": IMU}):  # fmt: skip
        assert bits(readings(others)["imu0"].ravel()) == bits(expected.ravel())


def test_sensors_leave_the_physics_alone():
    pose = {"type": "pose_tracker", "body": "ball", "measures": "position"}
    expected = reading(pose, ticks=60)
    assert bits(readings(EVERYTHING | {"dev": pose}, ticks=60)["dev"].ravel()) == bits(expected.ravel())


# --- asked wrong ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ({"type": "imu"}, "components.dev: give one of: site, body"),
        ({"type": "imu", "body": "ball", "site": "wrist"}, "give one of: site, body"),
        ({"type": "imu", "site": "wirst"}, "components.dev.site: unknown site 'wirst'; did you mean 'wrist'"),
        ({"type": "imu", "body": "bal"}, "components.dev.body: unknown body 'bal'; did you mean 'ball'"),
        ({"type": "imu", "body": "ball", "quaternion": [0, 0, 0, 0]}, "quaternion must not be all zeros"),
        ({"type": "imu", "body": "ball", "measures": "gyro", "accelerometer": {"bias": 1}}, "does not measure"),
        ({"type": "imu", "body": "ball", "gyro": {"white_std": 1, "white_density": 1}}, "dev.gyro: give white_std"),
        ({"type": "force_torque", "body": "world"}, "components.dev.body: is of the world"),
        ({"type": "contact"}, "give one of: body, geom"),
        ({"type": "contact", "geom": "skn"}, "components.dev.geom: unknown geom 'skn'; did you mean 'skin'"),
        ({"type": "contact", "body": "ball", "other_geom": "flor"}, "components.dev.other_geom: unknown geom"),
        ({"type": "contact", "body": "ball", "threshold_n": 1}, "threshold_n goes with measures: force"),
        (SCANNER | {"beams": 3}, "several beams need a fov_rad"),
        (SCANNER | {"min_m": 6}, "min_m must be below max_m"),
        (SCANNER | {"max_m": "5 s"}, "components.dev.max_m"),
        ({"type": "pose_tracker", "body": "ball", "outlier_std_m": 1}, "go together"),
        (ENCODER | {"counts_per_turn": 8, "resolution": 1}, "counts_per_turn or resolution"),
        (ENCODER | {"velocity_from": "difference", "velocity_white_std": 1}, "leave velocity_white_std out"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused_with_its_place(part, words):
    with pytest.raises(InvalidInputError) as error:
        plan_of(document({"dev": part}))
    assert words in str(error.value)


def test_a_slide_has_no_turns():
    rail = SCENE.replace('name="turn" axis', 'name="turn" type="slide" axis')
    whole = document({"dev": ENCODER | {"counts_per_turn": 8, "wrap": True}})
    whole["model"]["xml"] = rail.format(g=0)
    with pytest.raises(InvalidInputError) as error:
        plan_of(whole)
    assert [problem.path for problem in error.value.problems] == [
        "components.dev.counts_per_turn",
        "components.dev.wrap",
    ]
    whole["components"]["dev"] = ENCODER | {"resolution": 0.5, "period_s": 0.001}
    plan_of(whole)
