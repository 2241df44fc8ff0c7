"""What the phases call, for one lane: devices, drivers, controllers, motions, pushes, endings, metrics."""

from __future__ import annotations

import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np

from sweep.plan.streams import stream_key
from sweep.runtime.noise import normals, uniforms
from sweep.runtime.sine import sines_of


def exact(seconds):
    return Fraction(seconds).limit_denominator(10**6)


def spread(numbers, width):
    return list(numbers) * width if len(numbers) == 1 else list(numbers)


class Part:
    """A part of an episode, by name; a noise draw is a pure function of (seed, name, stream, index)."""

    def __init__(self, episode, name, spec):
        self.name, self.spec, self.seed, self.model, self.dt = name, spec, episode.seed, episode.model, episode.dt
        self.prepare()

    def ticks(self, field):
        return math.ceil(exact(self.spec[field]) / self.dt)

    def draw(self, kind, stream, index, width):
        return kind(stream_key(self.seed, self.name, stream), index * width, width).tolist()


class Link(Part):
    """How messages travel; a message is named by its draw index."""

    def prepare(self):
        self.latency = exact(self.spec["latency_s" if "latency_s" in self.spec else "command_latency_s"])
        self.bad, self.newest = False, -1
        self.lossy = self.spec["drop_probability"] is not None or self.spec["burst_loss"] is not None

    def send(self, tick, index):
        """The requested deadline [s], and the tick of arrival, -1 if it never arrives."""
        jitter, deadline = 0.0, float(tick * self.dt + self.latency)
        if self.spec["jitter"]:
            low, high = self.spec["jitter"]["low_s"], self.spec["jitter"]["high_s"]
            jitter = low + (high - low) * self.draw(uniforms, "latency", index, 1)[0]
            first, last = (float(tick * self.dt + self.latency + exact(end)) for end in (low, high))
            deadline = min(max(deadline + jitter, first), last)
        if self.lossy and self.loses(*self.draw(uniforms, "dropout", index, 2)):
            return deadline, -1
        arrival = tick + math.ceil((self.latency + Fraction(jitter)) / self.dt)
        if self.spec["ordering"] == "fifo":
            arrival = self.newest = max(arrival, self.newest)
        return deadline, arrival

    def loses(self, loss, move):
        burst = self.spec["burst_loss"]
        if burst is None:
            return loss < self.spec["drop_probability"]
        self.bad = move < (1.0 - burst["p_bad_to_good"] if self.bad else burst["p_good_to_bad"])
        return loss < (burst["loss_bad"] if self.bad else burst["loss_good"])


class Scheduled(Part):
    """Sample k is due at the first boundary at or after ``phase + k * period``; a zero phase begins one period in."""

    def prepare(self):
        self.period, self.phase = exact(self.spec["period_s"]), exact(self.spec["phase_s"])
        self.next = 0 if self.phase > 0 else 1

    def due(self, tick):
        """The nominal time of the sample due at a boundary; None if none is."""
        nominal = self.phase + self.next * self.period
        if math.ceil(nominal / self.dt) != tick:
            return None
        self.next += 1
        return float(nominal)


class Device(Scheduled):
    """Shows the sample that arrived last.  The index of a draw is the number of the acquisition."""

    def prepare(self):
        super().prepare()
        self.link = Link(self, self.name, self.spec)
        self.index = 0 if self.spec["initial_acquisition"] else 1
        self.on_the_way, self.visible = [], None

    def due(self, tick):
        return 0.0 if tick == 0 and self.spec["initial_acquisition"] else super().due(tick)

    def acquire(self, tick, nominal_s, values):
        deadline, arrival = self.link.send(tick, self.index)
        sample = {
            "index": self.index, "nominal_acquisition_s": nominal_s, "actual_acquisition_s": float(tick * self.dt),
            "requested_delivery_s": deadline, "values": tuple(values), "acquired_tick": tick, "delivered_tick": arrival,
            "actual_delivery_s": math.nan if arrival < 0 else float(arrival * self.dt),
        }  # fmt: skip
        self.index += 1
        self.on_the_way += [sample] if arrival >= 0 else []
        return "sample", tick, self.name, sample | ({"lost": arrival < 0} if self.link.lossy else {})

    def deliver(self, tick):
        for sample in [s for s in self.on_the_way if s["delivered_tick"] == tick]:
            self.on_the_way.remove(sample)
            self.visible = sample


class Encoder(Device):
    def numbers(self):
        """By noise stream: MjData's field and address, standard deviation of white noise and of an episode's bias."""
        found = []
        for measure in self.spec["measures"]:
            for joint in [self.model.joint(joint) for joint in self.spec["joints"]]:
                if measure == "position":
                    found.append(("qpos", joint.qposadr[0], self.spec["white_std"], self.spec["bias_std"]))
                else:
                    found.append(("qvel", joint.dofadr[0], self.spec["velocity_white_std"], 0.0))
        return {"": found}

    def measure(self, view):
        values, scale = [], self.spec["noise_scale"]
        for prefix, numbers in self.numbers().items():
            white = self.draw(normals, f"{prefix}white", self.index, len(numbers))
            bias = self.draw(normals, f"{prefix}bias", 0, len(numbers))
            for (field, address, white_std, bias_std), w, b in zip(numbers, white, bias, strict=True):
                noise = w * (white_std * scale) + b * (bias_std * scale)
                values.append(float(getattr(view.data, field)[address]) + noise)
        return values


class SiteSensor(Encoder):
    """An IMU, or a force and torque sensor, on sensors of MuJoCo that the episode has added to the model."""

    def numbers(self):
        found = {}
        for measure in self.spec["measures"]:
            first, wrong = self.model.sensor(f"{self.name}/{measure}").adr[0], self.spec[measure]
            found[f"{measure}_"] = [
                ("sensordata", first + axis, wrong["white_std"], wrong["bias_std"]) for axis in range(3)
            ]
        return found


class OwnDevice(Device):
    def measure(self, view):
        own = self.own
        noise = {s: np.array(self.draw(normals, s, self.index, own.width)) for s in getattr(own, "streams", ())}
        return [float(x) for x in own.measure(view, noise)]


class Driver(Part):
    """Command transport, watchdog and limits of a torque drive, or of a motor with its torque-speed curve."""

    def prepare(self):
        actuators = [self.model.actuator(a).id for a in self.spec["actuators"]]
        self.columns = [int(self.model.actuator_ctrladr[a]) for a in actuators]
        self.dofs = [int(self.model.jnt_dofadr[self.model.actuator_trnid[a, 0]]) for a in actuators]
        self.high = spread(self.spec.get("limit") or [math.inf], len(actuators))
        self.low = [-x for x in self.high]
        for i, a in enumerate(actuators):
            if self.model.actuator_ctrllimited[a]:
                low, high = self.model.actuator_ctrlrange[a].tolist()
                self.low[i], self.high[i] = max(self.low[i], low), min(self.high[i], high)
        self.link = Link(self, self.name, self.spec)
        self.command = spread(self.spec["initial"] or [0.0], len(actuators))
        self.since, self.travelling, self.latest, self.counts, self.applied = None, [], {}, {}, None

    def accept(self, tick, command):
        """A committed input: a stale one is dropped, any other travels whole."""
        source, number = command["source_id"], command["source_sequence"]
        data = {k: command[k] for k in ("source_id", "source_sequence", "acceptance", "effective_s", "values")}
        command["committed"] = tick
        if command["sequenced"] and number <= self.latest.get(source, number - 1):
            return "stale", tick, self.name, data
        if command["sequenced"]:
            self.latest[source] = number
        else:
            number = self.counts[source] = self.counts.get(source, 0) + 1
        command["arrival"] = self.link.send(tick, number)[1]
        self.travelling.append(command)
        return "input", tick, self.name, {**data, "arrival_tick": command["arrival"], "draw": number}

    def apply(self, tick, data, controls):
        """Fill in the driver's controls; told when they change."""
        for command in self.travelling:
            if command["arrival"] == tick:
                self.command, self.since = list(command["values"]), tick
        asked, fallback = self.command, self.spec["fallback"]
        if self.spec["timeout_s"] and self.since is not None and tick - self.since >= self.ticks("timeout_s"):
            fallback = [0.0] if fallback == "zero" else fallback
            asked = asked if fallback == "hold" else spread(fallback, len(asked))
        applied = []
        for i, column in enumerate(self.columns):
            low, high = self.limits(i, float(data.qvel[self.dofs[i]]))
            controls[column] = min(max(asked[i], low), high)
            applied.append(controls[column])
        changed = self.applied is None or any(a != b for a, b in zip(applied, self.applied, strict=True))
        self.applied = applied
        return [("application", tick, self.name, {"values": tuple(applied)})] if changed else []

    def limits(self, i, velocity):
        if self.spec["type"] == "torque":
            return self.low[i], self.high[i]
        (stall,), (no_load,) = self.spec["stall_torque"], self.spec["no_load_speed"]
        most = [min(max(stall * (1.0 + sign * (velocity / no_load)), 0.0), stall) for sign in (1, -1)]
        return max(self.low[i], -most[0]), min(self.high[i], most[1])


class Controller(Scheduled):
    """State feedback on one device, or the tests' gain that raises when it is told to."""

    calls = 0

    def compute(self, tick, values):
        parameters = self.spec["parameters"]
        if "bad" in parameters:
            if parameters["bad"] > 0.5 and tick >= parameters["at"]:
                raise ArithmeticError("no solution")
            return (-parameters["gain"] * values[0],)
        total = 0.0
        for gain, value in zip(parameters["gain"], values, strict=True):
            total += gain * value
        return (-total,)


class Motion(Part):
    """The pose of a mocap body: the user's own, or a sine along x."""

    def prepare(self):
        self.body = self.model.body(self.spec["body"])

    def pose(self, tick):
        if self.own is not None:
            return self.own.pose(float(tick * self.dt))
        turns = self.spec["frequency_hz"] * float(tick * self.dt) + self.spec["phase_turns"]
        x, y, z = self.body.pos.tolist()
        return (x + self.spec["amplitude_m"] * float(sines_of(np.array([turns]))[0]), y, z), self.body.quat.tolist()


class Push(Part):
    """Wrenches on a body at given times, along x."""

    begun = 0

    def act(self, tick, wrenches):
        """Add what acts to the bodies' wrenches; told when a push begins."""
        told, wrench = [], (self.spec["force_n"][0], 0.0, 0.0, 0.0, 0.0, 0.0)
        for k, due in enumerate(self.spec["times_s"]):
            start = math.ceil(exact(due) / self.dt)
            stop = start + self.ticks("duration_s")
            if start == tick:
                told.append(("push", tick, self.name, {"index": k, "stop_tick": stop, "values": wrench}))
                self.begun += 1
            if start <= tick < stop:
                wrenches[self.model.body(self.spec["body"]).id] += wrench
        return told


class Ending(Part):
    """Proposes the end once a joint has been too far out, or all have been at their targets, for long enough."""

    since = None

    def propose(self, tick, data):
        q = [float(data.qpos[self.model.joint(joint).qposadr[0]]) for joint in self.spec["joints"]]
        if self.spec["type"] == "limit_exceeded":
            so, facts = any(abs(x) > self.spec["limit"] for x in q), {}
        else:
            facts = {"joint_error": max(abs(x - self.spec["target"][0]) for x in q)}
            so = facts["joint_error"] <= self.spec["tolerance"][0]
        self.since = (tick if self.since is None else self.since) if so else None
        if not so or tick - self.since < self.ticks("hold_s"):
            return None
        return SimpleNamespace(facts=facts, state={}, actions=(), end=SimpleNamespace(**self.spec))


class Metric(Part):
    def prepare(self):
        spec, model = self.spec, self.model
        self.count, joints = 0, [model.joint(j) for j in spec["joints"] or [spec["joint"]] if j]
        self.places = [("qvel", j.dofadr[0]) if spec["signal"] == "velocity" else ("qpos", j.qposadr[0]) for j in joints]
        self.places += [("ctrl", model.actuator_ctrladr[model.actuator(a).id]) for a in spec["actuators"] or ()]
        self.places += [("sensordata", model.sensor(spec["sensor"]).adr[0])] if spec["sensor"] else []
        self.folded = [0.0] * len(self.places)

    def observe(self, data):
        for i, (field, address) in enumerate(self.places):
            x = abs(float(getattr(data, field)[address]))
            if self.spec["type"] in ("rms", "mean_abs"):
                self.folded[i] += x * x if self.spec["type"] == "rms" else x
            else:
                self.folded[i] = max(self.folded[i], x) if self.spec["type"] == "max_abs" else x
        self.count += 1

    def value(self, observers):
        if self.spec["type"] == "observed":
            return float(observers[self.spec["observer"]].summary()[self.spec["quantity"]])
        if not self.count or self.spec["type"] in ("max_abs", "final_abs"):
            return max(self.folded) if self.count else None
        mean = math.fsum(self.folded) / (self.count * len(self.folded))
        return math.sqrt(mean) if self.spec["type"] == "rms" else mean
