"""``python -m tests.bench [PART ...] [FILE.json]``: tables of what was measured, and the same as JSON.

Without a part, all of them.  Ratios compare two things measured in turn, so that a noisy machine cancels; CPU seconds
suffer from it less than wall time, which stands where people wait.  Each part's module says how it measures.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

from rich.console import Console

from sweep.errors import did_you_mean
from tests.bench.parts import PARTS


def main(words: list[str]) -> None:
    """Measure parts, print a table of each, and write all of them to a file."""
    warnings.simplefilter("ignore")  # of the packaged models
    files = [word for word in words if word.endswith(".json")]
    asked = [word for word in words if word not in files] or list(PARTS)
    for word in asked:
        if word not in PARTS:
            sys.exit(f"no part {word!r}{did_you_mean(word, list(PARTS))}")
    console, document = Console(), {}
    for word in asked:
        table, found = PARTS[word]()
        document[word] = found
        console.print(table)
    target = Path(files[0] if files else "bench.json")
    target.write_text(json.dumps(document, indent=2) + "\n")
    console.print(f"written: {target}")


if __name__ == "__main__":
    main(sys.argv[1:])
