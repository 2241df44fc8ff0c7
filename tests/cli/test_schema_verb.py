"""``python -m sweep schema``: what editors are told is what the reader accepts."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from sweep.cli import main, verbs
from sweep.cli.components import component_types
from sweep.cli.schema import manifest_schema, scene_schema
from sweep.plan.manifest import problems_of
from tests.cli.robot import manifest_around
from tests.runtime.scenes import cart, scene_manifest

SCENES = Path(__file__).parents[2] / "conf" / "scene"
MANIFEST, SCENE = Draft202012Validator(manifest_schema()), Draft202012Validator(scene_schema())


@pytest.mark.slow
def test_it_is_printed_as_json(capsys):
    assert verbs.ANSWERS["schema"] is verbs.schema
    for words, expected in ((["schema"], manifest_schema()), (["schema", "--scene"], scene_schema())):
        assert main(words) == 0
        printed = json.loads(capsys.readouterr().out)
        assert printed == json.loads(json.dumps(expected))
        Draft202012Validator.check_schema(printed)


@pytest.mark.parametrize("name", sorted(component_types()))
def test_every_components_example_is_valid(name):
    assert [error.message for error in MANIFEST.iter_errors(manifest_around(name))] == []


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(SCENES.glob("*.yaml")), ids=lambda path: path.stem)
def test_scenes_are_valid_as_written_and_as_read(path):
    assert [error.message for error in SCENE.iter_errors(yaml.safe_load(path.read_text()))] == []
    document = json.loads(json.dumps(scene_manifest(path.stem).document()))
    assert [error.message for error in MANIFEST.iter_errors(document)] == []


def changed(path, value):
    document = copy.deepcopy(cart())
    document["references"] = {"r": {"type": "minimum_jerk", "joints": "hinge", "waypoints": [[0], [1]], "segment_s": 1}}
    place = document
    for word in path.split(".")[:-1]:
        place = place[word]
    place[path.rpartition(".")[2]] = value
    return document


@pytest.mark.parametrize(
    ("path", "value", "accepted"),
    [
        ("components.enc.period_s", "7 ms", True),
        ("components.enc.period_s", "1/240", True),
        ("components.enc.period_s", 2, True),
        ("components.enc.period_s", 0, False),
        ("components.enc.period_s", -0.1, False),
        ("components.enc.period_s", "soon", False),
        ("components.enc.period_s", None, False),
        ("components.enc.joints", "hinge", True),
        ("components.enc.joints", [], False),
        ("components.enc.joints", [1], False),
        ("components.enc.measures", "velocity", True),
        ("components.enc.measures", ["velocity", "torque"], False),
        ("components.enc.jitter", {"type": "uniform", "high_s": "2 ms"}, True),
        ("components.enc.jitter", {"type": "triangular", "high_s": "2 ms"}, False),
        ("components.enc.jitter", {"type": "gamma"}, False),
        ("components.enc.drop_probability", "5 %", True),
        ("components.enc.drop_probability", 1.5, False),
        ("components.enc.colour", "red", False),
        ("components.enc.initial_acquisition", "yes", False),
        ("components.enc.type", "encodr", False),
        ("components.drive.limit", "20", True),
        ("components.drive.limit", [20, "3.5"], True),
        ("components.drive.limit", {"a": 1}, False),
        ("components.drive.fallback", "hold", True),
        ("components.drive.fallback", 1.5, True),
        ("components.drive.fallback", "keep", False),
        ("components.touch", {"type": "contact_held", "geoms": ["a", "b"]}, True),
        ("components.touch", {"type": "contact_held", "geoms": ["a"]}, False),
        ("components.touch", {"type": "contact_held", "geoms": "a"}, False),
        ("components.touch", {"type": "contact_held", "geoms": ["a", "b", "c"]}, False),
        ("components.new-one", {"type": "encoder", "joints": "hinge", "period_s": 1}, False),
        ("controllers.fb.class", "no_colon", False),
        ("controllers.fb.parameters", {"anything": [1, {"goes": None}]}, True),
        ("controllers.fb.files", {"weights": "a.npz"}, True),
        ("controllers.fb.files", "a.npz", False),
        ("references.r.waypoints", [["1", 2.5], [0, 0]], True),
        ("references.r.waypoints", [0, 1], False),
        ("runtime.duration_s", "2 min", True),
        ("runtime.episode_seed", -1, False),
        ("runtime.episode_seed", 2**64 - 1, True),
        ("runtime.episode_seed", 2**64, False),
        ("schema", "3.2", False),
        ("model.initial", {"hinge": "0.3"}, True),
        ("model.initial", {"hinge": True}, False),
    ],
)  # fmt: skip
def test_it_accepts_what_the_reader_accepts(path, value, accepted):
    document = changed(path, value)
    assert MANIFEST.is_valid(document) == accepted
    if path != "references.r.waypoints":  # the number of columns is not the schema's business
        assert (problems_of(document) == ()) == accepted


def test_editors_show_what_docstrings_say():
    sections = manifest_schema()["$defs"]
    encoder = sections["EncoderSpec"]
    assert encoder["description"].startswith("Joint encoders")
    assert "Attributes" not in json.dumps(sections)
    assert encoder["properties"]["latency_s"]["description"].startswith("from actual acquisition to delivery [s]")
    undescribed = [
        f"{name}.{field}"
        for name, section in sections.items()
        for field, value in section["properties"].items()
        if "description" not in value and field != "type"
    ]
    assert undescribed == []


def test_a_scene_may_leave_values_to_its_axes():
    scene = {"latency": None, "manifest": cart()}
    scene["manifest"]["components"]["enc"]["latency_s"] = "${axis:latency, 0.0}"
    scene["manifest"]["components"]["enc"]["joints"] = ["${joint}", "hinge"]
    scene["manifest"]["model"]["initial"]["hinge"] = "${axis:angle, 0.1}"
    assert SCENE.is_valid(scene)
    assert not MANIFEST.is_valid(scene["manifest"])
    scene["manifest"]["components"]["enc"]["latency_s"] = "later"
    assert not SCENE.is_valid(scene)
