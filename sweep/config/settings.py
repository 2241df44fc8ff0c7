"""Everything of a configuration that is neither scene nor axis: seeds, name, executor, tracking, baseline."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any, get_args

from sweep.config.values import ValueKindError, kind_problem, normalised
from sweep.design.axis import Axis, Value
from sweep.design.cell import shown
from sweep.design.spec import ExecutorKind, ExecutorSpec, TrackingSpec
from sweep.errors import InvalidInputError, Problem, did_you_mean
from sweep.plan.sections import TRACE_LEVELS
from sweep.plan.units import quantity

MAX_SEEDS = 1_000_000
"""A larger count is surely meant as one seed."""

SEED_LIMIT = 2**64
MAX_NAME = 80
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")
_SEEDS = "a count, seeds=16, or a list of distinct seeds, seeds=[1,5,9]"


def seeds_of(value: Any, problems: list[Problem]) -> tuple[int, ...]:
    """The episode seeds from a count or a list."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= MAX_SEEDS:
        return tuple(range(value))
    if isinstance(value, list) and value and not _seed_faults(value):
        return tuple(value)
    problems.append(Problem(f"seeds={shown(value)}", f"{_why_no_seeds(value)}; allowed is {_SEEDS}"))
    return (0,)


def name_of(value: Any, problems: list[Problem]) -> str | None:
    """The sweep's name; it becomes part of a folder's name."""
    if value is None:
        return None
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if isinstance(text, str) and _NAME.fullmatch(text) and len(text) <= MAX_NAME:
        return text
    allowed = (
        f"letters, digits, '.', '_' and '-', at most {MAX_NAME}, the first no '.' or '-'; for example name=encoders_2"
    )
    problems.append(Problem(f"name={shown(value)}", f"a folder is named after it, allowed are {allowed}"))
    return None


def traced(manifest: Mapping[str, Any], value: Any, problems: list[Problem]) -> Mapping[str, Any]:
    """The manifest with the trace level that the setting asks for; null leaves the manifest's own."""
    if value is None:
        return manifest
    if value not in TRACE_LEVELS:
        advice = did_you_mean(shown(value), TRACE_LEVELS)
        problems.append(Problem(f"trace={shown(value)}", f"no such trace level{advice}"))
    runtime = manifest.get("runtime") or {}
    # A runtime that is no mapping is the manifest's own problem.
    return {**manifest, "runtime": {**runtime, "trace": value}} if isinstance(runtime, Mapping) else manifest


def output_of(value: Any, problems: list[Problem]) -> str:
    """The folder for sweeps."""
    if isinstance(value, str) and value.strip() and "\x00" not in value:
        return value
    problems.append(Problem(f"output={shown(value)}", "a folder is expected, for example output=sweeps"))
    return "sweeps"


def canary_of(value: Any, problems: list[Problem]) -> bool:
    """Whether a sweep is looked at before it runs."""
    if not isinstance(value, bool | None):
        problems.append(Problem(f"canary={shown(value)}", "allowed is true or false"))
    return value is not False


def stop_after_of(value: Any, problems: list[Problem]) -> int | None:
    """Failures after which a sweep stops, from ``on_failure``; None goes on."""
    if value in (None, "continue"):
        return None
    if value == "stop":
        return 1
    count = re.fullmatch(r"stop_after\s*[=:]\s*([1-9]\d*)", value) if isinstance(value, str) else None
    if count is None:
        advice = did_you_mean(shown(value), ("continue", "stop", "stop_after=3"))
        problems.append(Problem(f"on_failure={shown(value)}", f"no such policy{advice}"))
        return None
    return int(count[1])


def executor_of(value: Any, problems: list[Problem]) -> ExecutorSpec:
    """Where runs execute."""
    given = _section("executor", value, ExecutorSpec, problems)
    durations = {key: _duration(given[key]) for key in ("shard_s", "timeout_s") if given.get(key) is not None}
    spec = ExecutorSpec(**{**given, **durations})
    checks = {
        "kind": (spec.kind in get_args(ExecutorKind), f"one of {', '.join(get_args(ExecutorKind))}"),
        "workers": (
            spec.workers is None or _is_count(spec.workers),
            "null (one per core) or a count, executor.workers=4",
        ),
        "address": (_is_text_or_none(spec.address), "null, auto or ray://host:10001"),
        "shard_s": (_is_time(spec.shard_s), "a time in s greater than zero, executor.shard_s=2"),
        "timeout_s": (
            spec.timeout_s is None or _is_time(spec.timeout_s),
            "null (no limit) or a time in s greater than zero, executor.timeout_s=1800",
        ),
    }
    wrong = [
        Problem(f"executor.{k}={shown(given.get(k))}", f"allowed is {text}")
        for k, (ok, text) in checks.items()
        if not ok
    ]
    if spec.kind == "inline" and spec.address is not None:
        wrong.append(
            Problem(f"executor.address={spec.address}", "belongs to executor=ray; inline runs are in this process")
        )
    problems.extend(wrong)
    return ExecutorSpec() if wrong else spec


def tracking_of(value: Any, problems: list[Problem]) -> TrackingSpec:
    """Whether and where MLflow mirrors the sweep."""
    given = _section("tracking", value, TrackingSpec, problems)
    spec = TrackingSpec(**given)
    checks = {
        "enabled": (isinstance(spec.enabled, bool), "true or false"),
        "uri": (_is_text_or_none(spec.uri), "null, a server http://host:5000, or a database sqlite:////path/mlflow.db"),
        "experiment": (_is_text_or_none(spec.experiment), "null or a text"),
    }
    wrong = [
        Problem(f"tracking.{k}={shown(given.get(k))}", f"allowed is {text}")
        for k, (ok, text) in checks.items()
        if not ok
    ]
    if isinstance(spec.uri, str) and (
        spec.uri.startswith("file:") or not (":" in spec.uri or spec.uri == "databricks")
    ):
        text = "MLflow takes no folder any more; write a database, tracking.uri=sqlite:////path/mlflow.db, or a server"
        wrong.append(Problem(f"tracking.uri={spec.uri}", text))
    problems.extend(wrong)
    return TrackingSpec() if wrong else spec


def baseline_of(
    value: Any, axes: Sequence[Axis], swept: Iterable[str], problems: list[Problem]
) -> dict[str, Value] | None:
    """The explicit baseline, its values normalised like those of the axes."""
    if value is None:
        return None
    if not isinstance(value, Mapping) or not value:
        example = f"{axes[0].name}:{shown(axes[0].nominal)}" if axes else "axis:0"
        text = f"the values of one cell are expected, for example 'baseline={{{example}}}'"
        problems.append(Problem(f"baseline={shown(value)}", text))
        return None
    known = {axis.name: axis for axis in axes}
    paths = [name for name in swept if name not in known]
    result: dict[str, Value] = {}
    for name, asked in value.items():
        if name in known:
            axis = known[name]
            try:
                result[name] = normalised(asked, axis.nominal, axis.unit)
            except ValueKindError as error:
                key = f"baseline.{name}"
                problems.append(kind_problem(f"{key}={shown(asked)}", key, error, axis.nominal, axis.unit))
        elif name in paths:
            result[name] = asked
        else:
            problems.append(Problem("baseline", f"unknown axis {name!r}{did_you_mean(str(name), [*known, *paths])}"))
    return result


def _section(name: str, value: Any, kind: type[Any], problems: list[Problem]) -> dict[str, Any]:
    keys = [field.name for field in fields(kind)]
    if not isinstance(value, Mapping):
        problems.append(Problem(f"{name}={shown(value)}", f"a group is expected, with the keys {', '.join(keys)}"))
        return {}
    problems += [Problem(f"{name}.{k}", f"unknown key{did_you_mean(str(k), keys)}") for k in value if k not in keys]
    return {key: value[key] for key in keys if key in value}


def _duration(value: Any) -> float:
    try:
        return quantity(value, "s")
    except InvalidInputError:
        return math.nan


def _is_time(value: float | None) -> bool:
    return value is not None and 0 < value < math.inf


def _why_no_seeds(value: Any) -> str:
    if isinstance(value, list):
        return _seed_faults(value) if value else "the list is empty"
    if isinstance(value, int) and not isinstance(value, bool) and value > MAX_SEEDS:
        return f"a count is at most {MAX_SEEDS}; one seed is seeds=[{value}]"
    return "is not a count of at least 1"


def _seed_faults(seeds: list[Any]) -> str:
    wrong = [s for s in seeds if not isinstance(s, int) or isinstance(s, bool) or not 0 <= s < SEED_LIMIT]
    if wrong:
        return f"{', '.join(map(shown, wrong))}: seeds are integers from 0 to 2**64 - 1"
    twice = sorted({seed for seed in seeds if seeds.count(seed) > 1}) if len(set(seeds)) < len(seeds) else []
    return f"{', '.join(map(shown, twice))} given twice" if twice else ""


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _is_text_or_none(value: Any) -> bool:
    return value is None or (isinstance(value, str) and bool(value.strip()))
