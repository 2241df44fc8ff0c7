"""HOW episodes run.  The only importer of MuJoCo."""

from sweep.runtime.batch import InstanceBatch as InstanceBatch
from sweep.runtime.controller import ControllerSetup as ControllerSetup
from sweep.runtime.controller import ControlStep as ControlStep
from sweep.runtime.controller import per_lane as per_lane
from sweep.runtime.fault import EpisodeEnd as EpisodeEnd
from sweep.runtime.fault import Fault as Fault
from sweep.runtime.instance import SimulationInstance as SimulationInstance
from sweep.runtime.noise import normals as normals
from sweep.runtime.noise import raw_words as raw_words
from sweep.runtime.noise import uniforms as uniforms
from sweep.runtime.output import DeviceOutput as DeviceOutput
from sweep.runtime.phases import Phase as Phase
from sweep.runtime.resolve import Resolver as Resolver
from sweep.runtime.resolve import resolve_plan as resolve_plan
from sweep.runtime.snapshot import SimulationSnapshot as SimulationSnapshot
from sweep.runtime.trace import TraceEvent as TraceEvent
