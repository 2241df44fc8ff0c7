"""WHAT one episode is: frozen values and their arithmetic."""

from sweep.errors import GridError as GridError
from sweep.errors import InvalidElapsedError as InvalidElapsedError
from sweep.errors import InvalidIntervalError as InvalidIntervalError
from sweep.errors import InvalidPhaseError as InvalidPhaseError
from sweep.plan.clock import EpisodeTime as EpisodeTime
from sweep.plan.clock import Grid as Grid
from sweep.plan.clock import GridSchedule as GridSchedule
from sweep.plan.clock import SessionTime as SessionTime
from sweep.plan.fixed_rate import FixedRateSample as FixedRateSample
from sweep.plan.fixed_rate import FixedRateSchedule as FixedRateSchedule
from sweep.plan.manifest import Manifest as Manifest
from sweep.plan.manifest import load_manifest as load_manifest
from sweep.plan.plan import Plan as Plan
from sweep.plan.streams import stream_key as stream_key
