"""What devices share that read sensors of MuJoCo: sensordata, and noise streams opened one by one."""

from __future__ import annotations

from collections.abc import Sequence

from sweep.errors import Problem
from sweep.plan.mount import Mounted
from sweep.plan.problems import unknown_name
from sweep.plan.sensors import SensorSpec
from sweep.plan.streams import stream_key
from sweep.runtime.block import BlockView
from sweep.runtime.components.device import Device, Floats, Ints
from sweep.runtime.context import BatchContext, per_lane_values
from sweep.runtime.imperfection import Pipeline
from sweep.runtime.model_index import ModelIndex
from sweep.runtime.noise import LaneStream, NoiseKind
from sweep.runtime.reads import Reads
from sweep.runtime.sample_steps import Step


class Sensor(Device):
    """A device that shows what sensors of MuJoCo read, which its spec adds to the model.

    Only the streams that a sensor draws from exist: what is not given costs nothing and has no receipt.

    Args:
        name: the component's id.
        specs: its spec in each lane.
        context: the batch.
        reads: the level that its sensors belong to.
        width: numbers per sample; those of its sensors by default.
    """

    def __init__(
        self, name: str, specs: Sequence[SensorSpec], context: BatchContext, reads: Reads, *, width: int | None = None
    ) -> None:
        self._columns = context.index.sensor_columns(sensor.name for sensor in specs[0].additions(name).sensors)
        super().__init__(name, specs, context, len(self._columns) if width is None else width)
        self.reads = reads
        self.streams, self.episode_streams = {}, {}
        self.periods_s: Sequence[float] = [spec.period_s for spec in specs]
        self.noise_scale: Floats = per_lane_values(specs, lambda spec: spec.noise_scale)[:, None]
        self.first_draw = self._first
        self._seeds = context.seeds
        self._parts: list[tuple[slice, Step]] = []

    def sample(self, view: BlockView, ticks: Ints, draws: Ints) -> Floats:
        """See :meth:`Device.sample`."""
        return self.imperfect(self.measure(view, ticks), draws)

    def measure(self, view: BlockView, ticks: Ints) -> Floats:
        """The truth at boundaries ``ticks (lanes or 1, samples)``, as a fresh array ``(lanes, samples, width)``."""
        return view.sensed(self.reads, ticks, self._columns)

    def imperfect(self, values: Floats, draws: Ints) -> Floats:
        """The truth with the sensor's imperfections; ``draws (lanes or 1, samples)`` are acquisition numbers."""
        for columns, step in self._parts:
            step(values[:, :, columns], draws)
        return values

    def open(self, stream: str, width: int, kind: NoiseKind = "normal") -> LaneStream:
        """Begin to use a noise stream with a draw for each sample."""
        self.streams[stream] = LaneStream(self._keys(stream), width, kind)
        return self.streams[stream]

    def open_episode(self, stream: str, width: int) -> Floats:
        """The only draw of an episode's stream, ``(lanes, width)``."""
        self.episode_streams[stream] = LaneStream(self._keys(stream), width)
        drawn: Floats = self.episode_streams[stream].span(0, 1)[:, 0]
        return drawn

    def _keys(self, stream: str) -> list[int]:
        return [stream_key(seed, self.name, stream) for seed in self._seeds]


class AxesSensor(Sensor):
    """A sensor of three-axis quantities, each a field of its spec that says what is wrong with it."""

    def __init__(self, name: str, specs: Sequence[SensorSpec], context: BatchContext, reads: Reads,
                 parts: Sequence[str]) -> None:  # fmt: skip
        super().__init__(name, specs, context, reads)
        for first, part in enumerate(parts):
            pipeline = Pipeline(part, [getattr(spec, part) for spec in specs], 3, self)
            self._parts.append((slice(3 * first, 3 * first + 3), pipeline))


def mount_problems(spec: Mounted, index: ModelIndex, path: str) -> list[Problem]:
    """Names of a site or body that the model does not have."""
    if spec.site is not None:
        return named_problems(f"{path}.site", "site", spec.site, index)
    return named_problems(f"{path}.body", "body", spec.body, index)


def named_problems(path: str, kind: str, asked: str | None, index: ModelIndex) -> list[Problem]:
    """The problem of a name that the model does not have among its elements of a kind."""
    return [] if asked is None else unknown_name(path, kind, [asked], [n for n in index.names(kind) if n])
