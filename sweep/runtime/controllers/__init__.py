"""Controllers that ship with the package: those of the scenes, and networks."""

from sweep.runtime.controllers.joint_pd import JointPd as JointPd
from sweep.runtime.controllers.numpy_policy import NumpyPolicy as NumpyPolicy
from sweep.runtime.controllers.stance import Stance as Stance
from sweep.runtime.controllers.state_feedback import StateFeedback as StateFeedback
from sweep.runtime.controllers.torch_policy import TorchPolicy as TorchPolicy
