"""A cart with one drive and no controller, and what the drive applied."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from sweep.runtime import InstanceBatch
from sweep.runtime.ingress.mailbox import Mailbox
from sweep.runtime.reads import STATE_ONLY
from tests.runtime.scenes import cart, plan_of


class Controls:
    """Every completed step's controls."""

    reads = STATE_ONLY

    def __init__(self):
        self.pieces = []

    def fold(self, view):
        self.pieces.append(view.controls.copy())

    def of(self, lane, column):
        return np.concatenate(self.pieces, axis=1)[lane, :, column].tolist()


def document(drive, dt=0.001, **sections):
    """A cart without a controller; ``twist``, which has no control range, is driven."""
    runtime = {"timestep_s": dt, "duration_s": 10}
    components = {"drive": {"type": "torque", "actuators": "twist", **drive}}
    return cart(**{"components": components, "controllers": {}, "runtime": runtime, **sections})


def send(mailbox, dt, tick, value, source="bare", sequence=None):
    effective_s = float(tick * Fraction(dt).limit_denominator(10**6))
    mailbox.enqueue("drive", np.array([value]), source_id=source, source_sequence=sequence, effective_s=effective_s)


def applied(drive, ticks, inputs, dt=0.001, max_block=None):
    """The controls of a drive, tick by tick, given what is sent to it at ticks."""
    plan, recorder = plan_of(document(drive, dt)), Controls()
    mailbox = Mailbox(plan.grid)
    for tick, value in inputs.items():
        send(mailbox, dt, tick, value)
    advanced(InstanceBatch([plan], [0], max_block, observers=[recorder], mailbox=mailbox), ticks)
    return recorder.of(0, 1)


def advanced(batch, ticks):
    batch.advance(ticks)
    batch.observation.flush()
    return batch


MOTOR = {"type": "motor", "stall_torque": 100, "no_load_speed": 10, "continuous_torque": 80}
"""The row of the driver table: stall 100, no-load 10 rad/s, limit 80."""

POSITION_SERVO = '<position name="twist" joint="hinge" kp="4"/>'


def with_actuator(actuator):
    """The cart's model with another actuator in place of ``twist``."""
    model = cart()["model"]
    return {**model, "xml": model["xml"].replace('<motor name="twist" joint="hinge"/>', actuator)}
