"""The checks of `doctor`: each looks at one thing that a sweep needs."""

from __future__ import annotations

import os
import platform
import shutil
import sqlite3
import sys
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import closing
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from sweep.arguments import Command
from sweep.cli.doctor import Finding, Level

if TYPE_CHECKING:
    from packaging.requirements import Requirement

    from sweep.design.spec import SweepSpec
    from sweep.execution.preflight import NodeReport
    from sweep.plan.plan import Plan
    from sweep.tracking.destination import Destination

# What may be broken is imported where it is looked at.

OLDEST_PYTHON = (3, 11)
PACKAGE = "fibril-sweep"
NEEDED = ("mujoco", "numpy", "hydra-core", "ray", "mlflow")
LEAST_FREE = 2**30
"""Free disk space below which a sweep is warned of [bytes]; a ledger takes about 2 kB a run, traces much more."""

LEAST_SHARED = 2**28
"""What Ray wants of /dev/shm for its objects [bytes]; a container often has 64 MB."""

SERVER_S = 3.0


def packages() -> Iterator[Finding]:
    """Python and the packages, as far as their versions are declared and installed."""
    version = platform.python_version()
    if sys.version_info < OLDEST_PYTHON:
        yield Finding("problem", "python", version, f"Python {OLDEST_PYTHON[0]}.{OLDEST_PYTHON[1]} or newer is needed")
    else:
        yield Finding("ok", "python", f"{version}, {sys.executable}")
    for name in NEEDED:
        wanted = _requirement(name)
        advice = f"type: pip install '{wanted}'"
        try:
            found = metadata.version(name)
        except metadata.PackageNotFoundError:
            yield Finding("problem", name, "is not installed", advice)
            continue
        fits = wanted.specifier.contains(found, prereleases=True)
        yield Finding("ok", name, found) if fits else Finding("problem", name, f"{found} does not fit", advice)


def engine() -> Sequence[Finding]:
    """Nothing if MuJoCo and our runtime can be loaded; they raise if not."""
    import sweep.runtime  # noqa: F401

    return []


def bit_class() -> Sequence[Finding]:
    """What decides the bits of a run on this machine."""
    from sweep.execution.node import node_fingerprint

    found = node_fingerprint()
    return [Finding("ok", "bits", f"class {found['bit_class']}: {found['machine']}, {found['features']}")]


def machine() -> Iterator[Finding]:
    """Cores, threads and shared memory."""
    from sweep.execution.executor import cores
    from sweep.execution.words import counted, in_bytes

    usable, there = cores(), os.cpu_count() or 1
    limited = f" of {there}: this process may use no more" if usable < there else ""
    yield Finding("ok", "cores", f"{counted(usable, 'core')}{limited}; each worker runs on one thread")
    shared = Path("/dev/shm")
    if shared.is_dir() and (size := shutil.disk_usage(shared).total) < LEAST_SHARED:
        yield Finding(
            "warning",
            "memory",
            f"/dev/shm has {in_bytes(size)}, so Ray keeps its objects on disk",
            "a container gets more with: docker run --shm-size=1g",
        )


def git() -> Sequence[Finding]:
    """What provenance will say of the working directory."""
    from analysis.source import short_git
    from sweep.execution.provenance import git_state

    state = git_state()
    text = "no repository here: a sweep records no commit" if state is None else short_git(state)
    return [Finding("ok", "git", text)]


class Asked:
    """The sweep that was asked about.

    Args:
        spec: what was asked for.
        plans: its Plans; empty if they cannot be made.
    """

    def __init__(self, spec: SweepSpec, plans: Sequence[Plan]) -> None:
        self.spec = spec
        self.plans = plans

    @property
    def address(self) -> str | None:
        """The existing cluster that would be used."""
        return self.spec.executor.address or os.environ.get("RAY_ADDRESS") or None


def asked_for(command: Command, found: list[Asked]) -> Iterator[Finding]:
    """Whether the configuration can be read and planned; appends to ``found`` what it asks for.

    Nodes are asked about the classes of a sweep, so a cluster, or words on the command line, have it planned.
    """
    from sweep.config.load import load_spec

    spec = load_spec(command.overrides, config_dirs=command.config_dirs, config_name=command.config_name)
    asked = Asked(spec, ())
    found.append(asked)
    if not command.overrides and asked.address is None:
        return
    from sweep.execution.planning import plan_sweep

    planned = plan_sweep(spec)
    asked.plans = list({run.plan.plan_id: run.plan for run in planned.runs}.values())
    yield Finding("ok", "sweep", f"{planned.header.name} can be planned: {len(planned.runs)} runs")


def disk(asked: Asked) -> Sequence[Finding]:
    """Whether the folder of sweeps can be written, and has room."""
    from sweep.execution.words import in_bytes

    output = Path(asked.spec.output).absolute()
    place = next(folder for folder in (output, *output.parents) if folder.exists())
    if not place.is_dir() or not os.access(place, os.W_OK | os.X_OK):
        what = "is no folder" if not place.is_dir() else "cannot be written"
        return [Finding("problem", "disk", f"{place} {what}", "name another folder: output=/path/to/sweeps")]
    free = shutil.disk_usage(place).free
    text = f"{in_bytes(free)} free for {output}"
    if free < LEAST_FREE:
        return [Finding("warning", "disk", text, "make room, or name another folder: output=/path/to/sweeps")]
    return [Finding("ok", "disk", text)]


def mlflow(asked: Asked) -> Sequence[Finding]:
    """Whether MLflow's server answers, or its database can be written."""
    from sweep.run import mlflow_of
    from sweep.tracking.destination import sqlite_path

    destination = mlflow_of(asked.spec)
    if destination is None:
        return [Finding("ok", "tracking", "off: runs are in the ledger alone")]
    if destination.uri.startswith(("http://", "https://")):
        return [_server(destination)]
    if (path := sqlite_path(destination.uri)) is not None:
        return [_database(path)]
    return [Finding("ok", "tracking", f"{destination.shown}, not looked at")]


def ray(asked: Asked) -> Iterator[Finding]:
    """Whether the cluster can be reached, and every node of it can work."""
    if asked.address is None:
        yield Finding("ok", "cluster", "none is named; Ray is started on this machine where that is worth it")
        return
    from sweep.execution.ray_executor import inspected

    remarks, reports = inspected(asked.address, asked.plans)
    yield from (_node(report, reports) for report in reports)
    yield from (Finding("warning", "cluster", remark) for remark in remarks)


def _node(report: NodeReport, others: Sequence[NodeReport]) -> Finding:
    from sweep.execution.words import counted

    subject = f"node {report.name}"
    if not report.fits:
        level: Level = "warning" if any(other.fits for other in others) else "problem"
        return Finding(level, subject, "; ".join(report.problems), "it is left out until it has what is here")
    found = report.fingerprint
    versions = ", ".join(f"{name} {found[name]}" for name in ("python", "mujoco", "numpy"))
    return Finding("ok", subject, f"{counted(report.cores, 'core')}, {versions}, bit class {found['bit_class']}")


def _server(destination: Destination) -> Finding:
    from sweep.tracking.advice import reason

    try:
        with urllib.request.urlopen(f"{destination.uri.rstrip('/')}/health", timeout=SERVER_S):
            return Finding("ok", "tracking", f"MLflow answers at {destination.shown}")
    except (OSError, ValueError) as error:
        advice = (
            "runs stay in the ledger until `python -m sweep sync DIR` sends them; tracking.uri= names another MLflow"
        )
        return Finding("warning", "tracking", f"MLflow at {destination.shown}: {reason(error)}", advice)


def _database(path: Path) -> Finding:
    advice = "name another: tracking.uri=sqlite:////path/mlflow.db, or tracking=none"
    place = next(folder for folder in (path.parent, *path.parent.parents) if folder.exists())
    if not os.access(place, os.W_OK | os.X_OK) or (path.exists() and not os.access(path, os.W_OK)):
        return Finding("problem", "tracking", f"{path} cannot be written", advice)
    if not path.exists():
        return Finding("ok", "tracking", f"{path}, which the first sweep makes")
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
            database.execute("SELECT version_num FROM alembic_version").fetchone()
    except sqlite3.Error as error:
        return Finding(
            "problem", "tracking", f"{path} is no database of MLflow's ({error})", f"move it away, or {advice}"
        )
    return Finding("ok", "tracking", str(path))


def _requirement(name: str) -> Requirement:
    """What this package asks of another one; anything, where this package is not installed."""
    from packaging.requirements import Requirement

    try:
        declared = [Requirement(text) for text in metadata.requires(PACKAGE) or ()]
    except metadata.PackageNotFoundError:
        declared = []
    return next((found for found in declared if found.name == name and found.marker is None), Requirement(name))
