"""Files that controllers read: named in the Manifest, read once, digested into the Plan and carried by it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sweep.digest import bytes_id
from sweep.errors import Problem
from sweep.plan.sections import ControllerSpec


@dataclass(frozen=True, slots=True)
class FileImage:
    """What a file held when its Plan was made.

    Attributes:
        digest: of the content.
        content: the bytes.
    """

    digest: str
    content: bytes = field(repr=False, compare=False)


Files = Mapping[str, Mapping[str, FileImage]]
"""By controller, then by the name that its ``files`` give the file; no entry for a controller without any."""


class FileReader:
    """Reads each file of a sweep once."""

    def __init__(self) -> None:
        self._known: dict[Path, FileImage] = {}

    def read(
        self, _: str, controllers: Mapping[str, ControllerSpec], folder: Path | None
    ) -> tuple[Files, list[Problem]]:
        """The files of a manifest's controllers, and a problem for each that cannot be read."""
        found: dict[str, dict[str, FileImage]] = {}
        problems = []
        for name, controller in controllers.items():
            for role, place in controller.files.items():
                path = (folder or Path()) / place
                try:
                    found.setdefault(name, {})[role] = self._image(path)
                except OSError as error:
                    problems.append(Problem(f"controllers.{name}.files.{role}", _unreadable(path, error)))
        return found, problems

    def _image(self, path: Path) -> FileImage:
        if path not in self._known:
            content = path.read_bytes()
            self._known[path] = FileImage(bytes_id(content), content)
        return self._known[path]


def with_digests(controllers: Mapping[str, Mapping[str, Any]], files: Files) -> dict[str, dict[str, Any]]:
    """Controllers of a document with digests in place of paths, and no word of files where there are none.

    Where a file lies is not what it holds.
    """
    plain = {name: {key: value for key, value in spec.items() if key != "files"} for name, spec in controllers.items()}
    for name, images in files.items():
        plain[name]["files"] = {role: image.digest for role, image in images.items()}
    return plain


def _unreadable(path: Path, error: OSError) -> str:
    if path.exists() or not path.parent.is_dir():
        return f"{path} cannot be read: {error.strerror}"
    there = sorted(p.name for p in path.parent.glob(f"*{path.suffix}") if p.is_file())
    return f"no such file: {path}" + (f"; there is: {', '.join(there)}" if there else "")
