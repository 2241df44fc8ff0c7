"""Shipment: the files that travel to a cluster's workers, an allow-list and never a folder as it lies there."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from sweep.errors import ExecutorError
from sweep.execution.code import is_installed, user_sources
from sweep.execution.words import in_bytes
from sweep.plan.plan import Plan

OURS = ("sweep", "analysis")

MOST_BYTES = 100 * 2**20
"""What a shipment may weigh: Ray keeps it in the memory of the cluster's head, and refuses more than 500 MiB; its job
server takes 100 MiB."""

MUCH_BYTES = 10 * 2**20
"""What is told as heavy: every node fetches it anew whenever the code has changed."""

LISTED = 3


@dataclass(frozen=True, slots=True)
class Shipment:
    """What workers import: this package, and the user's modules with what they import from beside themselves.

    Models and the files of controllers are in the Plans.

    Attributes:
        files: place relative to the import root, to file.
        sizes: place to what the file weighs [bytes].
    """

    files: Mapping[str, Path]
    sizes: Mapping[str, int]

    @classmethod
    def of(cls, plans: Iterable[Plan]) -> Shipment:
        """What the Plans' classes need; what is installed beside us is expected to be installed there, too.

        Raises:
            InvalidInputError: a class cannot be imported here.
        """
        distinct = {tuple(plan.manifest.user_classes): plan for plan in plans}
        files = dict(_own_files())
        for plan in distinct.values():
            files |= {name: path for name, path in user_sources(plan).items() if not is_installed(path)}
        return cls(files, {name: path.stat().st_size for name, path in files.items()})

    @property
    def size(self) -> int:
        """What all files weigh together [bytes]."""
        return sum(self.sizes.values())

    def check(self) -> list[str]:
        """Refuse what is too heavy.

        Returns:
            What a person should know of a heavy one; nothing of a light one.

        Raises:
            ExecutorError: it is heavier than :data:`MOST_BYTES`; the largest files are named.
        """
        size = self.size
        if size <= MUCH_BYTES:
            return []
        heaviest = sorted(self.sizes, key=lambda name: self.sizes[name], reverse=True)[:LISTED]
        largest = ", ".join(f"{name} ({in_bytes(self.sizes[name])})" for name in heaviest)
        told = f"{in_bytes(size)} of code go to the cluster's workers; the largest files: {largest}."
        advice = "Data need not lie in a package: move it elsewhere, or name it under a controller's `files`."
        if size > MOST_BYTES:
            raise ExecutorError(f"{told} More than {in_bytes(MOST_BYTES)} are not sent. {advice}")
        return [f"{told} {advice}"]

    def describe(self) -> str:
        """What is sent, in a few words: ``1.1 MB of code in 190 files``."""
        return f"{in_bytes(self.size)} of code in {len(self.files)} files"

    def stage(self, folder: Path) -> Path:
        """Copy the files into a folder, which then is an import root."""
        for name, path in self.files.items():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
        return folder


def _own_files() -> Iterator[tuple[str, Path]]:
    for package in OURS:
        spec = find_spec(package)
        for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
            for path in sorted(Path(folder).rglob("*.py")):
                yield f"{package}/{path.relative_to(folder).as_posix()}", path
