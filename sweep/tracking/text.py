"""What the parent run carries for people: tags, documents, tables."""

from __future__ import annotations

import getpass
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.comparison import Comparison
from analysis.source import Sweep
from sweep.tracking.rows import LONGEST_TAG

if TYPE_CHECKING:
    import pandas

NOTE = "mlflow.note.content"


def parent_tags(
    sweep: Sweep, comparison: Comparison, provenance: Mapping[str, Any], *, sweep_id: str
) -> dict[str, str]:
    """MLflow's own tags, which its client does not set by itself, and those of the sweep."""
    header = sweep.header
    git = provenance.get("git") or {}
    tags = {
        "mlflow.user": provenance.get("user") or _user(),
        "mlflow.source.name": provenance.get("command") or "python -m sweep",
        "mlflow.source.type": "LOCAL",
        NOTE: note(comparison, header.scene),
        "sweep.id": sweep_id,
        "sweep.name": header.name,
        "sweep.scene": header.scene,
        "sweep.model": header.model_id,
        "sweep.code": header.code_id,
        "sweep.headline": comparison.headline,
    }
    if isinstance(git, Mapping):
        tags |= {f"mlflow.source.git.{k}": v for k in ("commit", "branch", "dirty", "repoURL") if (v := git.get(k))}
    return {name: _tag(value) for name, value in tags.items()}


def _tag(value: Any) -> str:
    if isinstance(value, list | tuple):
        value = " ".join(map(str, value))
    return (value if isinstance(value, str) else json.dumps(value))[:LONGEST_TAG]


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user without a name
        return "unknown"


def note(comparison: Comparison, scene: str) -> str:
    """The run's description: the finding and the table, in Markdown."""
    text = f"**{comparison.headline}**\n\nScene `{scene}`.\n\n```\n{table_text(comparison)}\n```\n"
    return text if len(text) <= LONGEST_TAG else f"**{comparison.headline}**\n\nThe table is in `comparison.txt`.\n"


def table_text(comparison: Comparison, width: int = 100) -> str:
    """The rendered table as plain text."""
    from rich.console import Console

    from analysis.table import render

    out = io.StringIO()
    console = Console(file=out, width=width, color_system=None, force_terminal=False, legacy_windows=False)
    console.print(render(comparison, width=width))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def documents(sweep: Sweep, comparison: Comparison, provenance: Mapping[str, Any]) -> dict[str, str]:
    """Name to text of the parent's artifacts."""
    cells = [
        {
            "cell_id": cell.cell_id,
            "label": cell.label,
            "plan_id": cell.plan_id,
            "values": dict(cell.values),
            "parameters": dict(cell.parameters),
            "seeds": list(sweep.seeds[cell.cell_id]),
        }
        for cell in sweep.cells
    ]
    return {
        "comparison.txt": table_text(comparison) + "\n",
        "comparison.json": _json(comparison.to_json()),
        "plan/header.json": _json(sweep.header.to_json()),
        "plan/manifest.json": _json(dict(sweep.header.manifest)),
        "plan/cells.json": _json(cells),
        "provenance.json": _json(dict(provenance)),
    }


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def write_parquet(table: pandas.DataFrame, path: Path) -> Path:
    """Write a table; columns of mixed kinds (an axis with numbers and names) become text, which Parquet needs."""
    for column in table.columns:
        kinds = {type(value) for value in table[column] if value is not None}
        if table[column].dtype == object and len(kinds) > 1:
            table[column] = [None if value is None else str(value) for value in table[column]]
    table.to_parquet(path, index=False)
    return path
