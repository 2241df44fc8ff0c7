"""``python -m tests.bench [--check | --accept] [PART ...] [FILE.json]``: one table of what was measured, and as JSON.

Without a part, all of them.  Ratios compare two things measured in turn, so that a noisy machine cancels; CPU seconds
suffer from it less than wall time, which stands where people wait.  Each part's module says how it measures.

``--check`` exits with 1 if a ratio is worse than its baseline by more than a quarter, or cannot be compared with it;
``--accept`` makes the ratios that were measured the baseline.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from sweep.errors import did_you_mean
from tests.bench import baseline
from tests.bench.measures import Measure, UnmeasuredError
from tests.bench.parts import PARTS
from tests.bench.table import table

OPTIONS = ("--check", "--accept")

WIDTH = 140
"""Columns of a table that is not printed to a terminal."""


@dataclass(frozen=True)
class Command:
    """What was asked for: parts, the file, and what to do with the baseline (an option, or nothing)."""

    parts: Sequence[str]
    file: Path
    option: str = ""


def main(words: Sequence[str]) -> int:
    """Measure parts, print their table, and write them to a file; the exit code."""
    warnings.simplefilter("ignore")  # of the packaged models
    command = parsed(words)
    accepted = baseline.load()
    measured, complaints = _measured(command)
    width = None if sys.stdout.isatty() else WIDTH
    Console(highlight=False, width=width).print(table(measured, accepted))
    print(f"written: {command.file}")
    if command.option == "--accept":
        baseline.accept(measured, PARTS)
        print(f"accepted: {baseline.FILE}")
    if command.option == "--check":
        complaints += baseline.complaints(measured, accepted)
        print("compared with the baseline: " + (f"{len(complaints)} complaints" if complaints else "all is well"))
    print("\n".join(complaints), file=sys.stderr)
    return 1 if complaints else 0


def _measured(command: Command) -> tuple[dict[str, Sequence[Measure]], list[str]]:
    """What was measured, and why something was not; an interruption leaves the parts before it in the file."""
    measured: dict[str, Sequence[Measure]] = {}
    failures = []
    for part in command.parts:
        print(f"{part} ...", file=sys.stderr, flush=True)
        try:
            measured[part] = list(PARTS[part]())
        except UnmeasuredError as error:
            failures.append(f"{part}: not measured: {error}")
            continue
        found = {name: [measure.to_json() for measure in measures] for name, measures in measured.items()}
        command.file.write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n")
    return measured, failures


def parsed(words: Sequence[str]) -> Command:
    """What the words ask for.

    Raises:
        SystemExit: they cannot be read; says what is allowed.
    """
    if {"-h", "--help"} & set(words):
        sys.exit(f"{__doc__}\nParts: {', '.join(PARTS)}.")
    options = [word for word in words if word.startswith("-")]
    files = [word for word in words if word.endswith(".json") and word not in options]
    parts = [word for word in words if word not in (*options, *files)]
    _refuse_unknown("option", options, OPTIONS)
    _refuse_unknown("part", parts, list(PARTS))
    for name, given in (("option", options), ("file", files)):
        if len(given) > 1:
            sys.exit(f"{len(given)} {name}s were given ({', '.join(given)}), one is allowed")
    file = Path(*files) if files else Path("bench.json")
    if not file.parent.is_dir():
        sys.exit(f"{file}: there is no folder {file.parent}")
    return Command(list(dict.fromkeys(parts)) or list(PARTS), file, *options)


def _refuse_unknown(kind: str, given: Sequence[str], known: Sequence[str]) -> None:
    for word in given:
        if word not in known:
            sys.exit(f"no {kind} {word!r}{did_you_mean(word, known)}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
