"""``python -m sweep components``: every component is listed, explained and shown, from its specification alone."""

from __future__ import annotations

import re

import pytest
import yaml

from sweep.cli import main, verbs
from sweep.cli.components import component_types, described, listed
from sweep.cli.docstrings import attributes, meaning_and_unit, summary
from sweep.plan import load_manifest
from sweep.plan.component import Capability
from sweep.plan.fields import PositiveSeconds, Section
from sweep.runtime import InstanceBatch, resolve_plan
from tests.cli.robot import OWN_PARTS, example, manifest_around

TYPES = sorted(component_types())


@pytest.fixture
def own_parts(tmp_path):
    package = tmp_path / "my_robot"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "parts.py").write_text(OWN_PARTS)
    return tmp_path


@pytest.mark.parametrize("name", TYPES)
def test_its_example_is_a_component_that_runs(name, own_parts):
    assert example(name)["type"] == name
    plan = resolve_plan(load_manifest(manifest_around(name), folder=own_parts))
    assert InstanceBatch([plan, plan], [0, 1]).run()[1].outcome.status.value in ("completed", "ended")


@pytest.mark.parametrize("name", TYPES)
def test_every_parameter_is_explained_within_80_columns(name):
    lines = described(name)
    assert max(map(len, lines)) <= 80
    spec = component_types()[name]
    for field, info in spec.model_fields.items():
        if field == "type":
            continue
        (told,) = [n for n, line in enumerate(lines) if re.match(rf"[* ] {info.alias or field}( \[.*\])? +\S", line)][
            :1
        ]
        assert lines[told].startswith("*") == (field in spec.varying)
        assert ("required" in lines[told]) == info.is_required()
        assert len(lines[told + 1].strip()) > 3, f"nothing is said of {field}"
    for stream in (*spec.streams, *spec.episode_streams):
        assert stream in " ".join(lines)


@pytest.mark.parametrize("name", TYPES)
def test_the_example_shown_is_the_one_that_runs(name):
    lines = described(name)
    shown = yaml.safe_load("\n".join(lines[lines.index("Example:") + 1 :]))
    assert shown == {"components": {f"my_{name}": example(name)}}


def test_all_are_listed_by_capability_one_line_each(capsys):
    assert verbs.ANSWERS["components"] is verbs.components
    assert main(["components"]) == 0
    out = capsys.readouterr().out
    assert out == "\n".join(listed()) + "\n"
    assert "\x1b" not in out
    assert max(map(len, out.splitlines())) <= 80
    named = re.findall(r"^  (\w+) {2,}\S", out, flags=re.M)
    assert sorted(named) == TYPES
    headings = [line for line in out.splitlines() if line and not line.startswith((" ", "python"))]
    assert headings == [f"{c.value.replace('_', ' ')}s" for c in Capability]


def test_one_is_printed_and_an_unknown_one_is_answered_with_the_nearest(capsys):
    assert main(["components", "encoder"]) == 0
    out = capsys.readouterr().out
    assert "* latency_s [s]                                0\n      from actual acquisition to delivery" in out
    assert "  joints                                       required\n" in out
    assert "Noise streams: white (a draw for each sample); bias (a draw for each episode);" in out
    assert main(["components", "encodr"]) == 2
    assert "encodr: unknown component; did you mean 'encoder'? There is: " in capsys.readouterr().err


class Part(Section):
    """A part: of a test.  More of it.

    And more.

    Attributes:
        period_s: how often.
        bounds: ``[low, high]`` of something, over
            two lines [m].
        ratio: one in ``[0, 1]`` [-].
    """

    period_s: PositiveSeconds
    bounds: tuple[float, float]
    ratio: float = 0.0


class Special(Part):
    """A special part.

    Attributes:
        period_s: less often [min].
    """


def test_docstrings_say_what_fields_are_and_in_which_unit():
    assert summary(Part) == "A part: of a test."
    assert meaning_and_unit(Part, "period_s") == ("how often.", "s")
    assert meaning_and_unit(Part, "bounds") == ("``[low, high]`` of something, over two lines.", "m")
    assert meaning_and_unit(Part, "ratio") == ("one in ``[0, 1]``.", "")
    assert meaning_and_unit(Special, "period_s") == ("less often.", "min")
    assert meaning_and_unit(Special, "bounds") == meaning_and_unit(Part, "bounds")
    assert list(attributes(Special)) == ["period_s", "bounds", "ratio"]
