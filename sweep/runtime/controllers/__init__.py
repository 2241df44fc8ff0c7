"""Controllers that ship with the scenes."""

from sweep.runtime.controllers.joint_pd import JointPd as JointPd
from sweep.runtime.controllers.state_feedback import StateFeedback as StateFeedback
