"""A capsule as one file, a zip archive that any tool opens.

::

    capsule.json        manifest, seed, outcome, trace digest, committed inputs, versions, and what the sweep knew
    model.mjb           the compiled model, for the same MuJoCo
    source/...          the model's own files, for another one
    files/...           what controllers read, by controller and name
    code/...            the user's controllers
    states.npy          the last boundaries: time, qpos, qvel, act
    controls.npy        what was applied in the step that led to each

Replaying one runs the code that it carries: open those of people you trust.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.errors import CapsuleError
from sweep.plan.plan import ModelImage
from sweep.results.record import Outcome, Status
from sweep.runtime.hosting.capsule import Capsule, ModelSource
from sweep.runtime.hosting.recent import BoundaryHistory, ColumnNames
from sweep.runtime.ingress.recorded_input import RecordedInput

Floats = NDArray[np.float64]

SUFFIX = ".capsule"
FORMAT = 1
LISTED = 8
"""How many neighbours a message names."""

_PLAIN = ("plan_id", "manifest", "timestep", "seed", "trace_digest", "versions", "code_id", "cell", "parameters")
"""Attributes of a Capsule that stand in ``capsule.json`` as they are."""

_EPOCH = (1980, 1, 1, 0, 0, 0)
"""Every entry's date: a capsule says nothing of when it was written, and the same run gives the same bytes."""

_FAST = 1
"""Level of compression: meshes gain little from more, and a sweep waits for it."""

_BROKEN = (zipfile.BadZipFile, zlib.error, OSError, EOFError, LookupError, ValueError, TypeError, AttributeError,
           RuntimeError)  # fmt: skip
"""What reading a file that is torn or something else altogether may raise."""


def write_capsule(capsule: Capsule, path: Path | str) -> Path:
    """Write a capsule, whole or not at all.

    Raises:
        CapsuleError: the file cannot be written.
    """
    path = Path(path)
    draft = path.with_name(path.name + ".draft")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(draft, "w") as archive:
            for name, data in _entries(capsule):
                archive.writestr(zipfile.ZipInfo(name, _EPOCH), data, zipfile.ZIP_DEFLATED, _FAST)
        draft.replace(path)
    except OSError as error:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise CapsuleError(f"{path} cannot be written: {error.strerror}.") from error
    return path


def load_capsule(path: Path | str) -> Capsule:
    """Read a capsule.

    Raises:
        CapsuleError: there is no such file, it is none of ours or broken, or a later version wrote it.
    """
    path = Path(path)
    if not path.is_file():
        raise CapsuleError(f"There is no file {path}. {_others(path)}")
    try:
        with zipfile.ZipFile(path) as archive:
            document = json.loads(archive.read("capsule.json"))
            if document["format"] != FORMAT:
                later = f"{path} has format {document['format']!r}, this version reads {FORMAT}"
                raise CapsuleError(f"{later}; install the version that wrote it.")
            return _read(archive, document)
    except _BROKEN as error:
        what = error.args[0] if error.args else type(error).__name__
        raise CapsuleError(f"{path} is no capsule, or a broken one: {what}") from error


def _entries(capsule: Capsule) -> Iterator[tuple[str, bytes]]:
    yield "capsule.json", json.dumps(_document(capsule), indent=1, allow_nan=False).encode()
    yield "model.mjb", capsule.model.binary
    if capsule.history is not None:
        yield "states.npy", _npy(capsule.history.states)
        yield "controls.npy", _npy(capsule.history.controls)
    groups = {"code": capsule.code, "source": capsule.source.files if capsule.source is not None else {}}
    groups |= {f"files/{name}": own for name, own in capsule.files.items()}
    for folder, files in groups.items():
        for name in sorted(files):
            yield f"{folder}/{name}", files[name]


def _document(capsule: Capsule) -> dict[str, Any]:
    return {
        "format": FORMAT,
        **{name: getattr(capsule, name) for name in _PLAIN},
        "outcome": asdict(capsule.outcome),
        "inputs": [recorded.to_json() for recorded in capsule.inputs],
        "model": {"source_id": capsule.model.source_id, "files": capsule.model.files},
        "files": sorted(capsule.files),
        "source": None if capsule.source is None else capsule.source.main,
        "history": None if capsule.history is None else _described(capsule.history),
    }


def _read(archive: zipfile.ZipFile, document: dict[str, Any]) -> Capsule:
    model, outcome = document["model"], document["outcome"]
    files = {name: _folder(archive, f"files/{name}") for name in document["files"]}
    main = document["source"]
    return Capsule(
        **{name: document[name] for name in _PLAIN},
        model=ModelImage(model["source_id"], archive.read("model.mjb"), tuple((n, d) for n, d in model["files"])),
        source=None if main is None else ModelSource(main=main, files=_folder(archive, "source")),
        files=files,
        outcome=Outcome(**{**outcome, "status": Status(outcome["status"])}),
        inputs=tuple(RecordedInput.from_json(recorded) for recorded in document["inputs"]),
        history=_history(archive, document["history"]),
        code=_folder(archive, "code"),
    )


def _folder(archive: zipfile.ZipFile, folder: str) -> dict[str, bytes]:
    start = f"{folder}/"
    return {n.removeprefix(start): archive.read(n) for n in archive.namelist() if n.startswith(start)}


def _described(history: BoundaryHistory) -> dict[str, Any]:
    unfinished = history.unfinished
    return {
        "first_tick": history.first_tick,
        "names": asdict(history.names),
        # A command may be no number, which JSON has no word for.
        "unfinished": None if unfinished is None else [value.hex() for value in unfinished.tolist()],
    }


def _history(archive: zipfile.ZipFile, described: dict[str, Any] | None) -> BoundaryHistory | None:
    if described is None:
        return None
    states, controls = (np.load(io.BytesIO(archive.read(f"{name}.npy"))) for name in ("states", "controls"))
    unfinished = described["unfinished"]
    return BoundaryHistory(
        first_tick=described["first_tick"],
        states=states,
        controls=controls,
        unfinished=None if unfinished is None else np.array([float.fromhex(value) for value in unfinished]),
        names=ColumnNames(**{part: tuple(names) for part, names in described["names"].items()}),
    )


def _npy(rows: Floats) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, rows)
    return buffer.getvalue()


def _others(path: Path) -> str:
    there = sorted(other.name for other in path.parent.glob(f"*{SUFFIX}")) if path.parent.is_dir() else []
    if not there:
        return f"There is no capsule in {path.parent}; `status DIR` names those of a sweep."
    more = f" and {len(there) - LISTED} more" if len(there) > LISTED else ""
    return f"Capsules in {path.parent}: {', '.join(there[:LISTED])}{more}"
