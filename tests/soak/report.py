"""What a soak was, as a table."""

from __future__ import annotations

from rich.table import Table

from tests.soak.schedule import Kind
from tests.soak.stage import Found


def table(found: Found) -> Table:
    """A row per number."""
    rows = [(f"kills: {kind}", str(found.kills[kind])) for kind in Kind]
    rows += [("kills in all", str(found.kills.total())), ("drivers started", str(found.drivers))]
    rows += [(f"drivers that ended with code {code}", str(count)) for code, count in sorted(found.exits.items())]
    rows += [("nodes started", str(found.nodes)), ("MLflow servers started", str(found.servers))]
    rows += [(f"attempts {ending}", str(count)) for ending, count in found.endings.most_common()]
    rows += [("runs that were lost for a while", str(found.lost)), ("minutes", f"{found.elapsed_s / 60:.1f}")]
    shown = Table(box=None, show_header=False)
    shown.add_column()
    shown.add_column(justify="right")
    for row in rows:
        shown.add_row(*row)
    return shown
