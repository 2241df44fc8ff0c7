"""WHICH points are simulated: axes, cells, seeds and runs, as plain values."""

from sweep.design.axis import Axis as Axis
from sweep.design.axis import Value as Value
from sweep.design.baseline import baseline_cell as baseline_cell
from sweep.design.cell import Cell as Cell
from sweep.design.expand import Design as Design
from sweep.design.expand import exclusion_problems as exclusion_problems
from sweep.design.expand import expand as expand
from sweep.design.interval import Interval as Interval
from sweep.design.points import points_problems as points_problems
from sweep.design.run import Replicate as Replicate
from sweep.design.run import Run as Run
from sweep.design.run import distinct_runs as distinct_runs
from sweep.design.run import order_runs as order_runs
from sweep.design.run import replicates as replicates
from sweep.design.run import run_id as run_id
from sweep.design.spec import DesignSpec as DesignSpec
from sweep.design.spec import ExecutorSpec as ExecutorSpec
from sweep.design.spec import SweepSpec as SweepSpec
from sweep.design.spec import TrackingSpec as TrackingSpec
