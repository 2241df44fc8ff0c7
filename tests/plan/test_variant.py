"""A manifest with values put in is the document with the values put in, whatever is remembered of its parts."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sweep.digest import canonical_json, content_id, joined_json
from sweep.errors import InvalidInputError
from sweep.plan import load_manifest
from sweep.plan.files import with_digests
from sweep.plan.parts import REMEMBERED, PartMemo
from sweep.plan.plan import NOT_OF_THE_PLAN
from sweep.plan.variant import with_parameters
from sweep.runtime import Resolver
from tests.runtime.scenes import cart, scene_manifest


def put(document, path, value):
    document = copy.deepcopy(document)
    *parents, leaf = path.split(".")
    place = document
    for word in parents:
        place = place[int(word)] if isinstance(place, list) else place[word]
    place[int(leaf) if isinstance(place, list) else leaf] = value
    return document


def outcome(load):
    """What is loaded, or what is wrong with it."""
    try:
        return load()
    except InvalidInputError as error:
        return set(error.problems)


VALUES = {
    "components.enc.latency_s": (0.002, "7 ms", 0),
    "components.enc.white_std": (0.1, 0.0),
    "components.enc.jitter": (None, {"type": "uniform", "width_s": 0.001}),
    "components.drive.actuators": (["push"], "push"),
    "controllers.fb.parameters.gain": ([1.0, 2.0, 3.0, 4.0],),
    "controllers.fb.parameters.gain.2": (5.0, -1),
    "controllers.fb.period_s": (0.01, "1/50"),
    "metrics.angle.unit": ("rad", "deg"),
    "model.initial.hinge": (0.3, 0.1),
    "runtime.duration_s": (0.5, "20 ms"),
    "runtime.timestep_s": (0.0005,),
}
parameters = st.fixed_dictionaries({}, optional={path: st.sampled_from(values) for path, values in VALUES.items()})
MEMO = PartMemo()
BASE = load_manifest(cart())
KNOWING, ANEW = Resolver(), Resolver()
KNOWING.resolve(BASE, {})


@settings(max_examples=40)
@given(parameters=parameters)
def test_a_variant_is_the_changed_document(parameters):
    document = BASE.document()
    for path, value in parameters.items():
        document = put(document, path, value)
    expected = outcome(lambda: load_manifest(document))
    assert outcome(lambda: with_parameters(BASE, parameters, MEMO)) == expected
    assert outcome(lambda: with_parameters(BASE, parameters)) == expected


@settings(max_examples=40)
@given(parameters=parameters)
def test_a_plan_with_other_values_is_that_of_the_changed_document(parameters):
    document = BASE.document()
    for path, value in parameters.items():
        document = put(document, path, value)
    assert resolved(KNOWING, BASE, parameters) == resolved(ANEW, document, {})


def resolved(resolver, manifest, parameters):
    plan = outcome(lambda: resolver.resolve(manifest, parameters))
    return plan if isinstance(plan, set) else (plan.plan_id, plan.layout, plan.horizon, plan.manifest.document())


@pytest.mark.slow
@pytest.mark.parametrize("scene", ["cartpole", "arm", "stand", "platform"])
def test_numbers_that_lanes_may_differ_in_are_of_one_layout_or_found_to_be_of_another(scene):
    manifest, knowing, forgetful = scene_manifest(scene), Resolver(), Resolver()
    knowing.resolve(manifest, {})
    sections = {"components": manifest.components, "controllers": manifest.controllers}
    numbers = {
        f"{section}.{name}.{field}": value
        for section, parts in sections.items()
        for name, part in parts.items()
        for field in part.varying
        if isinstance(value := getattr(part, field), float)
    }
    assert len(numbers) > 5
    for path, value in numbers.items():
        for other in (value * 1.5, value + 0.25, -1.0, None):
            parameters = {path: other}
            assert resolved(knowing, manifest, parameters) == resolved(forgetful, manifest, parameters), parameters


def test_what_is_not_touched_is_shared_and_the_base_stays():
    before = BASE.document()
    memo = PartMemo()
    once, again = (with_parameters(BASE, {"components.enc.latency_s": 0.003}, memo) for _ in range(2))
    assert once.components["enc"] is again.components["enc"]
    assert once.components["drive"] is BASE.components["drive"]
    assert (once.model, once.runtime) == (BASE.model, BASE.runtime)
    assert once.model is BASE.model
    assert BASE.document() == before


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("components.enc.latency_s", -1.0),
        ("components.enc.latency_s", float("nan")),
        ("components.enc.type", "encodr"),
        ("components.enc.period_s", 0.0001),
        ("controllers.fb.inputs", ["nix"]),
        ("metrics.angle.reference", "nix"),
        ("model.edits", {"a": {"fields": "body_mass"}}),
        ("runtime.duration_s", "5 kg"),
        ("components.enc", {"type": "torque"}),
        ("schema", "3.2"),
    ],
)
def test_what_is_wrong_is_told_as_for_the_document(path, value):
    document = put(BASE.document(), path, value)
    with pytest.raises(InvalidInputError) as whole:
        load_manifest(document)
    with pytest.raises(InvalidInputError) as variant:
        with_parameters(BASE, {path: value}, MEMO)
    assert str(variant.value) == str(whole.value)


def whole_plan_id(plan):
    """The id of a Plan from its whole document, without its parts."""
    document = plan.manifest.model_dump(mode="json", by_alias=True, exclude=NOT_OF_THE_PLAN)
    document["controllers"] = with_digests(document["controllers"], plan.files)
    return content_id({"manifest": document, "timestep": str(plan.grid.timestep), "model": plan.model.source_id})


@pytest.mark.slow
@pytest.mark.parametrize("scene", ["cartpole", "arm", "stand"])
def test_ids_do_not_depend_on_what_is_remembered(scene):
    resolver, manifest = Resolver(), scene_manifest(scene)
    name = next(iter(manifest.components))
    for latency in (0.001, 0.002, 0.001):
        parameters = {f"components.{name}.latency_s": latency, "runtime.duration_s": 1 + latency}
        known, fresh = resolver.resolve(manifest, parameters), Resolver().resolve(manifest, parameters)
        assert (known.plan_id, known.layout) == (fresh.plan_id, fresh.layout)
        assert known.plan_id == whole_plan_id(known)


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text(), part, max_size=3),
    max_leaves=8,
)


@settings(max_examples=50)
@given(value=st.dictionaries(st.text(), plain, max_size=4))
def test_json_can_be_joined_from_its_parts(value):
    joined = joined_json({key: canonical_json(part) for key, part in value.items()})
    assert joined == canonical_json(value)
    assert json.loads(joined) == value


def test_an_answer_is_found_once_for_one_part_and_forgotten_in_time():
    asked = []

    def answer(name, part, *around):
        asked.append((name, *part, *around))
        return len(asked)

    memo, part = PartMemo(), [1]
    assert [memo.of(answer, "a", part), memo.of(answer, "a", part), memo.of(answer, "b", part)] == [1, 1, 2]
    assert memo.of(answer, "a", [1]) == 3, "an equal part is another part"
    assert memo.of(answer, "a", part, "near") == 4
    for index in range(REMEMBERED):
        memo.of(answer, "a", [index])
    assert memo.of(answer, "a", part) == len(asked) == REMEMBERED + 5
