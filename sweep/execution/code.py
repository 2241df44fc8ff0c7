"""code_id: what decides the bits of a run besides its Plan and seed."""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path

import sweep
from sweep.digest import bytes_id, content_id
from sweep.plan.plan import Plan
from sweep.runtime.controller import load_controller

OURS = ("plan", "runtime")
"""Our own packages whose source decides the bits."""

_CODE = (".py", ".so", ".pyd")


def code_id(plan: Plan) -> str:
    """Digest of MuJoCo, NumPy, our runtime and the user's controllers.

    It is that of the code a process has loaded: a file edited later counts once its module is loaded anew.

    Raises:
        InvalidInputError: a controller cannot be imported.
    """
    names = sorted({spec.class_ for spec in plan.manifest.controllers.values()})
    classes = tuple(load_controller(name, plan.manifest.folder) for name in names)
    return _code_id(tuple(names), classes)


def user_sources(plan: Plan) -> dict[str, Path]:
    """The user's controller code: name relative to its import root, to file.

    Controllers are imported first, because that is what puts the manifest's folder on the path.
    """
    for spec in plan.manifest.controllers.values():
        load_controller(spec.class_, plan.manifest.folder)
    return dict(_sources(spec.class_ for spec in plan.manifest.controllers.values()))


@functools.lru_cache(maxsize=64)
def _code_id(names: tuple[str, ...], classes: tuple[type, ...]) -> str:
    # The classes are part of the key only: a reloaded module has new ones, and its source is read again.
    del classes
    files = {**dict(_own_sources()), **dict(_sources(names))}
    return content_id(
        {
            "mujoco": metadata.version("mujoco"),
            "numpy": metadata.version("numpy"),
            "files": {name: bytes_id(path.read_bytes()) for name, path in files.items()},
        }
    )


def _own_sources() -> Iterator[tuple[str, Path]]:
    root = Path(sweep.__path__[0])
    for package in OURS:
        yield from _tree(root / package, f"sweep/{package}")


def _sources(classes: Iterable[str]) -> Iterator[tuple[str, Path]]:
    """The files of the top-level packages or modules that the classes live in."""
    for top in sorted({name.partition(":")[0].partition(".")[0] for name in classes} - {"sweep"}):
        spec = importlib.util.find_spec(top)
        if spec is None:
            continue
        if spec.submodule_search_locations is not None:
            for folder in spec.submodule_search_locations:
                yield from _tree(Path(folder), top)
        elif spec.origin is not None:
            yield Path(spec.origin).name, Path(spec.origin)


def _tree(folder: Path, name: str) -> Iterator[tuple[str, Path]]:
    for path in sorted(folder.rglob("*")):
        if path.suffix in _CODE and path.is_file():
            yield f"{name}/{path.relative_to(folder).as_posix()}", path
