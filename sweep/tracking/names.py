"""Names that MLflow's views can use: ``group/name``, ``_`` and never ``-``, 40 characters at most, all different."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sweep.digest import content_id
from sweep.results import MetricInfo

LONGEST = 40
"""Longer keys are cut off in MLflow's contour plot."""

SUFFIX = "/delta_vs_baseline"
"""The longest suffix that a metric's name takes."""

DIRECTIONS = {"lower": "Lower_is_better", "higher": "Higher_is_better"}
"""The group of a sweep's first metric: MLflow's plots begin with what sorts first, which is capitals."""

GROUPS = ("outcomes", *DIRECTIONS.values())
"""Groups that are no metric's."""

DIGEST = 4


def clean(name: str) -> str:
    """``name`` with only the characters that MLflow allows and its box plot can split, as a path without dots."""
    steps = re.sub(r"[^0-9A-Za-z_./ ]+", "_", name).split("/")
    return "/".join(step for step in (step.strip(" .") for step in steps) if step) or "_"


def shorten(name: str, longest: int = LONGEST) -> str:
    """A clean name of ``longest`` characters at most; a shortened one ends in a digest of the whole."""
    text = clean(name)
    if len(text) <= longest:
        return text
    return f"{text[: longest - DIGEST - 1].rstrip('/ ._')}_{content_id(name)[:DIGEST]}"


def unique(names: Iterable[str], longest: int = LONGEST) -> dict[str, str]:
    """Each name to a clean one, no two the same; a name that is fine already keeps itself."""
    names = list(dict.fromkeys(names))
    fine = {name for name in names if shorten(name, longest) == name}
    taken, result = set(fine), {name: name for name in fine}
    for name in names:
        if name in fine:
            continue
        short = shorten(name, longest)
        digits = DIGEST
        while short in taken:
            short = f"{clean(name)[: longest - digits - 1].rstrip('/ ._')}_{content_id(name)[:digits]}"
            digits += 1
        taken.add(short)
        result[name] = short
    return result


def metric_bases(names: Iterable[str]) -> dict[str, str]:
    """Each metric to the base that leaves room for :data:`SUFFIX`; :data:`GROUPS` are taken."""
    bases = unique([*GROUPS, *(name.replace("/", "_") for name in names)], LONGEST - len(SUFFIX))
    return {name: f"metric_{name}" if name in GROUPS else bases[name.replace("/", "_")] for name in names}


def telling_name(metric: str, info: MetricInfo) -> str:
    """A name that tells a metric's better direction and its unit: ``Lower_is_better/angle_rms_rad``."""
    unit = info.unit.replace("/", "_per_").replace("^", "")
    words = f"{metric} {unit}".replace("/", "_")
    return shorten(f"{DIRECTIONS[info.better]}/{re.sub('[^0-9A-Za-z.]+', '_', words).strip('_')}")
