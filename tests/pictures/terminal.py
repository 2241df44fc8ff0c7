"""A terminal as a picture."""

from __future__ import annotations

import io
import re
from pathlib import Path

from rich.console import Console
from rich.text import Text

from tests.pictures.sweeps import WIDTH, Shown


def terminal_picture(shown: Shown, path: Path) -> None:
    """The command and what it printed, as SVG; fonts are those that the reader has."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    console.print(Text(f"$ {shown.typed}", style="bold"))
    console.print(Text.from_ansi(shown.printed.rstrip("\n")), soft_wrap=True)
    drawn = console.export_svg(title="Fibril Sweep", unique_id="terminal")
    drawn = re.sub(r"\s*@font-face \{.*?\}\n", "\n", drawn, flags=re.DOTALL)
    path.write_text(re.sub(r"Fira Code", "ui-monospace, DejaVu Sans Mono, Menlo, Consolas", drawn), encoding="utf-8")
