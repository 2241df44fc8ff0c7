"""The plainest possible runtime: one tick, one lane, scalars; it follows the pseudo-code of the thirteen phases."""

from __future__ import annotations

import math
from fractions import Fraction

import mujoco
from numpy.random import Philox

from sweep.plan.streams import stream_key
from sweep.runtime.noise import normal_of


def exact(seconds: float) -> Fraction:
    return Fraction(seconds).limit_denominator(10**6)


def ceil_ticks(seconds: float, timestep: Fraction) -> int:
    return math.ceil(exact(seconds) / timestep)


def spread(numbers, width):
    return list(numbers) * width if len(numbers) == 1 else list(numbers)


def normal_draw(words):
    return normal_of(((int(words.random_raw()) >> 11) + 0.5) * 2.0**-53)


class ReferenceEncoder:
    def __init__(self, name, spec, model, timestep, seed):
        self.name, self.spec, self.dt = name, spec, timestep
        self.addresses = []
        bias = Philox(key=stream_key(seed, name, "bias"))
        for measure in spec["measures"]:
            std = {"position": spec["white_std"], "velocity": spec["velocity_white_std"]}[measure]
            for joint in spec["joints"]:
                j = model.joint(joint)
                place = ("qpos", j.qposadr[0]) if measure == "position" else ("qvel", j.dofadr[0])
                offset = spec["noise_scale"] * (spec["bias_std"] if measure == "position" else 0.0)
                self.addresses.append((*place, normal_draw(bias) * offset, spec["noise_scale"] * std))
        self.period, self.phase = exact(spec["period_s"]), exact(spec["phase_s"])
        self.latency = ceil_ticks(spec["latency_s"], timestep)
        self.next_k = 0 if self.phase > 0 else 1
        self.draw = 0 if spec["initial_acquisition"] else 1
        self.words = Philox(key=stream_key(seed, name, "white"))
        self.words.random_raw(self.draw * len(self.addresses))
        self.queue, self.visible = [], None

    def update(self, tick, data, events):
        if tick == 0 and self.spec["initial_acquisition"]:
            self.acquire(tick, 0.0, data, events)
        while math.ceil((self.phase + self.next_k * self.period) / self.dt) == tick:
            self.acquire(tick, float(self.phase + self.next_k * self.period), data, events)
            self.next_k += 1
        for sample in [s for s in self.queue if s["delivered_tick"] == tick]:
            self.queue.remove(sample)
            self.visible = sample

    def acquire(self, tick, nominal_s, data, events):
        values = []
        for field, address, offset, std in self.addresses:
            values.append(float(getattr(data, field)[address]) + (normal_draw(self.words) * std + offset))
        delivered = tick + self.latency
        sample = {
            "index": self.draw, "nominal_acquisition_s": nominal_s, "actual_acquisition_s": float(tick * self.dt),
            "requested_delivery_s": float(tick * self.dt + exact(self.spec["latency_s"])),
            "actual_delivery_s": float(delivered * self.dt), "acquired_tick": tick, "delivered_tick": delivered,
            "values": tuple(values),
        }  # fmt: skip
        self.draw += 1
        self.queue.append(sample)
        events.append(("sample", tick, self.name, sample))


class ReferenceDriver:
    def __init__(self, name, spec, model, timestep):
        self.name, self.spec = name, spec
        self.columns = [int(model.actuator_ctrladr[model.actuator(a).id]) for a in spec["actuators"]]
        width = len(self.columns)
        self.high = spread(spec["limit"] or [math.inf], width)
        self.low = [-x for x in self.high]
        for i, actuator in enumerate(spec["actuators"]):
            index = model.actuator(actuator).id
            if model.actuator_ctrllimited[index]:
                low, high = model.actuator_ctrlrange[index].tolist()
                self.low[i], self.high[i] = max(self.low[i], low), min(self.high[i], high)
        self.current = spread(spec["initial"] or [0.0], width)
        self.latency = ceil_ticks(spec["command_latency_s"], timestep)
        self.timeout = None if spec["timeout_s"] is None else ceil_ticks(spec["timeout_s"], timestep)
        self.last_arrival = None
        self.travelling = []
        self.latest = {}

    def accept(self, tick, command, events):
        data = {key: command[key] for key in ("source_id", "source_sequence", "acceptance", "effective_s", "values")}
        if command["sequenced"]:
            if command["source_id"] in self.latest and command["source_sequence"] <= self.latest[command["source_id"]]:
                events.append(("stale", tick, self.name, data))
                return
            self.latest[command["source_id"]] = command["source_sequence"]
        self.travelling.append((tick + self.latency, command))
        events.append(("input", tick, self.name, {**data, "arrival_tick": tick + self.latency}))

    def apply(self, tick, controls):
        for arrival, command in self.travelling:
            if arrival == tick:
                self.current, self.last_arrival = list(command["values"]), tick
        self.travelling = [entry for entry in self.travelling if entry[0] > tick]
        asked = self.current
        if self.timeout is not None and self.last_arrival is not None and tick - self.last_arrival >= self.timeout:
            fallback = [0.0] if self.spec["fallback"] == "zero" else self.spec["fallback"]
            asked = asked if fallback == "hold" else spread(fallback, len(self.columns))
        for i, column in enumerate(self.columns):
            controls[column] = min(max(asked[i], self.low[i]), self.high[i])


class ReferenceController:
    def __init__(self, name, spec, timestep):
        self.name, self.spec, self.dt = name, spec, timestep
        self.period, self.phase = exact(spec["period_s"]), exact(spec["phase_s"])
        self.next_k = 0 if self.phase > 0 else 1
        self.latency = max(1, ceil_ticks(spec["compute_latency_s"], timestep))
        self.calls = 0

    def due(self, tick):
        if math.ceil((self.phase + self.next_k * self.period) / self.dt) != tick:
            return False
        self.next_k += 1
        return True

    def compute(self, visible):
        total = 0.0
        for gain, value in zip(self.spec["parameters"]["gain"], visible["values"], strict=True):
            total += gain * value
        return (-total,)


class ReferenceMetric:
    def __init__(self, spec, model):
        self.spec = spec
        if spec["signal"] == "control":
            self.addresses = [int(model.actuator_ctrladr[model.actuator(a).id]) for a in spec["actuators"]]
        else:
            joints = [model.joint(j) for j in spec["joints"] or [spec["joint"]]]
            self.addresses = [int((j.dofadr if spec["signal"] == "velocity" else j.qposadr)[0]) for j in joints]
        self.folded, self.ticks = [0.0] * len(self.addresses), 0

    def observe(self, data, controls):
        source = {"control": controls, "velocity": data.qvel, "position": data.qpos}[self.spec["signal"]]
        for i, address in enumerate(self.addresses):
            x = abs(float(source[address]))
            if self.spec["type"] in ("rms", "mean_abs"):
                self.folded[i] += x * x if self.spec["type"] == "rms" else x
            else:
                self.folded[i] = max(self.folded[i], x) if self.spec["type"] == "max_abs" else x
        self.ticks += 1

    def value(self):
        if not self.ticks:
            return None
        if self.spec["type"] in ("max_abs", "final_abs"):
            return max(self.folded)
        mean = math.fsum(self.folded) / (self.ticks * len(self.folded))
        return math.sqrt(mean) if self.spec["type"] == "rms" else mean


class ReferenceRun:
    """One episode of a manifest's document (defaults filled in, inline XML) under a seed."""

    def __init__(self, document, seed):
        runtime = document["runtime"]
        self.dt = exact(runtime["timestep_s"])
        self.model = model = mujoco.MjModel.from_xml_string(document["model"]["xml"])
        model.opt.timestep = float(self.dt)
        model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
        self.data = mujoco.MjData(model)
        for joint, position in document["model"]["initial"].items():
            self.data.qpos[model.joint(joint).qposadr[0]] = position
        parts = document["components"].items()
        encoders = {n: s for n, s in parts if s["type"] == "encoder"}
        drivers = {n: s for n, s in parts if s["type"] == "torque"}
        self.encoders = {n: ReferenceEncoder(n, s, model, self.dt, seed) for n, s in encoders.items()}
        self.drivers = {n: ReferenceDriver(n, s, model, self.dt) for n, s in drivers.items()}
        self.limits = {n: s for n, s in parts if s["type"] == "limit_exceeded"}
        self.controllers = [ReferenceController(n, s, self.dt) for n, s in sorted(document["controllers"].items())]
        self.metrics = {n: ReferenceMetric(s, model) for n, s in document["metrics"].items()}
        self.tick, self.accepted, self.mailbox = 0, 0, []
        self.states, self.controls, self.events, self.stop = [], [], [], None

    def enqueue(self, target, values, source_id="external", source_sequence=None, effective_time_s=None):
        self.accepted += 1
        command = {
            "target": target, "values": tuple(values), "source_id": source_id,
            "source_sequence": self.accepted if source_sequence is None else source_sequence,
            "sequenced": source_sequence is not None, "acceptance": self.accepted, "effective_s": effective_time_s,
        }  # fmt: skip
        self.mailbox.append(command)

    def step(self):
        """The thirteen phases of one step, and the controllers that are due after it; nothing once stopped."""
        if self.stop is not None:
            return
        tick, data = self.tick, self.data
        # 2 ExternalInputCommit
        for command in self.mailbox:
            if command["effective_s"] is None:
                command["effective_s"] = float(tick * self.dt)
        due = [c for c in self.mailbox if exact(c["effective_s"]) <= tick * self.dt]
        self.mailbox = [c for c in self.mailbox if c not in due]
        order = ("effective_s", "source_id", "source_sequence", "acceptance")
        for command in sorted(due, key=lambda c: [c[field] for field in order]):
            self.drivers[command["target"]].accept(tick, command, self.events)
        # 5 DeviceUpdate
        for encoder in self.encoders.values():
            encoder.update(tick, data, self.events)
        # 6 ActuatorApplication
        controls = data.ctrl.tolist()
        for driver in self.drivers.values():
            driver.apply(tick, controls)
        # 7 PhysicsStep
        data.ctrl[:] = controls
        mujoco.mj_step(self.model, data)
        state = [data.time, *data.qpos.tolist(), *data.qvel.tolist(), *data.act.tolist()]
        if not all(abs(x) <= 1e10 for x in state) or any(w.number for w in data.warning):
            self.stop = ("fault", tick, "PhysicsStep")
            return
        # 9 InteractionEvaluation, 10 DomainCommit
        for name in sorted(self.limits):
            joints = [int(self.model.joint(j).qposadr[0]) for j in self.limits[name]["joints"]]
            if self.stop is None and any(abs(data.qpos[j]) > self.limits[name]["limit"] for j in joints):
                self.stop = ("end", tick, name)
        # 11 Observer, 12 TraceRecord
        for metric in self.metrics.values():
            metric.observe(data, controls)
        self.states.append(state)
        self.controls.append(controls)
        self.tick += 1
        # 13 ExternalOutputPublish; then the controllers
        for controller in self.controllers:
            visible = self.encoders[controller.spec["inputs"][0]].visible
            if controller.due(tick) and self.stop is None and visible is not None:
                controller.calls += 1
                commit_s = float((tick + controller.latency) * self.dt)
                target = controller.spec["outputs"][0]
                self.enqueue(target, controller.compute(visible), controller.name, None, commit_s)
                self.mailbox[-1] |= {"source_sequence": controller.calls, "acceptance": 0}
                self.accepted -= 1  # what a controller sends is told by its own count
