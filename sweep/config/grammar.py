"""Words of a command line, read with Hydra's grammar: values, ranges and intervals as plain data."""

from __future__ import annotations

import itertools
import math
import random
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import ChoiceSweep, Glob, IntervalSweep, Override, OverrideType, RangeSweep
from hydra.errors import HydraException
from omegaconf.errors import OmegaConfBaseException

from sweep.config.words import Mode, Span, Word, plain_key, unreadable, verbatim
from sweep.errors import Problem

UNREADABLE = (HydraException, OmegaConfBaseException, ArithmeticError, ValueError, TypeError, KeyError)
"""What Hydra and OmegaConf raise on input they cannot use."""

MAX_VALUES = 50_000
"""Values that one sweep word may give; ``range(0,1,1e-9)`` is a slip."""

_ENDS = re.compile(r"interval\(\s*(start\s*=\s*)?(?P<low>[^(),=]+?)\s*,\s*(end\s*=\s*)?(?P<high>[^(),=]+?)\s*\)")

_MODES: dict[OverrideType, Mode] = {
    OverrideType.CHANGE: "change",
    OverrideType.ADD: "add",
    OverrideType.FORCE_ADD: "force",
    OverrideType.DEL: "delete",
}


def parsed(overrides: Sequence[str], problems: list[Problem]) -> list[Word]:
    """Words as typed, read one by one; those that cannot be read are problems.

    Args:
        overrides: the words.
        problems: what is wrong is added here.
    """
    parser = OverridesParser.create()
    words: list[Word] = []
    for index, text in enumerate(overrides):
        following = overrides[index + 1] if index + 1 < len(overrides) else None
        try:
            words.append(verbatim(text) or _word(parser, text))
        except UNREADABLE as error:
            problems.append(unreadable(text, str(error), following, lambda word: _reads(parser, word)))
    return words


def _word(parser: OverridesParser, text: str) -> Word:
    override = _override(parser, text)
    key = plain_key(override.key_or_group)
    if not key:
        raise ValueError("there is no key before '='")
    mode = _MODES[override.type]
    return Word(
        text=text,
        key=key,
        mode=mode,
        values=() if mode == "delete" else tuple(_values(override, text)),
        is_sweep=override.is_sweep_override(),
        package=override.package,
    )


def _override(parser: OverridesParser, text: str) -> Override:
    try:
        return parser.parse_override(text)
    except HydraException:
        # The grammar knows ranges inside `a,range(..)` but not inside `choice(a,range(..))`: they mean the same.
        if inner := re.fullmatch(r"([^=]+)=\s*choice\((.*)\)\s*", text):
            return parser.parse_override(f"{inner[1]}={inner[2]}")
        # Nor does it know units inside an interval; its ends are read off the text anyway.
        if _ENDS.search(text):
            return parser.parse_override(_ENDS.sub("interval(0,1)", text))
        raise


def _values(override: Override, text: str) -> Iterator[Any]:
    value = override.value()
    if isinstance(value, IntervalSweep):
        yield _span(value, text)
        return
    if isinstance(value, Glob):
        raise ValueError("glob() chooses among groups, which cannot be swept; write the values")
    if not override.is_sweep_override():
        yield value
        return
    assert isinstance(value, ChoiceSweep | RangeSweep)
    if value.tags:
        raise ValueError("tag() goes with interval(), for example tag(log,interval(0.001,1))")
    shuffled, value.shuffle = value.shuffle, False
    items = iter([value]) if isinstance(value, RangeSweep) else override.sweep_iterator()
    flat = list(itertools.islice(_flat(items), MAX_VALUES + 1))
    if not flat:
        raise ValueError("it gives no value at all")
    if len(flat) > MAX_VALUES:
        raise ValueError(f"it gives more than {MAX_VALUES} values")
    if shuffled:
        # Not Hydra's global generator: the same command must give the same order when it is resumed.
        random.Random(text).shuffle(flat)
    yield from flat


def _span(sweep: IntervalSweep, text: str) -> Span:
    ends = _ENDS.search(text)
    low, high = (ends["low"].strip("'\""), ends["high"].strip("'\"")) if ends else (sweep.start, sweep.end)
    return Span(low=low, high=high, tags=frozenset(sweep.tags), is_integer=isinstance(sweep.start, int))


def _flat(items: Iterator[Any]) -> Iterator[Any]:
    for item in items:
        if isinstance(item, RangeSweep):
            yield from _range(item)
        elif isinstance(item, ChoiceSweep):
            yield from _flat(iter(item.list))
        elif isinstance(item, IntervalSweep):
            raise ValueError("interval() stands alone, without other values")
        else:
            yield Override._convert_value(item)


def _range(sweep: RangeSweep) -> Iterator[Any]:
    """The values of a range, its end left out, in decimals: in floats ``range(0,0.3,0.1)`` may hold 0.3 or not."""
    if not all(isinstance(part, int | float) for part in (sweep.start, sweep.stop, sweep.step)):
        raise ValueError("range() takes plain numbers, range(start,stop,step), in SI units")
    if sweep.step == 0:
        raise ValueError("a range needs a step other than 0")
    start, stop, step = (Decimal(str(part)) for part in (sweep.start, sweep.stop, sweep.step))
    whole = all(isinstance(part, int) for part in (sweep.start, sweep.step))
    for index in range(max(0, math.ceil((stop - start) / step))):
        value = start + index * step
        yield int(value) if whole else float(value)


def _reads(parser: OverridesParser, text: str) -> bool:
    try:
        _word(parser, text)
    except UNREADABLE:
        return False
    return True
