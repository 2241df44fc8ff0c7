"""What each verb does."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from rich.console import Console

from sweep.arguments import Command
from sweep.cli.progress import ProgressDisplay
from sweep.config.load import load_spec, show_config
from sweep.design.spec import SweepSpec
from sweep.digest import canonical_json
from sweep.errors import InvalidInputError, Problem
from sweep.execution.planning import PlannedSweep, plan_sweep
from sweep.results import Ledger, Status
from sweep.tracking.process import SyncerProcess

SOME_FAILED = 1
CANCELLED = 130
SYNC_PATIENCE_S = 120.0
"""How long a finished sweep waits for MLflow [s]; what is missing then, `sync` sends."""

_GOOD = (Status.COMPLETED, Status.ENDED)


def run(command: Command) -> int:
    """Run a sweep and print its table."""
    if command.show_config:
        sys.stdout.write(
            show_config(command.overrides, config_dirs=command.config_dirs, config_name=command.config_name)
        )
        return 0
    from sweep.run import execute

    spec, planned = _planned(command)
    out, progress = _console(), _console(stderr=True)
    if not command.is_quiet:
        _say(progress, _headline(planned, spec))
    with ProgressDisplay(progress, quiet=command.is_quiet) as display:
        result = execute(planned, spec, display.show)
    _print_comparison(out, result.comparison())
    if not spec.swept and not command.is_quiet:
        _print_axes(out, spec)
    if not command.is_quiet:
        _say(progress, _next_steps(result, spec))
    if result.syncer is not None:
        _wait_for_mlflow(result.syncer, progress, quiet=command.is_quiet)
    if result.report.interrupted:
        _say(progress, f"stopped with {result.report.pending} runs to go; the same command goes on with them")
        return CANCELLED
    return 0 if set(result.report.statuses) <= {status.value for status in _GOOD} else SOME_FAILED


def plan(command: Command) -> int:
    """Say what a run would do; nothing is written."""
    from sweep.cli.plan import describe, plan_document

    spec, planned = _planned(command)
    document = plan_document(planned, spec)
    if command.options.get("json"):
        sys.stdout.write(canonical_json(document) + "\n")
        return 0
    out = _console()
    for part in describe(document):
        out.print(part, highlight=False)
    return 0


def status(command: Command) -> int:
    """Say how far a sweep is."""
    from sweep.cli.status import status_document, status_lines

    with Ledger.open(command.positionals["dir"], read_only=True) as ledger:
        document = status_document(ledger)
    if command.options.get("json"):
        sys.stdout.write(canonical_json(document) + "\n")
    else:
        _say(_console(), "\n".join(status_lines(document)))
    return 0 if set(document["outcomes"]) <= {status.value for status in _GOOD} else SOME_FAILED


def replay(command: Command) -> int:
    """Run one run again, alone."""
    from sweep.cli.replay import replay as implementation

    place = Path(_text(command, "dir") or "sweeps")
    level: Any = _text(command, "trace") or ("full" if command.options.get("trace") else None)
    lines, same = implementation(
        place,
        command.positionals["run_id"],
        plot=command.options.get("plot"),
        trace=level,
        strict=command.options.get("strict") is True,
    )
    _say(_console(), "\n".join(lines))
    return 0 if same else SOME_FAILED


def open_(command: Command) -> int:
    """Run a failure capsule again, and say what a person needs to see."""
    from sweep.cli.open import opened

    told, same = opened(Path(command.positionals["capsule"]), _text(command, "tick"))
    out = _console()
    for part in told:
        if isinstance(part, str):
            _say(out, part)
        else:
            out.print(part, markup=False, highlight=False)
    return 0 if same else SOME_FAILED


def compare(command: Command) -> int:
    """Compare the cells of a sweep, or two sweeps."""
    from analysis import compare as implementation
    from sweep.run import recompute

    folders = command.positionals
    pairs = command.options.get("baseline")
    baseline = " ".join(pairs) if isinstance(pairs, list) else None
    if baseline is not None and "dir2" in folders:
        raise InvalidInputError(
            "compare", [Problem("--baseline", "goes with one sweep: the first of two is the baseline")]
        )
    comparison = implementation(folders["dir"], folders.get("dir2"), baseline, recompute=recompute)
    _print_comparison(_console(), comparison)
    return 0


def components(command: Command) -> int:
    """Say what components there are, or what one is told."""
    from sweep.cli.components import described, listed

    name = command.positionals.get("name")
    sys.stdout.write("\n".join(listed() if name is None else described(name)) + "\n")
    return 0


def schema(command: Command) -> int:
    """Print the JSON Schema of a manifest or of a scene's file."""
    from sweep.cli.schema import manifest_schema, scene_schema

    document = scene_schema() if command.options.get("scene") else manifest_schema()
    sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
    return 0


def sync(command: Command) -> int:
    """Mirror a sweep to MLflow again, and wait for it."""
    from sweep.tracking.process import artifact_root, start_syncer

    with Ledger.open(command.positionals["dir"], read_only=True) as ledger:
        folder, scene = ledger.path.parent, ledger.header.scene
    uri = _uri(command, folder.parent)
    experiment = os.environ.get("MLFLOW_EXPERIMENT_NAME") or scene
    syncer = start_syncer(folder, uri, experiment, artifacts=artifact_root(uri, folder.parent))
    code = syncer.wait()
    _say(_console(), syncer.describe())
    return SOME_FAILED if code else 0


def ui(command: Command) -> int:
    """Serve MLflow's pages on the loopback interface until Ctrl-C."""
    from sweep.tracking.process import child_environment

    uri = _uri(command, Path("sweeps").absolute())
    port = _text(command, "port") or "5000"
    if not port.isdigit() or not 1 <= int(port) <= 65535:
        raise InvalidInputError("ui", [Problem("--port", f"is a number from 1 to 65535, not {port!r}")])
    if uri.startswith(("http://", "https://")):
        _say(_console(), f"MLflow is served there already: {uri}")
        return 0
    database = Path(uri.removeprefix("sqlite:///"))
    if uri.startswith("sqlite:///") and not database.is_file():
        raise InvalidInputError("ui", [Problem("", f"there is no {database} yet; a sweep makes it (see --uri)")])
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", int(port))) == 0:
            raise InvalidInputError("ui", [Problem("--port", f"{port} is in use; name another")])
    words = [sys.executable, "-m", "mlflow", "server", "--backend-store-uri", uri]
    words += ["--host", "127.0.0.1", "--port", port, "--workers", "1"]
    _say(_console(), f"http://127.0.0.1:{port}  (starting takes ten seconds or so; Ctrl-C ends it)")
    # One worker, no job runner: more of them make a local server slower and six times as large.
    environment = {**child_environment(os.environ), "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
    server = subprocess.Popen(words, env=environment, start_new_session=True)
    # MLflow's server is several processes: whoever ends this one ends them all.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        return server.wait()
    finally:
        with suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGTERM)


ANSWERS: Mapping[str, Callable[[Command], int]] = {
    "run": run,
    "plan": plan,
    "status": status,
    "replay": replay,
    "open": open_,
    "compare": compare,
    "components": components,
    "schema": schema,
    "sync": sync,
    "ui": ui,
}


def _planned(command: Command) -> tuple[SweepSpec, PlannedSweep]:
    spec = load_spec(command.overrides, config_dirs=command.config_dirs, config_name=command.config_name)
    return spec, plan_sweep(spec)


def _headline(planned: PlannedSweep, spec: SweepSpec) -> str:
    from sweep.cli.plan import counted

    return (
        f"{planned.header.name}: {counted(len(planned.cells), 'cell')} × {counted(len(spec.seeds), 'seed')}, "
        f"{planned.base.manifest.runtime.duration_s:g} s each at {float(planned.base.grid.timestep) * 1e3:g} ms steps"
    )


def _next_steps(result: Any, spec: SweepSpec) -> str:
    folder = os.path.relpath(result.folder)
    first = result.planned.runs[0].run_id[:8]
    lines = [
        f"{result.report.ran} runs in {result.report.elapsed_s:.1f} s, {result.report.reused} known before "
        f"({result.report.reason})",
        f"results: {folder}",
        f"one run again: python -m sweep replay {first} --dir {folder} --plot",
    ]
    if result.report.remark:
        lines.append(result.report.remark)
    if result.syncer is not None:
        where = "" if spec.output == "sweeps" else f" --uri {result.syncer.uri}"
        lines.append(f"browse: python -m sweep ui{where}")
    return "\n".join(lines)


def _print_comparison(out: Console, comparison: Any) -> None:
    from analysis import render

    out.print(render(comparison, width=out.width if out.is_terminal else 80))


def _print_axes(out: Console, spec: SweepSpec) -> None:
    from sweep.cli.plan import axes_table

    out.print(axes_table(spec))


def _wait_for_mlflow(syncer: SyncerProcess, progress: Console, *, quiet: bool) -> None:
    """Wait until MLflow has everything; it works in a process of its own and may be left alone."""
    try:
        if syncer.wait(1.0) is None and not quiet:
            _say(progress, "sending to MLflow; Ctrl-C leaves it to itself")
        done = syncer.wait(SYNC_PATIENCE_S) == 0
    except KeyboardInterrupt:
        done = False
    if not done or not quiet:
        _say(progress, syncer.describe())


def _uri(command: Command, output: Path) -> str:
    from sweep.tracking.process import resolve_uri

    return resolve_uri(_text(command, "uri"), os.environ.get("MLFLOW_TRACKING_URI"), output)


def _text(command: Command, option: str) -> str | None:
    value = command.options.get(option)
    return value if isinstance(value, str) else None


def _console(*, stderr: bool = False) -> Console:
    return Console(stderr=stderr, width=None if sys.stdout.isatty() else 100)


def _say(console: Console, text: str) -> None:
    console.print(text, markup=False, highlight=False, soft_wrap=True)
