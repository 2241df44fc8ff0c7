"""Plan: a Manifest with one set of parameter values, checked against its model; all of an episode but its seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sweep.digest import text_id
from sweep.plan.clock import Grid
from sweep.plan.fields import Section
from sweep.plan.files import Files
from sweep.plan.identity import NOT_OF_THE_PLAN as NOT_OF_THE_PLAN
from sweep.plan.identity import changes, horizon_ticks, layout, plan_id, varied_layout, varied_plan_id
from sweep.plan.manifest import Manifest, Part, with_parts
from sweep.plan.parts import PartMemo

if TYPE_CHECKING:
    from sweep.runtime.instance import SimulationInstance


@dataclass(frozen=True, slots=True)
class ModelImage:
    """A compiled model as bytes, shared by all Plans that differ in numbers only.

    Attributes:
        source_id: digest of the source: XML, its assets, and what was changed at load.
        binary: the compiled model, readable by the same MuJoCo version.
        files: the source files by name, digested, for provenance.
    """

    source_id: str
    binary: bytes = field(repr=False, compare=False)
    files: tuple[tuple[str, str], ...] = field(default=(), repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything about an episode but its seed; immutable, and plain enough to travel.

    Attributes:
        plan_id: digest of the resolved manifest and of the source model.
        layout: digest of what lanes of one batch must share.
        manifest: the resolved manifest.
        grid: the physics grid.
        horizon: length of a run [ticks].
        model: the compiled model.
        files: what the controllers' files hold.
    """

    plan_id: str
    layout: str
    manifest: Manifest
    grid: Grid
    horizon: int
    model: ModelImage
    files: Files = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, manifest: Manifest, grid: Grid, model: ModelImage, files: Files, memo: PartMemo | None = None) -> Plan:
        """The Plan of a manifest that has been checked against its model.

        Args:
            manifest: what is simulated.
            grid: the physics grid.
            model: the compiled model.
            files: what the controllers' files hold.
            memo: what is known of the manifest's parts.
        """
        memo = memo or PartMemo()
        return cls(
            plan_id=plan_id(manifest, grid, model, files, memo),
            layout=layout(manifest, grid, model, files, memo),
            manifest=manifest,
            grid=grid,
            horizon=memo.of(horizon_ticks, "runtime", manifest.runtime, grid),
            model=model,
            files=files,
        )

    def varied(self, parts: Mapping[Part, Section], memo: PartMemo) -> Plan:
        """The Plan with other parts, which have been checked: fields that lanes may differ in have other values.

        Args:
            parts: what replaces which.
            memo: what is known of the manifest's parts.
        """
        changed = changes(self.manifest, parts)
        return replace(
            self,
            manifest=with_parts(self.manifest, parts),
            plan_id=varied_plan_id(self, changed, memo),
            layout=varied_layout(self, changed, memo),
        )

    def instantiate(self, seed: int | None = None) -> SimulationInstance:
        """A live, independent Instance of this Plan.

        Args:
            seed: the episode seed, 0 .. 2**64-1; the manifest's ``runtime.episode_seed`` by default.
        """
        from sweep.runtime.instance import SimulationInstance

        return SimulationInstance(self, seed)


def run_id(plan_id: str, seed: int) -> str:
    """The id of one run: digest of its plan and seed."""
    return text_id(f'["{plan_id}",{seed}]')  # the canonical JSON of both: a sweep has many runs
