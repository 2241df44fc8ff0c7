"""code_id: what decides the bits of a run besides its Plan and seed."""

from __future__ import annotations

import ast
import functools
import importlib.util
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import sweep
from sweep.digest import bytes_id, content_id
from sweep.plan.plan import Plan
from sweep.runtime.own.user_class import load_class

OURS = ("plan", "runtime")
"""Our own packages whose source decides the bits."""

_CODE = (".py", ".so", ".pyd")
_LARGEST_DATA = 16 * 2**20
"""Bytes of a data file in the user's package that still counts as part of the code."""


def code_id(plan: Plan) -> str:
    """Digest of MuJoCo, NumPy, Numba, our runtime, the user's classes and the packages that those name.

    It is that of the code a process has loaded: a file edited later counts once its module is loaded anew.

    Raises:
        InvalidInputError: a class cannot be imported.
    """
    return _code_id(*_classes(plan))


def code_parts(plan: Plan) -> dict[str, str]:
    """What :func:`code_id` digests, on one level: package to version, and file to digest.

    Raises:
        InvalidInputError: a class cannot be imported.
    """
    parts = _code_parts(*_classes(plan))
    return {**{name: part for name, part in parts.items() if name != "files"}, **parts["files"]}


def user_sources(plan: Plan) -> dict[str, Path]:
    """The user's code and what it imported from beside itself: name relative to its import root, to file.

    Classes are imported first, because that is what puts the manifest's folder on the path.
    """
    for name in plan.manifest.user_classes:
        load_class(name, plan.manifest.folder, "__init__")
    return dict(_sources(plan.manifest.user_classes))


def _classes(plan: Plan) -> tuple[tuple[str, ...], tuple[type, ...]]:
    names = tuple(plan.manifest.user_classes)
    return names, tuple(load_class(name, plan.manifest.folder, "__init__") for name in names)


@functools.lru_cache(maxsize=64)
def _code_id(names: tuple[str, ...], classes: tuple[type, ...]) -> str:
    return content_id(_code_parts(names, classes))


@functools.lru_cache(maxsize=64)
def _code_parts(names: tuple[str, ...], classes: tuple[type, ...]) -> dict[str, Any]:
    # The classes are in the key so that a reloaded module, which has new ones, has its source read again.
    packages = {name for cls in classes for name in getattr(cls, "packages", ())}
    files = {**dict(_own_sources()), **dict(_sources(names))}
    return {
        "mujoco": metadata.version("mujoco"),
        "numpy": metadata.version("numpy"),
        "numba": metadata.version("numba"),
        **{name: _version(name) for name in packages},
        "files": {name: bytes_id(path.read_bytes()) for name, path in files.items()},
    }


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "none"


def _own_sources() -> Iterator[tuple[str, Path]]:
    root = Path(sweep.__path__[0])
    for package in OURS:
        yield from _tree(root / package, f"sweep/{package}")


def _sources(classes: Iterable[str]) -> Iterator[tuple[str, Path]]:
    """The files of the top-level packages or modules that the classes live in, and of those they import from beside.

    Read off the sources, not off what a process happens to have loaded: driver and workers find the same.
    """
    waiting = sorted({name.partition(":")[0].partition(".")[0] for name in classes})
    seen = {"sweep", "analysis", "__main__"}
    while waiting:
        top = waiting.pop()
        if top in seen:
            continue
        seen.add(top)
        files = list(_files(top))
        yield from files
        if files and not is_installed(files[0][1]):
            waiting += sorted({name for _, path in files if path.suffix == ".py" for name in _imported(path)})


def _files(top: str) -> Iterator[tuple[str, Path]]:
    """The files of a top-level package or module; none of what belongs to Python or is installed beside us."""
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return
    if spec is None:
        return
    if spec.submodule_search_locations is not None:
        for folder in spec.submodule_search_locations:
            yield from _tree(Path(folder), top, data=True)
    elif spec.has_location and spec.origin is not None:
        yield Path(spec.origin).name, Path(spec.origin)


def _imported(path: Path) -> set[str]:
    """Top-level names that a module imports and that are the user's own."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return set()
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None and node.level == 0:
            names.add(node.module.partition(".")[0])
    return {name for name in names if name not in sys.stdlib_module_names and _is_own(name)}


def _is_own(top: str) -> bool:
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return False
    if spec is None:
        return False
    place = next(iter(spec.submodule_search_locations or ()), spec.origin if spec.has_location else None)
    return place is not None and not is_installed(Path(place))


def is_installed(path: Path) -> bool:
    """Whether a file belongs to Python or to what is installed beside us."""
    places = [Path(place).resolve() for place in sysconfig.get_paths().values()]
    return any(path.resolve().is_relative_to(place) for place in places)


def _tree(folder: Path, name: str, *, data: bool = False) -> Iterator[tuple[str, Path]]:
    """The code of a package; with ``data`` also the files it may read, but for hidden and very large ones."""
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if not path.is_file() or any(part.startswith((".", "__pycache__")) for part in inside.parts):
            continue
        if path.suffix in _CODE or (data and path.stat().st_size <= _LARGEST_DATA):
            yield f"{name}/{inside.as_posix()}", path
