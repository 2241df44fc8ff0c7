"""SweepFolder: a sweep's place on disk, named by what it is; made complete before its first run."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import yaml

from sweep.design.spec import SweepSpec
from sweep.errors import LedgerError
from sweep.execution.code import is_installed, user_sources
from sweep.execution.planning import PlannedSweep
from sweep.plan.manifest import Manifest
from sweep.plan.plan import Plan
from sweep.results import Ledger
from sweep.results.ledger import LEDGER_NAME
from sweep.runtime.model import model_path, source_files

MANIFEST_NAME = "manifest.yaml"
MODEL_NAME = "model"
CODE_NAME = "code"
FILES_NAME = "files"


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepFolder:
    """One sweep on disk: ``manifest.yaml``, ``model/``, ``files/``, ``code/``, ``ledger.sqlite``, and what runs leave:
    ``traces/`` and ``capsules/``.

    Attributes:
        path: the folder.
        is_new: whether this call made it; otherwise the sweep is extended or resumed.
    """

    path: Path
    is_new: bool = False

    @property
    def ledger(self) -> Path:
        """The ledger's file."""
        return self.path / LEDGER_NAME

    @classmethod
    def of(cls, planned: PlannedSweep, spec: SweepSpec) -> SweepFolder:
        """Where the sweep is, or would be; nothing is written."""
        return cls(path=Path(spec.output).resolve() / planned.header.name)

    @classmethod
    def prepare(cls, planned: PlannedSweep, spec: SweepSpec) -> SweepFolder:
        """Make the sweep's folder, or open the one there is to extend it.

        The ledger comes last: a folder that has one is complete.

        Raises:
            LedgerError: it cannot be written, or holds another sweep.
        """
        folder = cls.of(planned, spec)
        with _writing(folder.path):
            if not folder.ledger.is_file():
                folder._fill(planned)
                if folder._create(planned):
                    return cls(path=folder.path, is_new=True)
        with Ledger.open(folder.ledger, read_only=True) as ledger:
            there, asked = ledger.header, planned.header
        if (there.model_id, there.code_id) != (asked.model_id, asked.code_id):
            raise LedgerError(f"{folder.path} holds another sweep; give this one another name with name=.")
        with _writing(folder.path):
            folder._write_files(planned)  # cells that were added may name further ones
        return folder

    def _create(self, planned: PlannedSweep) -> bool:
        try:
            Ledger.create(self.ledger, planned.header).close()
        except LedgerError:
            if not self.ledger.is_file():
                raise
            return False  # another driver made the same sweep a moment ago
        return True

    def _fill(self, planned: PlannedSweep) -> None:
        self.path.mkdir(parents=True, exist_ok=True)
        document = planned.base.manifest.document()
        if (place := self._copy_models(planned)) is not None:
            document["model"]["file"] = place
        for controller in document["controllers"].values():
            controller["files"] = {role: kept_place(place) for role, place in controller["files"].items()}
        self._write_files(planned)
        self._copy_code(planned)
        # Through JSON: plain data without tuples, or YAML's references between parts that are one object.
        plain = json.loads(json.dumps(document))
        _write(self.path / MANIFEST_NAME, yaml.safe_dump(plain, sort_keys=False, allow_unicode=True))

    def _copy_models(self, planned: PlannedSweep) -> str | None:
        """Copy the user's own model files, each under its place relative to the others.

        Returns:
            The base model's main file for ``manifest.yaml``; None if the model is not a file of the user's.
        """
        base = planned.base.manifest
        if not _is_own_file(base):
            return None
        mains = [model_path(manifest.model, manifest.folder).resolve() for manifest in _own_models(planned)]
        main = mains[0]
        files = {path for own in mains for _, path in source_files(own)}
        root = Path(os.path.commonpath([path.parent for path in files]))
        for path in files:
            _copy(path, self.path / MODEL_NAME / path.relative_to(root))
        copied = self.path / MODEL_NAME / main.relative_to(root)
        if [name for name, _ in source_files(copied)] != [name for name, _ in source_files(main)]:
            return str(main)  # absolute paths or links inside the model: the copy does not stand alone
        return copied.relative_to(self.path).as_posix()

    def _write_files(self, planned: PlannedSweep) -> None:
        """Write what controllers' files held when the Plans were made."""
        plans = {run.plan.plan_id: run.plan for run in planned.runs}
        contents = {
            kept_place(plan.manifest.controllers[name].files[role]): image.content
            for plan in (planned.base, *plans.values())
            for name, images in plan.files.items()
            for role, image in images.items()
        }
        for place, content in contents.items():
            target = self.path / place
            if not target.is_file() or target.read_bytes() != content:
                target.parent.mkdir(exist_ok=True)
                target.write_bytes(content)

    def _copy_code(self, planned: PlannedSweep) -> None:
        for name, path in user_sources(planned.base).items():
            if not is_installed(path):
                _copy(path, self.path / CODE_NAME / name)


def kept_place(place: str) -> str:
    """Where in the sweep's folder a controller's file is kept: one name for each way to write its path."""
    return f"{FILES_NAME}/{quote(place, safe='')}"


def moved_parameters(parameters: dict[str, Any], original: str | None, manifest: Manifest) -> dict[str, Any]:
    """A cell's parameters for the folder's manifest: files are found in the folder.

    A swept model file lies beside the base's copy, as it did before.

    Args:
        parameters: the cell's, as they were planned.
        original: the base manifest's model file as it was planned.
        manifest: the folder's manifest.
    """
    parameters = {path: kept_place(v) if _names_a_file(path) else v for path, v in parameters.items()}
    swept, base = parameters.get("model.file"), manifest.model.file
    if not isinstance(swept, str) or original is None or base is None or os.path.isabs(base) or os.path.isabs(swept):
        return parameters
    beside = os.path.relpath(swept, os.path.dirname(original) or ".")
    return {**parameters, "model.file": os.path.normpath(os.path.join(os.path.dirname(base), beside))}


def _names_a_file(path: str) -> bool:
    words = path.removeprefix("manifest.").split(".")
    return words[0] == "controllers" and words[2:3] == ["files"]


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        advice = "output=FOLDER puts sweeps somewhere else"
        raise LedgerError(f"The sweep folder {path} cannot be written: {error.strerror}; {advice}.") from error


def _own_models(planned: PlannedSweep) -> Iterable[Manifest]:
    plans: dict[str, Plan] = {planned.base.model.source_id: planned.base}
    for run in planned.runs:
        plans.setdefault(run.plan.model.source_id, run.plan)
    return [plan.manifest for plan in plans.values() if _is_own_file(plan.manifest)]


def _is_own_file(manifest: Manifest) -> bool:
    return manifest.model.file is not None and manifest.model.package is None


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def _write(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    draft = path.with_name(path.name + ".draft")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)
