import pytest

from sweep.errors import ClaimConflictError
from sweep.plan.claims import ActuatorActivation, JointKinematics, MocapPose, StateClaim, check_claims


def test_one_owner_of_a_mocap_pose_is_fine():
    check_claims([StateClaim(MocapPose("hand"), "a"), StateClaim(MocapPose("foot"), "a")])
    check_claims([])


def test_two_owners_are_both_named():
    with pytest.raises(ClaimConflictError, match=r"mocap_pose\('hand'\) is claimed by 'a' and 'b'"):
        check_claims([StateClaim(MocapPose("hand"), "a"), StateClaim(MocapPose("hand"), "b")])


@pytest.mark.parametrize("resource", [JointKinematics("hinge"), ActuatorActivation("muscle")])
def test_a_claim_that_nothing_enforces_is_refused_with_the_reason(resource):
    with pytest.raises(ClaimConflictError, match="nothing enforces authority") as caught:
        check_claims([StateClaim(resource, "a")])
    assert caught.value.problems[0].path == "components.a"


def test_everything_wrong_is_said_at_once():
    claims = [StateClaim(JointKinematics("hinge"), "a"), StateClaim(JointKinematics("hinge"), "b"),
              StateClaim(MocapPose("hand"), "c"), StateClaim(MocapPose("hand"), "d")]  # fmt: skip
    with pytest.raises(ClaimConflictError) as caught:
        check_claims(claims)
    assert len(caught.value.problems) == 3


def test_resources_of_different_kinds_with_one_name_are_different():
    assert JointKinematics("x") != MocapPose("x")
    assert len({JointKinematics("x"), MocapPose("x"), ActuatorActivation("x"), MocapPose("x")}) == 3
