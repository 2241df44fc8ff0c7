"""The plainest possible runtime: one lane, one tick at a time, one MjData.  It judges the fast one.

``ReferenceEpisode.phases`` follows the pseudo-code of ``sweep.runtime``, eagerly: a full forward wherever derived state
must agree.  What components compute is tested against theory elsewhere; here stands what phases need for an example.
Left out are the other imperfections (test_imperfection, test_sensors), jitters (test_transport), stages of drivers and
servos (test_drivers), motions and poses, pushes at random, endings that read sensors, and metrics (test_metrics).
"""

import copy
import importlib
import math
from contextlib import suppress
from dataclasses import asdict
from fractions import Fraction
from types import SimpleNamespace

import mujoco
import numpy as np

from sweep.plan.streams import stream_key
from sweep.runtime.domain.proposal import MoveMocap
from sweep.runtime.noise import normals, uniforms
from sweep.runtime.numerics.sine import sines_of


def exact(seconds):
    return Fraction(seconds).limit_denominator(10**6)


class Part:
    """A part of an episode.  A draw of noise is a pure function of (seed, name, stream, index)."""

    own = next_sample = since = None
    bad_link, newest, calls = False, -1, 0

    def __init__(self, episode, name, spec):
        self.name, self.spec, self.seed, self.model, self.dt = name, spec, episode.seed, episode.model, episode.dt
        if spec.get("type") in ("device", "interaction", "observer"):  # a class of the user's own
            module, _, found = spec["class"].partition(":")
            setup = SimpleNamespace(name=name, parameters=spec["parameters"], model=self.model)
            self.own = getattr(importlib.import_module(module), found)(setup)

    def ticks(self, seconds):
        return math.ceil(exact(seconds) / self.dt)

    def draw(self, kind, stream, index, width=1):
        return kind(stream_key(self.seed, self.name, stream), index * width, width).tolist()

    def due(self, tick):
        """The nominal time of what is due, or None: k at the first boundary at or after phase + k * period."""
        if tick == 0 and self.spec.get("initial_acquisition"):
            return 0.0
        period, phase = exact(self.spec["period_s"]), exact(self.spec["phase_s"])
        if self.next_sample is None:
            self.next_sample = 0 if phase > 0 else 1  # a zero phase begins one period in
        nominal = phase + self.next_sample * period
        if math.ceil(nominal / self.dt) != tick:
            return None
        self.next_sample += 1
        return float(nominal)

    def send(self, tick, index, latency_s):
        """The requested deadline [s] of a message, and the tick of its arrival, -1 if it never arrives."""
        jitter, latency = 0.0, exact(latency_s)
        deadline = float(tick * self.dt + latency)
        if self.spec["jitter"]:
            low, high = self.spec["jitter"]["low_s"], self.spec["jitter"]["high_s"]
            jitter = low + (high - low) * self.draw(uniforms, "latency", index)[0]
            first, last = (float(tick * self.dt + latency + exact(end)) for end in (low, high))
            deadline = min(max(deadline + jitter, first), last)
        if self.loses(*self.draw(uniforms, "dropout", index, 2)):
            return deadline, -1
        arrival = tick + math.ceil((latency + Fraction(jitter)) / self.dt)
        if self.spec["ordering"] == "fifo":
            arrival = self.newest = max(arrival, self.newest)
        return deadline, arrival

    def loses(self, loss, move):
        burst = self.spec["burst_loss"]
        if burst is None:
            return loss < (self.spec["drop_probability"] or 0.0)
        self.bad_link = move < (1.0 - burst["p_bad_to_good"] if self.bad_link else burst["p_good_to_bad"])
        return loss < (burst["loss_bad"] if self.bad_link else burst["loss_good"])


class Device(Part):
    """Shows the sample that arrived last, of two the newer.  The index of a draw is the acquisition's number."""

    def __init__(self, episode, name, spec):
        super().__init__(episode, name, spec)
        self.index, self.samples = 0 if spec["initial_acquisition"] else 1, []

    def measure(self, view):
        if self.own is not None:
            draws = {s: self.draw(normals, s, self.index, self.own.width) for s in self.own.streams}
            return self.own.measure(view, {stream: np.array(draw) for stream, draw in draws.items()}).tolist()
        values, scale = [], self.spec["noise_scale"]
        for prefix, numbers in self.truth(view.data).items():
            white = self.draw(normals, f"{prefix}white", self.index, len(numbers))
            bias = self.draw(normals, f"{prefix}bias", 0, len(numbers))
            for (x, white_std, bias_std), w, b in zip(numbers, white, bias, strict=True):
                values.append(float(x) + (w * (white_std * scale) + b * (bias_std * scale)))
        return values

    def truth(self, data):
        """By noise stream: numbers, each with the standard deviations of its white noise and of an episode's bias."""
        spec, measures, found = self.spec, self.spec["measures"], []
        if spec["type"] != "encoder":  # sensors of MuJoCo, which the Plan has put into the model
            stds = {m: (spec[m]["white_std"], spec[m]["bias_std"]) for m in measures}
            return {f"{m}_": [(x, *stds[m]) for x in data.sensor(f"{self.name}/{m}").data] for m in measures}
        for measure in measures:
            for joint in map(data.joint, spec["joints"]):
                position = joint.qpos[0], spec["white_std"], spec["bias_std"]
                found.append(position if measure == "position" else (joint.qvel[0], spec["velocity_white_std"], 0.0))
        return {"": found}

    def acquire(self, tick, nominal_s, values):
        deadline, arrival = self.send(tick, self.index, self.spec["latency_s"])
        sample = {
            "index": self.index, "nominal_acquisition_s": nominal_s, "actual_acquisition_s": float(tick * self.dt),
            "requested_delivery_s": deadline, "values": tuple(values), "acquired_tick": tick, "delivered_tick": arrival,
            "actual_delivery_s": math.nan if arrival < 0 else float(arrival * self.dt),
        }  # fmt: skip
        self.index += 1
        self.samples.append(sample)
        return "sample", tick, self.name, sample

    def visible(self, tick):
        arrived = [sample for sample in self.samples if 0 <= sample["delivered_tick"] <= tick]
        return max(arrived, key=lambda sample: (sample["delivered_tick"], sample["index"]), default=None)


class Driver(Part):
    """Transport, watchdog and limits of a torque drive of one actuator, or of a motor: its torque falls with speed."""

    def __init__(self, episode, name, spec):
        super().__init__(episode, name, spec)
        actuator, (limit,) = self.model.actuator(spec["actuators"][0]), spec.get("limit") or [math.inf]
        low, high = actuator.ctrlrange.tolist() if actuator.ctrllimited[0] else (-limit, limit)
        self.low, self.high, self.joint = max(-limit, low), min(limit, high), self.model.joint(actuator.trnid[0]).name
        (self.command,), self.since, self.applied = spec["initial"] or [0.0], None, None
        self.under_way, self.latest, self.counts = [], {}, {}

    def accept(self, tick, command):
        """A committed input: a stale one is dropped, any other travels whole."""
        source, number, counted = command["source_id"], command["source_sequence"], command["sequenced"]
        data = {k: command[k] for k in ("source_id", "source_sequence", "acceptance", "effective_s", "values")}
        command["committed"] = tick
        if counted and number <= self.latest.get(source, number - 1):
            return "stale", tick, self.name, data
        counts = self.latest if counted else self.counts
        counts[source] = draw = number if counted else counts.get(source, 0) + 1
        command["arrival"] = self.send(tick, draw, self.spec["command_latency_s"])[1]
        self.under_way.append(command)
        return "input", tick, self.name, {**data, "arrival_tick": command["arrival"], "draw": draw}

    def control(self, tick, data):
        for command in self.under_way:
            if command["arrival"] == tick:
                (self.command,), self.since = command["values"], tick
        asked, low, high, spec, fallback = self.command, self.low, self.high, self.spec, self.spec["fallback"]
        if spec["timeout_s"] and self.since is not None and tick - self.since >= self.ticks(spec["timeout_s"]):
            asked = {"hold": asked, "zero": 0.0}[fallback] if isinstance(fallback, str) else fallback[0]
        if spec["type"] == "motor":
            (stall,), slowness = spec["stall_torque"], float(data.joint(self.joint).qvel[0]) / spec["no_load_speed"][0]
            backwards, forwards = (min(max(stall * (1.0 + x), 0.0), stall) for x in (slowness, -slowness))
            low, high = max(low, -backwards), min(high, forwards)
        return float(np.minimum(np.maximum(asked, low), high))  # of zeros of both signs numpy's choice


class Motion(Part):  # the pose of a mocap body: a sine along x
    def pose(self, tick):
        body, turns = self.model.body(self.spec["body"]), self.spec["frequency_hz"] * float(tick * self.dt)
        along = self.spec["amplitude_m"] * sines_of(np.array([turns + self.spec["phase_turns"]]))[0]
        return MoveMocap(body=body.name, position_m=(body.pos[0] + along, *body.pos[1:]), quaternion=tuple(body.quat))


class Push(Part):  # a force along x on a body at given times
    def act(self, tick, wrenches):
        """Add what acts to the bodies' wrenches; told when a push begins."""
        told, wrench = [], (self.spec["force_n"][0], 0.0, 0.0, 0.0, 0.0, 0.0)
        for k, start in enumerate(self.ticks(due) for due in self.spec["times_s"]):
            stop = start + self.ticks(self.spec["duration_s"])
            if start == tick:
                told.append(("push", tick, self.name, {"index": k, "stop_tick": stop, "values": wrench}))
            if start <= tick < stop:
                wrenches[self.model.body(self.spec["body"]).id] += wrench
        return told


class Rule(Part):
    """The user's own, or an end once a joint has been too far out, or all have been at a target, for long enough."""

    def propose(self, view, state):
        if self.own is not None:
            return self.own.propose(view, state)
        q, spec, facts = [float(view.data.joint(joint).qpos[0]) for joint in self.spec["joints"]], self.spec, {}
        if spec["type"] == "limit_exceeded":
            so = any(abs(x) > spec["limit"] for x in q)
        else:
            facts = {"joint_error": max(abs(x - spec["target"][0]) for x in q)}
            so = facts["joint_error"] <= spec["tolerance"][0]
        self.since = (view.tick if self.since is None else self.since) if so else None
        if not so or view.tick - self.since < self.ticks(spec["hold_s"]):
            return None
        return SimpleNamespace(facts=facts, state={}, actions=(), end=SimpleNamespace(**spec))


class Controller(Part):  # state feedback on one device, which may raise when it is told to
    def compute(self, tick, values):
        total, parameters = 0.0, self.spec["parameters"]
        if tick >= parameters.get("fails", math.inf):
            raise ArithmeticError("no solution")
        for gain, value in zip(parameters["gain"], values, strict=True):
            total += gain * value
        return (-total,)


class Metric(Part):  # a fold of magnitudes of joints or controls, in tick order
    folded, count = 0.0, 0

    def observe(self, data):
        spec, kind = self.spec, self.spec["type"]
        signals = {"control": ("actuator", "ctrl"), "position": ("joint", "qpos"), "velocity": ("joint", "qvel")}
        (element, field), names = signals[spec["signal"]], spec["actuators"] or spec["joints"] or [spec["joint"]]
        x = np.abs([getattr(getattr(data, element)(name), field)[0] for name in names])
        sums = self.folded + (x * x if kind == "rms" else x)
        self.folded = {"max_abs": np.maximum(self.folded, x), "final_abs": x}.get(kind, sums)
        self.count += 1

    def value(self):
        if not self.count or self.spec["type"] in ("max_abs", "final_abs"):
            return float(max(self.folded)) if self.count else None
        mean = math.fsum(self.folded) / (self.count * len(self.folded))
        return math.sqrt(mean) if self.spec["type"] == "rms" else mean


KINDS = {"encoder": Device, "imu": Device, "force_torque": Device, "device": Device, "torque": Driver, "motor": Driver,
         "mocap_motion": Motion, "push": Push, "interaction": Rule, "goal_reached": Rule, "limit_exceeded": Rule,
         "observer": Part}  # fmt: skip


class ReferenceEpisode:
    """One episode of a Plan's document (its defaults filled in) and compiled model under a seed."""

    def __init__(self, document, model, seed, accepted=0):
        self.seed, self.dt, self.model = seed, exact(document["runtime"]["timestep_s"]), model
        self.data = mujoco.MjData(self.model)
        for joint, position in document["model"]["initial"].items():
            self.data.joint(joint).qpos[0] = position
        parts = [KINDS[spec["type"]](self, name, spec) for name, spec in sorted(document["components"].items())]
        every = [{p.name: p for p in parts if type(p) is kind} for kind in (Device, Driver, Motion, Push, Rule, Part)]
        self.devices, self.drivers, self.motions, self.pushes, self.rules, self.observers = every
        self.controllers = {n: Controller(self, n, s) for n, s in sorted(document["controllers"].items())}
        self.metrics = {n: Metric(self, n, s) for n, s in document["metrics"].items() if s["type"] != "observed"}
        # Steps that are settled, the last tick whose phases up to 6 happened, inputs accepted, how it stopped, phase.
        self.tick, self.applied, self.accepted, self.stop, self.at = 0, -1, accepted, None, None
        # Inputs; committed domain state; deferred actions: from a tick, to before another, whose, what.
        self.sent, self.domain, self.pending = [], {}, []
        self.events, self.states, self.controls = [], [], []
        for motion in self.motions.values():
            self.act(motion.pose(0))
        mujoco.mj_forward(self.model, self.data)

    def enqueue(self, target, values, source_id="external", source_sequence=None, effective_time_s=None, outside=True):
        """Accept an input; nothing changes before a commit.  A controller's is told by its own count alone."""
        self.accepted += outside
        self.sent.append({
            "target": target, "values": tuple(values), "source_id": source_id, "acceptance": self.accepted * outside,
            "source_sequence": self.accepted if source_sequence is None else source_sequence,
            "sequenced": source_sequence is not None, "committed": None, "arrival": -1,
            "effective_s": float(self.tick * self.dt if effective_time_s is None else exact(effective_time_s)),
        })  # fmt: skip

    def step(self):
        """One step; nothing once stopped."""
        if self.stop is not None:
            return
        tick, before = self.tick, copy.copy(self.data)
        try:
            self.phases(tick)
        except (ArithmeticError, RuntimeError, ValueError):
            self.stop = ("fault", tick, *self.at)
            if self.tick == tick:  # the step is not settled: the boundary is P_n
                self.data = before

    def phases(self, tick):
        """The thirteen phases, and the controllers that are due after them."""
        model, data, frame = self.model, self.data, []
        # 1 DeferredActionsCommit
        data.xfrc_applied[:] = 0.0
        for start, stop, _, action in self.pending:
            if start <= tick < stop:
                self.act(action)
        for push in self.pushes.values():
            frame += push.act(tick, data.xfrc_applied)
        # 2 ExternalInputCommit
        due = [c for c in self.sent if c["committed"] is None and exact(c["effective_s"]) <= tick * self.dt]
        order = ("effective_s", "source_id", "source_sequence", "acceptance")
        for command in sorted(due, key=lambda c: [c[field] for field in order]):
            frame.append(self.drivers[command["target"]].accept(tick, command))
        # 3 ContinuousPrescribedState
        for motion in self.motions.values():
            self.act(motion.pose(tick))
        # 4 DerivedStateRecompute; the controls are those of the step before
        mujoco.mj_forward(model, data)
        # 5 DeviceUpdate
        view, samples = self.view(tick), []
        for name, device in self.devices.items():
            if (nominal_s := device.due(tick)) is not None:
                self.at = "DeviceUpdate", name, "device"
                samples.append((device, nominal_s, device.measure(view)))
        self.events += frame + [device.acquire(tick, nominal_s, values) for device, nominal_s, values in samples]
        # 6 ActuatorApplication
        for name, driver in self.drivers.items():
            control, before = driver.control(tick, data), driver.applied
            self.events += (
                [("application", tick, name, {"values": (control,)})] if repr(control) != repr(before) else []
            )
            data.actuator(driver.spec["actuators"][0]).ctrl = driver.applied = control
        self.applied = tick
        # 7 PhysicsStep
        mujoco.mj_step(model, data)
        state = [data.time, *data.qpos.tolist(), *data.qvel.tolist(), *data.act.tolist()]
        self.at = "PhysicsStep", "", "diverged"
        if not all(abs(x) <= 1e10 for x in state) or any(w.number for w in data.warning):
            raise ValueError(state)
        # 8 PostPhysicsSnapshot
        for motion in self.motions.values():
            self.act(motion.pose(tick + 1))
        mujoco.mj_forward(model, data)
        # 9 InteractionEvaluation
        view, proposals = self.view(tick + 1), []
        for name, rule in self.rules.items():
            self.at = "InteractionEvaluation", name, "component"
            proposals.append((name, rule.propose(view, self.domain)))
        # 10 DomainCommit
        self.commit(tick, [(name, proposal) for name, proposal in proposals if proposal is not None])
        # 11 Observer; an end comes before what Observers make of it
        for name, observer in self.observers.items():
            self.at = "Observer", name, "component"
            with suppress(RuntimeError if self.stop else ()):
                observer.own.observe(view, self.domain)
        for metric in self.metrics.values():
            metric.observe(data)
        # 12 TraceRecord
        self.states, self.controls = [*self.states, state], [*self.controls, data.ctrl.tolist()]
        self.tick += 1
        # 13 ExternalOutputPublish; then the controllers, unless the episode has ended
        for name, controller in self.controllers.items() if self.stop is None else ():
            shown, target = (controller.spec[end][0] for end in ("inputs", "outputs"))
            if controller.due(tick) is not None and (sample := self.devices[shown].visible(tick)):
                self.at = "ExternalOutputPublish", name, "controller"
                values = controller.compute(tick, sample["values"])
                delay = max(1, controller.ticks(controller.spec["compute_latency_s"]))
                controller.calls += 1
                self.enqueue(target, values, name, controller.calls, float((tick + delay) * self.dt), outside=False)

    def view(self, tick):
        """A boundary as classes of the user's own see it."""
        copies = {name: getattr(self.data, name).copy() for name in ("qpos", "qvel", "ctrl")}
        return SimpleNamespace(tick=tick, data=self.data, field=lambda n: np.array(getattr(self.data, n)), **copies)

    def act(self, action):
        """Make a deferred action real."""
        kind = type(action).__name__
        if kind == "ApplyWrench":
            self.data.xfrc_applied[self.model.body(action.body).id] += (*action.force_n, *action.torque_nm)
        elif kind == "SwitchEquality":
            self.data.eq_active[self.model.equality(action.name).id] = action.active
        elif kind == "MoveMocap":
            mocap = self.model.body(action.body).mocapid[0]
            self.data.mocap_pos[mocap], self.data.mocap_quat[mocap] = action.position_m, action.quaternion
        else:
            self.data.joint(action.joint).qpos, self.data.joint(action.joint).qvel = action.position, action.velocity

    def commit(self, tick, proposals):
        """All proposals of a step, in the order of their components, or none; of several ends the first."""
        asked, written = [(name, ("state", key), value) for name, p in proposals for key, value in p.state.items()], {}
        for name, d in [(name, d) for name, p in proposals for d in p.actions]:
            asked.append((name, (type(d.action).__name__, next(iter(asdict(d.action).values())), d.delay_s), d))
        claimed = [("MoveMocap", motion.spec["body"]) for motion in self.motions.values()]
        for name, resource, value in asked:
            first, other = written.setdefault(resource, (name, value))
            if resource[:2] in claimed or (other != value and resource[0] != "ApplyWrench"):
                self.at = "DomainCommit", first, "domain_conflict"
                raise ValueError(resource)
        for name, proposal in proposals:
            for kind, told in (("fact", proposal.facts), ("state", proposal.state)):
                self.events += [(kind, tick, name, {"name": key, "value": value}) for key, value in told.items()]
            self.domain = {**self.domain, **proposal.state}
            for deferred in proposal.actions:
                action, start = deferred.action, tick + 1 + Part.ticks(self, deferred.delay_s)
                data = {"action": type(action).__name__, "delay_s": deferred.delay_s, **asdict(action)}
                self.events.append(("deferred", tick, name, data))
                steps = max(1, Part.ticks(self, getattr(action, "duration_s", 0)))
                self.pending.append((start, start + steps, name, action))
            if proposal.end is not None and self.stop is None:
                self.stop = ("end", tick, name, proposal.end.reason, proposal.end.success)
