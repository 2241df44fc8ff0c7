"""Changes of model values that lanes may differ in."""

from __future__ import annotations

import pytest

from sweep.errors import InvalidInputError
from sweep.runtime import InstanceBatch
from sweep.runtime.model_index import EDITABLE
from tests.runtime.scenes import CART, cart, plan_of

TENDON = "<tendon><fixed name='pull'><joint joint='slider' coef='1'/></fixed></tendon>"
XML = CART.format(integrator="implicitfast").replace("<actuator>", TENDON + "<actuator>")


def edited(**edit):
    return plan_of(cart(model={"xml": XML, "edits": {"e": edit}}))


@pytest.mark.parametrize("field", EDITABLE)
def test_every_editable_field_is_a_lanes_own(field):
    neutral, changed = edited(fields=field, scale=1.0), edited(fields=field, scale=2.0)
    both, alone = InstanceBatch([neutral, changed], [0, 0]), InstanceBatch([changed], [0])
    for batch in (both, alone):
        batch.advance(20)
    assert both.trace_digest(1) == alone.trace_digest(0)


@pytest.mark.parametrize(
    ("edit", "path", "said"),
    [
        ({"fields": "body_inertia", "value": [1, 2]}, "value", "2 numbers for body_inertia; give 1 or 3"),
        ({"fields": "opt.density", "value": [1, 2]}, "value", "2 numbers for opt.density; give 1"),
        ({"fields": "dof_damping", "names": "hinge", "value": [1, 2]}, "value", "2 numbers for dof_damping; give 1"),
        ({"fields": "opt.gravity", "names": "hinge", "value": [0, 0, 1]}, "names", "belongs to the whole model"),
    ],
)
def test_an_edit_that_does_not_fit_is_refused(edit, path, said):
    with pytest.raises(InvalidInputError, match=said) as caught:
        edited(**edit)
    assert caught.value.problems[0].path == f"model.edits.e.{path}"


def test_what_mujoco_refuses_is_said():
    simple = "<mujoco><worldbody><body name='b'><freejoint/><geom size='.1'/></body></worldbody></mujoco>"
    edits = {"e": {"fields": "body_ipos", "names": "b", "value": [0.1, 0, 0]}}
    plan = plan_of({"schema": "3.3", "model": {"xml": simple, "edits": edits}})
    with pytest.raises(InvalidInputError, match=r"MuJoCo says: .*simple='false'"):
        plan.instantiate()
