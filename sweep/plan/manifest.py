"""The Manifest: the document a person writes, schema "3.3", parsed with every problem at once."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, PrivateAttr, ValidationError

from sweep.errors import InvalidInputError, Problem
from sweep.plan.claims import StateResource
from sweep.plan.clock import Grid
from sweep.plan.component import Capability, ModelAdditions
from sweep.plan.components import AnyComponent
from sweep.plan.custom import UserClassSpec
from sweep.plan.document import read_document
from sweep.plan.drivers import DriverSpec
from sweep.plan.fields import Identifier, Section
from sweep.plan.metric import MetricSpec
from sweep.plan.parts import PartMemo
from sweep.plan.problems import problems_of_validation, unknown_name
from sweep.plan.sections import ControllerSpec, ModelSpec, ReferenceSpec, RuntimeSpec

NAMED_PARTS = ("components", "controllers", "references", "metrics")
"""Sections whose parts have names and stand on their own."""


Part = tuple[str, ...]
"""Where a part is: ``("model",)``, ``("components", "enc")``."""


class Manifest(Section):
    """A whole document, checked as far as it can be without its model.

    Attributes:
        schema_: ``"3.3"``.
        model: the robot.
        runtime: time and seed.
        components: devices, drivers, interactions by id.
        controllers: controllers by id.
        references: reference trajectories by id.
        metrics: metrics by id.
    """

    schema_: Annotated[Literal["3.3"], Field(alias="schema")]
    model: ModelSpec
    runtime: RuntimeSpec = Field(default_factory=RuntimeSpec)
    components: dict[Identifier, AnyComponent] = Field(default_factory=dict)
    controllers: dict[Identifier, ControllerSpec] = Field(default_factory=dict)
    references: dict[Identifier, ReferenceSpec] = Field(default_factory=dict)
    metrics: dict[Identifier, MetricSpec] = Field(default_factory=dict)
    _folder: Path | None = PrivateAttr(default=None)

    @property
    def folder(self) -> Path | None:
        """Where relative model files are found from; None is the working directory."""
        private: dict[str, Any] = self.__pydantic_private__ or {}  # where pydantic itself looks last, after much else
        return private.get("_folder")

    def part(self, part: Part) -> Section | None:
        """A part; None where there is none."""
        there: Any = self
        for word in part:
            there = there.get(word) if isinstance(there, dict) else getattr(there, word, None)
        return there if isinstance(there, Section) else None

    def components_with(self, capability: Capability) -> dict[str, Any]:
        """The components of one capability, by id, in the document's order."""
        return {name: spec for name, spec in self.components.items() if spec.capability == capability}

    @property
    def user_classes(self) -> list[str]:
        """Every class of the user's own, ``module:Class``."""
        components = [spec.class_ for spec in self.components.values() if isinstance(spec, UserClassSpec)]
        return sorted({*components, *(spec.class_ for spec in self.controllers.values())})

    @property
    def additions(self) -> list[ModelAdditions]:
        """What components and metrics change of the model when it is loaded."""
        metrics = [metric.additions() for metric in self.metrics.values()]
        return [spec.additions(name) for name, spec in self.components.items()] + list(dict.fromkeys(metrics))

    @property
    def claimed(self) -> dict[StateResource, str]:
        """Who has authority over which resource."""
        return {claim.resource: claim.owner for name, spec in self.components.items() for claim in spec.claims(name)}

    def document(self) -> dict[str, Any]:
        """The manifest as plain data, defaults filled in, as :func:`load_manifest` reads it."""
        return self.model_dump(mode="json", by_alias=True)


def with_parts(manifest: Manifest, parts: Mapping[Part, Section]) -> Manifest:
    """The manifest with other parts; sections without one of them stay the same objects."""
    sections: dict[str, Any] = {}
    for (head, *name), part in parts.items():
        sections[head] = {**sections.get(head, getattr(manifest, head)), name[0]: part} if name else part
    return manifest.model_copy(update=sections)


def load_manifest(
    source: str | Path | Mapping[str, Any], *, folder: str | Path | None = None, memo: PartMemo | None = None
) -> Manifest:
    """Read a Manifest from a YAML file or a mapping.

    Args:
        source: a path, or the document as plain data; parts may be those of another manifest.
        folder: where relative model files are found from; the file's own folder by default.
        memo: what is known of such parts.

    Raises:
        InvalidInputError: every problem of the document, each with its path.
    """
    if isinstance(source, str | Path):
        path = Path(source)
        document: Mapping[str, Any] = read_document(path)
        subject, folder = str(path), folder or path.parent
    else:
        document, subject = source, "manifest"
    manifest, problems = _parse(document, folder, memo)
    if manifest is None or problems:
        raise InvalidInputError(subject, problems)
    return manifest


def problems_of(document: Mapping[str, Any], *, base_dir: str | Path | None = None) -> tuple[Problem, ...]:
    """All problems of a document that show without its model; none means :func:`load_manifest` accepts it."""
    return tuple(_parse(document, base_dir)[1])


def _parse(
    document: Mapping[str, Any], folder: str | Path | None, memo: PartMemo | None = None
) -> tuple[Manifest | None, list[Problem]]:
    broken: list[Problem] = []
    try:
        manifest = Manifest.model_validate(document)
    except ValidationError as error:
        broken = problems_of_validation(error, Manifest)
        rest = _without(document, broken)
        if rest is None:
            return None, broken
        manifest = rest
    manifest._folder = Path(folder) if isinstance(folder, str) else folder
    names = {problem.path.split(".")[1] for problem in broken}
    return manifest, [*broken, *problems_between(manifest, memo or PartMemo(), broken=names)]


def problems_between(manifest: Manifest, memo: PartMemo, broken: Collection[str] = ()) -> list[Problem]:
    """What is wrong with a manifest whose parts are right each: names, times and files that do not go together.

    Args:
        manifest: the document.
        memo: what is known of its parts.
        broken: names of parts that exist but were left out, since they have problems of their own.
    """
    return [
        *_reference_problems(manifest, broken),
        *_grid_problems(manifest, memo),
        *memo.of(_model_file_problems, "model", manifest.model, manifest.folder),
    ]


def _without(document: Mapping[str, Any], broken: list[Problem]) -> Manifest | None:
    """The manifest without the named parts that are broken, so that the others are checked too; None if that fails."""
    parts = [problem.path.split(".") for problem in broken]
    if any(len(part) < 2 or part[0] not in NAMED_PARTS for part in parts):
        return None
    rest = {key: dict(value) if key in NAMED_PARTS else value for key, value in document.items()}
    for section, name, *_ in parts:
        rest[section].pop(name, None)
    try:
        return Manifest.model_validate(rest)
    except ValidationError:
        return None


def _reference_problems(manifest: Manifest, broken: Collection[str]) -> list[Problem]:
    """Names of other parts of the document that do not exist, and two owners of one thing."""
    devices = list(manifest.components_with(Capability.DEVICE))
    drivers = manifest.components_with(Capability.ACTUATOR_DRIVER)
    references = list(manifest.references)
    problems = unknown_name("runtime.unbatched", "controller", manifest.runtime.unbatched, [*manifest.controllers])
    for name, controller in manifest.controllers.items():
        path = f"controllers.{name}"
        for field, kind, existing in (
            ("inputs", "device", devices),
            ("outputs", "driver", list(drivers)),
            ("references", "reference", references),
        ):
            asked = [part for part in getattr(controller, field) if part not in broken]
            problems += unknown_name(f"{path}.{field}", kind, asked, existing)
    observers = list(manifest.components_with(Capability.OBSERVER))
    for name, metric in manifest.metrics.items():
        if metric.observer is not None and metric.observer not in broken:
            problems += unknown_name(f"metrics.{name}.observer", "observer", [metric.observer], observers)
        asked = [part for part in (metric.reference,) if part is not None and part not in broken]
        problems += unknown_name(f"metrics.{name}.reference", "reference", asked, references)
        if asked and asked[0] in manifest.references and manifest.references[asked[0]].joints != metric.elements:
            found = ", ".join(manifest.references[asked[0]].joints)
            problems.append(Problem(f"metrics.{name}.joints", f"must be those of reference {asked[0]!r}: {found}"))
    return problems + _actuator_owner_problems(drivers)


def _actuator_owner_problems(drivers: Mapping[str, DriverSpec]) -> list[Problem]:
    owner: dict[str, str] = {}
    problems = []
    for name, driver in drivers.items():
        path = f"components.{name}"
        for actuator in driver.actuators:
            if actuator in owner:
                problems.append(Problem(f"{path}.actuators", f"{actuator!r} is driven by {owner[actuator]!r} already"))
            owner[actuator] = name
    return problems


def _grid_problems(manifest: Manifest, memo: PartMemo) -> list[Problem]:
    """Durations that do not fit the grid, as far as the document itself states the timestep."""
    grid = memo.of(stated_grid, "runtime", manifest.runtime)
    return [] if grid is None else grid_problems(manifest, grid, memo)


def stated_grid(_: str, runtime: RuntimeSpec) -> Grid | None:
    """The grid of the timestep that the document states; None leaves it to the model."""
    return None if runtime.timestep_s is None else Grid(runtime.timestep_s)


def grid_problems(manifest: Manifest, grid: Grid, memo: PartMemo) -> list[Problem]:
    """Every duration of the manifest that does not fit a grid."""
    of_components = memo.each(_component_grid_problems, manifest.components, grid)
    of_controllers = memo.each(_controller_grid_problems, manifest.controllers, grid)
    return [*chain(*of_components.values(), *of_controllers.values())]


def _component_grid_problems(name: str, component: AnyComponent, grid: Grid) -> list[Problem]:
    return component.grid_problems(grid, name)


def _controller_grid_problems(name: str, controller: ControllerSpec, grid: Grid) -> list[Problem]:
    return controller.grid_problems(grid, name)


def _model_file_problems(_: str, model: ModelSpec, folder: Path | None) -> list[Problem]:
    if model.file is None or model.package is not None:
        return []
    path = (folder or Path()) / model.file
    if path.is_file():
        return []
    there = sorted(p.name for p in path.parent.glob("*.xml")) if path.parent.is_dir() else []
    listed = f"; MJCF files there: {', '.join(there)}" if there else ""
    return [Problem("model.file", f"no such file: {path}{listed}")]
