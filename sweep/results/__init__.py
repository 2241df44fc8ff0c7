"""WHAT was measured: outcomes, records, the ledger they are committed to."""

from sweep.results.failures import FailureGroup as FailureGroup
from sweep.results.failures import Failures as Failures
from sweep.results.header import AxisInfo as AxisInfo
from sweep.results.header import CellRow as CellRow
from sweep.results.header import MetricInfo as MetricInfo
from sweep.results.header import SweepHeader as SweepHeader
from sweep.results.ledger import Ledger as Ledger
from sweep.results.record import Outcome as Outcome
from sweep.results.record import RunRecord as RunRecord
from sweep.results.record import Status as Status
from sweep.results.record import StreamReceipt as StreamReceipt
