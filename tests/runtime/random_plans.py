"""Documents at random, of everything that the reference knows, in a world where all of it has something to do."""

from __future__ import annotations

import math
from fractions import Fraction

from hypothesis import strategies as st

from tests.runtime.scenes import cart

WORLD = """
<mujoco>
  <option integrator="{integrator}"/>
  <worldbody>
    <body name="cart"><joint name="slider" type="slide" axis="1 0 0" damping="0.1"/>
      <geom type="box" size=".1 .1 .1" mass="1" contype="0" conaffinity="0"/>
      <body name="pole"><joint name="hinge" type="hinge" axis="0 1 0" damping="0.01"/><site name="tip" pos="0 0 .6"/>
        <geom type="capsule" fromto="0 0 0 0 0 .6" size=".03" mass=".2" contype="0" conaffinity="0"/></body>
    </body>
    <body name="base" mocap="true" pos="2 0 1"><geom size=".1" contype="0" conaffinity="0"/></body>
    <body name="ball" pos="2 0 1"><freejoint name="free"/><geom size=".1" mass="1" contype="0" conaffinity="0"/></body>
  </worldbody>
  <equality><weld name="hold" body1="base" body2="ball"/></equality>
  <actuator>
    <motor name="push" joint="slider" ctrllimited="true" ctrlrange="-8 6"/><motor name="twist" joint="hinge"/>
    <general name="soft" joint="slider" dyntype="filter" dynprm=".03"/>
  </actuator>
  <sensor><actuatorfrc name="effort" actuator="push"/><framepos objtype="site" objname="tip"/></sensor>
</mujoco>
"""

OWN = "tests.runtime.witnesses:"
NEVER = 10**6
TIMESTEPS = (Fraction(1, 1000), Fraction(1, 500), Fraction(1, 240))
INTEGRATORS = ("Euler", "implicitfast", "RK4")
LEVELS = st.sampled_from(["state", "velocity", "full", "undeclared"])

usually_never = st.sampled_from([NEVER, NEVER, NEVER, 7, 31])


@st.composite
def durations(draw, timestep, low, high):
    """So many timesteps, on the grid or off it, as the float that people would write."""
    return float(timestep * draw(st.fractions(low, high, max_denominator=3)))


@st.composite
def transports(draw, timestep):
    low = draw(durations(timestep, 0, 3))
    jitter = {"type": "uniform", "low_s": low, "high_s": low + draw(durations(timestep, 1, 30))}
    burst = {"p_good_to_bad": 0.3, "p_bad_to_good": 0.4, "loss_good": 0.05, "loss_bad": 0.9}
    losses = draw(
        st.sampled_from([{}, {}, {"drop_probability": 0.4}, {"drop_probability": 0.0}, {"burst_loss": burst}])
    )
    return {
        **losses,
        **draw(st.sampled_from([{}, {}, {"jitter": jitter}])),
        "ordering": draw(st.sampled_from(["fifo", "overtaking"])),
    }


@st.composite
def devices(draw, timestep, **fields):
    period = timestep * draw(st.fractions(1, 9, max_denominator=3))
    return {
        "period_s": float(period),
        "phase_s": float(period * draw(st.sampled_from([0, Fraction(1, 3), Fraction(1, 2), Fraction(7, 8)]))),
        "latency_s": draw(durations(timestep, 0, 25)),
        "initial_acquisition": draw(st.booleans()),
        **draw(transports(timestep)),
        **{name: draw(value) for name, value in fields.items()},
    }


def encoders(timestep):
    return devices(
        timestep,
        type=st.just("encoder"),
        joints=st.sampled_from([["slider"], ["hinge"], ["hinge", "slider"]]),
        measures=st.sampled_from([["position"], ["velocity"], ["position", "velocity"]]),
        white_std=st.sampled_from([0.0, 0.01]),
        velocity_white_std=st.just(0.1),
        bias_std=st.sampled_from([0.0, 0.02]),
        noise_scale=st.sampled_from([1.0, 0.5]),
    )


def site_sensors(timestep):
    """IMUs that only need velocities or also forces, and force and torque sensors."""
    wrong = {"white_std": 0.1, "bias_std": 0.3}
    kinds = [("imu", ["gyro"]), ("imu", ["accelerometer", "gyro"]), ("force_torque", ["torque", "force"])]
    chosen = st.sampled_from(kinds).map(lambda k: {"type": k[0], "measures": k[1], **dict.fromkeys(k[1], wrong)})
    return st.builds(dict.__or__, devices(timestep, site=st.just("tip")), chosen)


def probes(timestep):
    own = {"level": LEVELS, "fails": usually_never}
    return devices(
        timestep,
        **{"type": st.just("device"), "class": st.just(OWN + "Probe"), "parameters": st.fixed_dictionaries(own)},
    )


@st.composite
def drivers(draw, timestep, actuator):
    torque = {"type": "torque", "limit": draw(st.sampled_from([None, [5.0], [0.5]]))}
    motor = {"type": "motor", "stall_torque": [3.0], "no_load_speed": [draw(st.sampled_from([0.5, 20.0]))]}
    return {
        **draw(st.sampled_from([torque, torque, motor] if actuator != "soft" else [torque])),
        "actuators": [actuator],
        "command_latency_s": draw(durations(timestep, 0, 12)),
        "initial": draw(st.sampled_from([None, [0.3], [-9.0]])),
        "timeout_s": draw(st.none() | durations(timestep, 1, 20)),
        "fallback": draw(st.sampled_from(["hold", "zero", [-0.7]])),
        **draw(transports(timestep)),
    }


@st.composite
def proposals(draw, timestep):
    """An entry of a Meddler's script."""
    wrench = ["wrench", {"body": "pole", "force_n": [2.0, 0, 0.5], "torque_nm": [0, 0.1, 0], "duration_s": 0.003}]
    actions = [
        wrench,
        ["wrench", {"body": "ball", "force_n": [0, 0, 30.0]}],
        ["equality", {"name": "hold", "active": draw(st.booleans())}],
        ["mocap", {"body": "base", "position_m": [2.1, 0.0, draw(st.sampled_from([1.0, 1.2]))]}],
        ["joint", {"joint": "hinge", "position": [0.2], "velocity": [draw(st.sampled_from([0.0, -1.0]))]}],
    ]
    acts = {"action": draw(st.sampled_from(actions)), "delay_s": draw(durations(timestep, 0, 6))}
    kinds = [acts, acts, acts, {"state": {"shared": draw(st.integers(0, 1))}}, {"fails": True}, {"ends": True}]
    return {"tick": draw(st.integers(1, 60)), **draw(st.sampled_from(kinds))}


@st.composite
def meddlers(draw, timestep):
    script = draw(st.lists(proposals(timestep), max_size=3))
    parameters = {"level": draw(LEVELS), "limit": draw(st.sampled_from([0.1, 0.15, 9.0])), "script": script}
    return {"type": "interaction", "class": OWN + "Meddler", "parameters": parameters}


@st.composite
def witnesses(draw):
    parameters = {"level": draw(LEVELS), "fails": draw(usually_never)}
    return {"type": "observer", "class": OWN + "Witness", "parameters": parameters}


@st.composite
def endings(draw, timestep):
    limit = {"type": "limit_exceeded", "joints": draw(st.sampled_from([["hinge"], ["slider", "hinge"]]))}
    goal = {"type": "goal_reached", "joints": ["hinge"], "target": [0.14], "tolerance": [0.02]}
    return {
        **draw(st.sampled_from([{**limit, "limit": draw(st.sampled_from([0.12, 0.4, 9.0]))}, goal])),
        "hold_s": draw(st.sampled_from([0.0, 0.004])),
    }


@st.composite
def pushes(draw, timestep):
    times = sorted(draw(st.lists(durations(timestep, 0, 60), min_size=1, max_size=3)))
    force = draw(st.sampled_from([5.0, 20.0]))
    return {
        "type": "push", "body": draw(st.sampled_from(["pole", "ball"])), "times_s": times, "force_n": [force],
        "direction": [2.0, 0, 0], "duration_s": draw(durations(timestep, 1, 9)),
    }  # fmt: skip


@st.composite
def controllers(draw, timestep, device, driver):
    width = len(device["joints"]) * len(device["measures"])
    period = timestep * draw(st.fractions(1, 12, max_denominator=2))
    return {
        "class": OWN + "Brittle",
        "inputs": ["enc"],
        "outputs": [driver],
        "period_s": float(period),
        "phase_s": float(period * draw(st.sampled_from([0, Fraction(1, 2)]))),
        "compute_latency_s": draw(durations(timestep, 0, 15)),
        "parameters": {
            "gain": [draw(st.sampled_from([30.0, -3.7, 0.1])) for _ in range(width)],
            "fails": draw(st.sampled_from([*[NEVER] * 9, 20])),
        },
    }


METRICS = {
    "rms": {"type": "rms", "joints": ["slider", "hinge"], "unit": "rad"},
    "speed": {"type": "mean_abs", "joint": "hinge", "signal": "velocity", "unit": "rad/s"},
    "effort": {"type": "max_abs", "actuators": ["push", "twist"], "signal": "control", "unit": "N"},
    "last": {"type": "final_abs", "joint": "hinge", "unit": "rad", "window": "at_end"},
}
SEEN = {"type": "observed", "observer": "eye", "quantity": "seen", "unit": "1", "window": "at_end"}


@st.composite
def documents(draw):
    """A cart with a pole, encoders, drives and feedback, and whatever else is drawn; ids in any order."""
    timestep = draw(st.sampled_from(TIMESTEPS))
    components = {"enc": draw(encoders(timestep)), "drive": draw(drivers(timestep, "push"))}
    components["torquer"] = draw(drivers(timestep, "twist"))
    optional = {
        "other": encoders(timestep), "site": site_sensors(timestep), "sensed": site_sensors(timestep),
        "probe": probes(timestep), "softly": drivers(timestep, "soft"), "fall": endings(timestep),
        "edge": endings(timestep), "another": meddlers(timestep), "rule": meddlers(timestep), "eye": witnesses(),
        "kick": pushes(timestep), "knock": pushes(timestep),
        "shaker": st.just({"type": "mocap_motion", "body": "base", "amplitude_m": 0.02, "frequency_hz": 9.0}),
    }  # fmt: skip
    for name in draw(st.lists(st.sampled_from(sorted(optional)), max_size=7, unique=True)):
        components[name] = draw(optional[name])
    feedback = {"fb": draw(controllers(timestep, components["enc"], "drive"))}
    if draw(st.booleans()):
        feedback["slow"] = draw(controllers(timestep, components["enc"], "torquer"))
    return cart(
        model={"xml": WORLD.format(integrator=draw(st.sampled_from(INTEGRATORS))), "initial": {"hinge": 0.1}},
        runtime={
            "timestep_s": float(timestep),
            "duration_s": 10,
            "derived_state": draw(st.sampled_from(["lazy", "lazy", "eager"])),
        },
        components=draw(st.permutations(list(components.items())).map(dict)),
        controllers=feedback,
        metrics=METRICS | ({"eye": SEEN} if "eye" in components else {}),
    )


def everything(**fields):
    """One document with a component of every kind, to be looked at for some fifty ticks.

    Args:
        fields: to change of a component, by its id, or of the controller ``fb``.
    """
    rough = {"jitter": {"type": "uniform", "low_s": 0.001, "high_s": 0.012}, "drop_probability": 0.2}
    wrong, never = {"white_std": 0.1, "bias_std": 0.3}, {"fails": NEVER}
    site = {"site": "tip", "period_s": 0.003}
    components = {
        "enc": {"type": "encoder", "joints": ["slider", "hinge"], "period_s": 0.0021, "latency_s": 0.001,
                "initial_acquisition": True, "white_std": 0.01, **rough},
        "imu": {"type": "imu", **site, "measures": ["gyro", "accelerometer"], "gyro": wrong, "accelerometer": wrong},
        "held": {"type": "force_torque", **site, "phase_s": 0.001, "force": wrong, "torque": wrong, **rough,
                 "ordering": "overtaking"},
        "probe": {"type": "device", "class": OWN + "Probe", "period_s": 0.002,
                  "parameters": {"level": "velocity", **never}},
        "drive": {"type": "torque", "actuators": ["push"], "command_latency_s": 0.002, "timeout_s": 0.006, **rough},
        "torquer": {"type": "motor", "actuators": ["twist"], "stall_torque": [3.0], "no_load_speed": [0.5],
                    "initial": [0.7]},
        "softly": {"type": "torque", "actuators": ["soft"], "initial": [1.0]},
        "rule": {"type": "interaction", "class": OWN + "Meddler",
                 "parameters": {"level": "velocity", "limit": 0.1, "script": []}},
        "eye": {"type": "observer", "class": OWN + "Witness", "parameters": {"level": "velocity", **never}},
        "kick": {"type": "push", "body": "ball", "times_s": [0.01, 0.0152], "force_n": [5.0], "direction": [2, 0, 0],
                 "duration_s": 0.007},
        "shaker": {"type": "mocap_motion", "body": "base", "amplitude_m": 0.02, "frequency_hz": 9.0},
        "goal": {"type": "goal_reached", "joints": ["hinge"], "target": [0.14], "tolerance": [0.02], "hold_s": 0.2},
        "fall": {"type": "limit_exceeded", "joints": ["hinge"], "limit": 2.0},
    }  # fmt: skip
    feedback = {"class": OWN + "Brittle", "inputs": ["enc"], "outputs": ["drive"], "period_s": 0.003,
                "parameters": {"gain": [1.0, -40.0], **never}}  # fmt: skip
    document = cart(
        model={"xml": WORLD.format(integrator="implicitfast"), "initial": {"hinge": 0.1}},
        components=components,
        controllers={"fb": feedback},
        metrics=METRICS | {"eye": SEEN},
    )
    for name, changed in fields.items():
        (document["components"] if name in components else document["controllers"])[name].update(changed)
    return document


def inputs(timestep):
    """A driver's id, a command, its source, the source's own count, when it is meant for [s]."""
    return st.tuples(
        st.sampled_from(["drive", "torquer"]),
        st.tuples(st.sampled_from([*[0.2, -1.5, 7.0] * 4, math.nan])),
        st.sampled_from(["aaa", "zzz"]),
        st.none() | st.integers(0, 4),
        st.none() | durations(timestep, 0, 90),
    )


BLOCKS = st.sampled_from([1, 2, 3, 7, None])
SEEDS = st.integers(0, 2**64 - 1)
