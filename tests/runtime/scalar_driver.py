"""The plainest possible drive: one lane, one control, one tick at a time."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np

from sweep.plan import stream_key
from sweep.runtime import uniforms


def exact(number):
    return Fraction(number).limit_denominator(10**6)


class ScalarDrive:
    """A torque drive of a Manifest's document, its numbers as people write them.

    ``inputs``: what is committed, in order: (tick, source, sequence or None, value).
    """

    def __init__(self, name, spec, timestep, seed, inputs, low, high):
        self.spec, self.dt = spec, timestep
        self.keys = {stream: stream_key(seed, name, stream) for stream in ("latency", "dropout")}
        limit = math.inf if spec.get("limit") is None else spec["limit"]
        self.low, self.high = max(low, -limit), min(high, limit)
        self.bad, self.newest, self.counts, self.latest = False, -1, {}, {}
        self.arrivals = []  # (tick, order of commit, value)
        self.lost = self.stale = 0
        for order, entry in enumerate(inputs):
            self.commit(order, *entry)
        self.value = self.slewed = self.lagged = spec.get("initial") or 0.0
        self.arrived, self.since = 0, None
        self.saturated = self.timed_out = 0

    def commit(self, order, tick, source, sequence, value):
        if sequence is not None and sequence <= self.latest.get(source, sequence - 1):
            self.stale += 1
            return
        if sequence is None:
            self.counts[source] = self.counts.get(source, 0) + 1
        else:
            self.latest[source] = sequence
        arrival = self.arrival(tick, self.counts[source] if sequence is None else sequence)
        if arrival is None:
            self.lost += 1
        else:
            self.arrivals.append((arrival, order, value))

    def arrival(self, tick, draw):
        spec, delay = self.spec, exact(self.spec.get("command_latency_s", 0))
        if spec.get("jitter"):
            values = spec["jitter"]["values_s"]
            delay += exact(values[math.floor(uniforms(self.keys["latency"], draw, 1)[0] * len(values))])
        arrival = tick + math.ceil(delay / self.dt)
        if self.loses(draw):
            return None
        if spec.get("ordering") != "overtaking" and spec.get("jitter"):
            arrival = self.newest = max(arrival, self.newest)
        if spec.get("command_period_s"):
            period = exact(spec["command_period_s"]) / self.dt
            arrival = next(t for k in range(1, 10**6) if (t := math.ceil(k * period)) >= arrival)
        return arrival

    def loses(self, draw):
        loss, move = uniforms(self.keys["dropout"], 2 * draw, 2)
        burst = self.spec.get("burst_loss")
        if burst:
            self.bad = move < (1.0 - burst["p_bad_to_good"] if self.bad else burst["p_good_to_bad"])
            return bool(loss < (burst["loss_bad"] if self.bad else burst["loss_good"]))
        return bool(loss < (self.spec.get("drop_probability") or 0.0))

    def control(self, tick):
        for arrival, _, value in sorted(self.arrivals):
            if arrival == tick:
                self.value, self.since = value, tick
                self.arrived += 1
        wanted = self.strengthened(self.lag(self.slew(self.resolved(self.dead_band(self.watched(tick))))))
        applied = min(max(wanted, self.low), self.high)
        self.saturated += applied != wanted
        return applied

    def watched(self, tick):
        timeout, fallback = self.spec.get("timeout_s"), self.spec.get("fallback", "zero")
        if timeout is None or self.since is None or (tick - self.since) * self.dt < exact(timeout):
            return self.value
        self.timed_out += 1
        return {"hold": self.value, "zero": 0.0}.get(fallback, fallback)

    def dead_band(self, u):
        band = self.spec.get("dead_band") or 0.0
        if abs(u) <= band:
            return 0.0
        return u if self.spec.get("dead_band_jump") or not band else u - math.copysign(band, u)

    def resolved(self, u):
        step = self.spec.get("resolution")
        return float(np.rint(u / step)) * step if step else u

    def slew(self, u):
        rise = self.spec.get("slew_up_per_s") or self.spec.get("slew_per_s")
        fall = self.spec.get("slew_down_per_s") or self.spec.get("slew_per_s")
        up = math.inf if rise is None else float(exact(rise) * self.dt)
        down = math.inf if fall is None else float(exact(fall) * self.dt)
        reached = min(max(u, self.slewed - down), self.slewed + up)
        self.slewed = u if abs(u - reached) <= 1e-9 * min(up, down) else reached
        return self.slewed

    def lag(self, u):
        if not self.spec.get("lag_s"):
            return u
        self.lagged += relaxation(self.dt / exact(self.spec["lag_s"])) * (u - self.lagged)
        return self.lagged

    def strengthened(self, u):
        return u * self.spec.get("strength", 1.0)


def relaxation(x):
    """``1 - exp(-x)`` of a rational, correctly rounded."""
    with localcontext(prec=60):
        return float(1 - (-Decimal(x.numerator) / Decimal(x.denominator)).exp())
