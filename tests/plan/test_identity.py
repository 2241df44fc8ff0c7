"""The ids of a Plan whose base's texts were filled in are those of the Plan whose texts were written anew."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sweep.digest import canonical_json
from sweep.plan import load_manifest
from sweep.plan.files import FileImage
from sweep.plan.manifest import with_parts
from sweep.plan.parts import PartMemo
from sweep.plan.plan import Plan
from sweep.plan.template import Template, gap
from sweep.plan.variant import varied_parts
from sweep.runtime import resolve_plan
from tests.runtime.scenes import cart

EDITS = {"pole": {"fields": "body_mass", "names": "pole", "scale": 0.5}}
MODEL = cart()["model"]
NAMED = {**MODEL, "xml": MODEL["xml"].replace('<body><joint name="hinge"', '<body name="pole"><joint name="hinge"')}


def base_plan():
    plan = resolve_plan(load_manifest(cart(model={**NAMED, "edits": EDITS})), {})
    files = {"fb": {"weights": FileImage("0123456789abcdef", b"w")}}
    return Plan.of(plan.manifest, plan.grid, plan.model, files)


BASE = base_plan()
KNOWING = PartMemo()

seconds = st.floats(0.001, 1) | st.integers(1, 5) | st.sampled_from(["7 ms", "1/240", 0.002])
numbers = st.floats(-1e6, 1e6) | st.integers(-5, 5) | st.sampled_from([0.0, -0.0, 1e-300, 1e22])
jitters = st.none() | st.fixed_dictionaries({"type": st.just("uniform"), "high_s": seconds})
VARIED = {
    "components.enc.latency_s": seconds,
    "components.enc.period_s": seconds,
    "components.enc.clock_offset_s": numbers,
    "components.enc.clock_skew_ppm": numbers.filter(lambda ppm: ppm > -1e6),
    "components.enc.enabled": st.booleans(),
    "components.enc.jitter": jitters,
    "components.enc.drop_probability": st.none() | st.floats(0, 1),
    "components.drive.command_latency_s": seconds,
    "components.drive.strength": st.floats(0, 9) | st.lists(st.floats(0, 9), min_size=1, max_size=2),
    "components.drive.fallback": st.sampled_from(["hold", "zero", [1.5]]),
    "controllers.fb.period_s": seconds,
    "controllers.fb.compute_latency_s": seconds,
    "controllers.fb.parameters.gain.2": numbers,
    "model.edits.pole.scale": st.floats(0.1, 2),
    "model.initial.hinge": numbers,
    "model.keyframe": st.none() | st.text(min_size=1, max_size=3),
}
varied = st.fixed_dictionaries({}, optional=VARIED)


@pytest.mark.slow
@settings(max_examples=150)
@given(parameters=varied)
def test_texts_that_were_filled_in_are_those_that_are_written_anew(parameters):
    parts = varied_parts(BASE.manifest, parameters, KNOWING)
    assert parts is not None
    filled_in, manifest = BASE.varied(parts, KNOWING), with_parts(BASE.manifest, parts)
    anew = Plan.of(manifest, BASE.grid, BASE.model, BASE.files)
    assert filled_in == anew
    assert (filled_in == BASE) == (anew == BASE)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("controllers.fb.parameters", {"gain": [1.0, 2.0]}),
        ("controllers.fb.parameters.gain.0", "much"),
        ("controllers.fb.period_s", 0.004),
        ("components.enc.jitter", {"type": "uniform", "high_s": 0.001}),
        ("model.edits", {}),
        ("model.initial", {"slider": 0.1}),
    ],
)
def test_what_lanes_must_share_is_seen_in_parts_that_were_filled_in(path, value):
    parts = varied_parts(BASE.manifest, {path: value}, KNOWING)
    plan = BASE.varied(parts, KNOWING)
    assert plan.layout != BASE.layout
    assert plan.layout == Plan.of(plan.manifest, BASE.grid, BASE.model, BASE.files).layout


plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()


@given(first=plain, between=st.text(), second=plain)
def test_gaps_are_filled_whatever_stands_around_and_in_them(first, between, second):
    template = Template(f"[{gap('b')},{canonical_json(between)},{gap('a')},{gap('b')}]")
    texts = {"a": canonical_json(first), "b": canonical_json(second)}
    assert template.filled(texts) == template.filled(texts) == canonical_json([second, between, first, second])


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [float("nan")]])
def test_what_json_cannot_say_is_no_value(value):
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json(value)
