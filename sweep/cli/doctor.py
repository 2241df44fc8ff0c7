"""doctor: what a sweep would find here, and on every node of its cluster; each finding with what to type.

It works where something is broken: nothing but the standard library is imported at the top, and a check that raises
is a finding.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from typing import Literal

from sweep.arguments import Command
from sweep.errors import SweepError

Level = Literal["ok", "warning", "problem"]

HAS_PROBLEM = 1


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        level: ``ok``; ``warning`` where a sweep runs, but not as well as it could; ``problem`` where it would not run.
        subject: what was looked at, in a word.
        text: what was found.
        advice: what to type or change; empty where nothing is wrong.
    """

    level: Level
    subject: str
    text: str
    advice: str = ""

    def __str__(self) -> str:
        return f"{self.level:<8} {self.subject:<10} {self.text}" + (f"; {self.advice}" if self.advice else "")


def doctor(command: Command) -> int:
    """Look, and tell.

    Args:
        command: its overrides are a sweep's: what that sweep would use is looked at.

    Returns:
        The exit code: 1 if there is a problem.
    """
    findings = list(examined(command))
    if command.options.get("json"):
        sys.stdout.write(json.dumps([asdict(finding) for finding in findings], indent=2, ensure_ascii=False) + "\n")
    else:
        sys.stdout.write("".join(f"{finding}\n" for finding in findings))
    return HAS_PROBLEM if any(finding.level == "problem" for finding in findings) else 0


def examined(command: Command) -> Iterator[Finding]:
    """Every check's findings, in the order of what depends on what."""
    from sweep.cli import checks

    yield from guarded("python", checks.packages)
    yield from guarded("mujoco", checks.engine)
    yield from guarded("bits", checks.bit_class)
    yield from guarded("machine", checks.machine)
    yield from guarded("git", checks.git)
    asked: list[checks.Asked] = []
    yield from guarded("sweep", partial(checks.asked_for, command, asked))
    for sweep in asked:
        yield from guarded("disk", partial(checks.disk, sweep))
        yield from guarded("tracking", partial(checks.mlflow, sweep))
        yield from guarded("cluster", partial(checks.ray, sweep))


def guarded(subject: str, check: Callable[[], Iterable[Finding]]) -> Iterator[Finding]:
    """A check's findings; one that raises is a finding, too."""
    try:
        yield from check()
    except SweepError as error:
        yield Finding("problem", subject, " ".join(str(error).split()))
    except Exception as error:  # noqa: BLE001 - a broken installation raises what it likes
        yield Finding("problem", subject, f"{type(error).__name__}: {' '.join(str(error).split())}")
