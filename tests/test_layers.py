"""Who may import what: one way, no step looks back (the arrows of the package docstrings)."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EVERYONE = {"collector", "errors", "digest", "exits", "terminal", "sweep"}
ALLOWED = {
    "collector": set(),
    "errors": set(),
    "digest": set(),
    "exits": set(),
    "terminal": set(),
    "arguments": set(),
    "plan": set(),
    "results": {"plan"},
    "design": {"plan"},
    "runtime": {"plan", "results"},
    "execution": {"plan", "design", "runtime", "results"},
    "analysis": {"results"},
    "tracking": {"results", "analysis"},
    "config": {"plan", "design"},
    "run": {"config", "design", "execution", "results", "runtime", "tracking", "analysis"},
    "cli": {"arguments", "config", "design", "execution", "plan", "results", "runtime", "tracking", "analysis", "run"},
    "testing": {"plan", "design", "results", "runtime", "execution", "tracking", "analysis", "config", "run"},
    "__main__": {"cli"},
    "sweep": {"run"},
}  # fmt: skip
DEFERRED = {("plan", "runtime"): "sweep/plan/plan.py"}
"""Edges against the arrows, each inside one function: Plan.instantiate."""

HEAVY = {"mujoco": "runtime", "ray": "execution", "mlflow": "tracking", "hydra": "config", "omegaconf": "config"}


def modules():
    for package in ("sweep", "analysis"):
        yield from sorted((ROOT / package).rglob("*.py"))


def room(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    if parts[0] == "analysis":
        return "analysis"
    return "sweep" if parts[1] == "__init__" else parts[1]


def imports(path: Path):
    """(imported module, whether the import stands at the module's top or under TYPE_CHECKING)."""
    tree = ast.parse(path.read_text())
    top = {node for statement in tree.body for node in ([statement] if not isinstance(statement, ast.If) else [])}
    typing_only = {
        n for s in tree.body if isinstance(s, ast.If) and "TYPE_CHECKING" in ast.unparse(s.test) for n in s.body
    }
    for node in ast.walk(tree):
        if node in typing_only:
            continue
        if isinstance(node, ast.Import):
            yield from ((alias.name, node in top) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module, node in top
            if node.module in ("sweep", "analysis"):
                yield from ((f"{node.module}.{alias.name}", node in top) for alias in node.names)


def target_room(module: str) -> str | None:
    parts = module.split(".")
    if parts[0] == "analysis":
        return "analysis"
    if parts[0] != "sweep":
        return None
    if len(parts) == 1:
        return "sweep"
    return parts[1] if (ROOT / "sweep" / parts[1]).exists() or (ROOT / "sweep" / f"{parts[1]}.py").exists() else "sweep"


@pytest.mark.parametrize("path", list(modules()), ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_follow_the_arrows(path):
    here = room(path)
    for module, _ in imports(path):
        there = target_room(module)
        if there is None or there == here or there in EVERYONE:
            continue
        if DEFERRED.get((here, there)) == path.relative_to(ROOT).as_posix():
            continue
        assert there in ALLOWED[here], f"{path.relative_to(ROOT)} imports {module}: {here} may not know {there}"


@pytest.mark.parametrize("path", list(modules()), ids=lambda p: str(p.relative_to(ROOT)))
def test_heavy_libraries_are_imported_in_one_place(path):
    for module, _ in imports(path):
        owner = HEAVY.get(module.split(".")[0])
        assert owner in (None, room(path)), f"{path.relative_to(ROOT)} imports {module}, which is {owner}'s"


def test_importing_the_packages_is_light():
    code = "import sys, sweep, analysis; print(*sorted({m.split('.')[0] for m in sys.modules}))"
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout.split()
    assert not {"ray", "mlflow", "mujoco", "pandas", "hydra", "scipy", "numpy"} & set(out)


@pytest.mark.slow
def test_help_does_not_load_what_runs():
    code = "import sys; from sweep.cli import main; main(['--help']); print(*{m.split('.')[0] for m in sys.modules})"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert not {"ray", "mlflow", "mujoco", "pandas", "hydra"} & set(out.splitlines()[-1].split())


def test_no_module_is_empty_of_meaning():
    for path in modules():
        assert ast.get_docstring(ast.parse(path.read_text())), f"{path} has no docstring"
