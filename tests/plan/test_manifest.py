"""Documents that are wrong: every problem at once, each with its path and the nearest match."""

from __future__ import annotations

import copy
import math
from pathlib import Path

import pytest

from sweep.errors import ClaimConflictError, InvalidInputError
from sweep.plan import load_manifest
from sweep.plan.claims import MocapPose, StateClaim
from sweep.plan.manifest import problems_of
from sweep.plan.sensors import EncoderSpec
from sweep.runtime import Resolver, resolve_plan
from tests.runtime.scenes import CART, cart, scene_manifest


def changed(path, value, **sections):
    """The cart's document with one value set (deleted where it is ...)."""
    document = cart(**sections)
    *parents, leaf = path.split(".")
    place = document
    for word in parents:
        place = place[word]
    if value is ...:
        del place[leaf]
    else:
        place[leaf] = value
    return document


def problems(document):
    with pytest.raises(InvalidInputError) as caught:
        resolve_plan(document)
    return {problem.path: problem.message for problem in caught.value.problems}


WRONG = [
    ("schema", "3.2", "schema", "'3.2'"),
    ("schema", ..., "schema", "required"),
    ("runtime.timestep", 1, "runtime.timestep", "did you mean 'timestep_s'"),
    ("runtime.mode", "unbound", "runtime.mode", "did you mean 'unbounded'"),
    ("runtime.duration_s", "5 kg", "runtime.duration_s", "not a duration"),
    ("runtime.duration_s", -1, "runtime.duration_s", "-1"),
    ("runtime.timestep_s", 1e-10, "runtime.timestep_s", "greater than or equal to 0.000000001"),
    ("components.enc.latency_s", 1e300, "components.enc.latency_s", "less than or equal to 1000000000"),
    ("runtime.episode_seed", 2**64, "runtime.episode_seed", "less than"),
    ("runtime.episode_seed", -1, "runtime.episode_seed", "0"),
    ("components.enc.type", "encodr", "components.enc", "did you mean 'encoder'"),
    ("components.enc.type", ..., "components.enc", "type"),
    ("components.enc.latency", 0.1, "components.enc.latency", "did you mean 'latency_s'"),
    ("components.enc.joints", ["slider", "hing"], "components.enc.joints", "did you mean 'hinge'"),
    ("components.enc.measures", ["velocty"], "components.enc.measures[0]", "did you mean 'velocity'"),
    ("components.enc.white_std", "a lot", "components.enc.white_std", "plain number"),
    ("components.enc.white_std", float("nan"), "components.enc.white_std", "finite"),
    ("components.enc.period_s", 0.0005, "components.enc.period_s", "shorter than the timestep"),
    ("components.enc.phase_s", 0.003, "components.enc.period_s", "phase"),
    ("components.drive.actuators", "pusch", "components.drive.actuators", "did you mean 'push'"),
    ("components.drive.limit", [1, 2, 3], "components.drive.limit", "3 numbers for 1 controls"),
    ("components.drive.limit", -1.0, "components.drive.limit", "at least 0"),
    ("controllers.fb.inputs", "encoder", "controllers.fb.inputs", "did you mean 'enc'"),
    ("controllers.fb.outputs", "drives", "controllers.fb.outputs", "did you mean 'drive'"),
    ("controllers.fb.period_s", 0.0001, "controllers.fb.period_s", "shorter"),
    ("controllers.fb.class", "sweep.runtime.controllers:StateFedback", "controllers.fb.class", "'StateFeedback'"),
    ("controllers.fb.class", "sweep.runtime.nowhere:X", "controllers.fb.class", "cannot import"),
    ("controllers.fb.class", "no class", "controllers.fb.class", "pattern"),
    ("controllers.fb.parameters", {"gain": math.nan}, "controllers.fb.parameters", "gain is nan"),
    ("controllers.fb.parameters", {"gain": [{1, 2}]}, "controllers.fb.parameters", "gain[0] is a set"),
    ("controllers.fb.references", "reach", "controllers.fb.references", "unknown reference 'reach'"),
    ("metrics.angle.joint", "hingee", "metrics.angle.joint", "did you mean 'hinge'"),
    ("metrics.angle.type", "rsm", "metrics.angle.type", "did you mean 'rms'"),
    ("model.initial", {"hnge": 1.0}, "model.initial", "did you mean 'hinge'"),
    ("model.keyframe", "home", "model.keyframe", "unknown keyframe 'home'"),
    ("model.motors", "servo*", "model.motors", "no actuator matches"),
    ("model.edits", {"m": {"fields": "body_mas", "scale": 2}}, "model.edits.m.fields", "did you mean 'body_mass'"),
    ("model.file", "cart.xml", "model", "give one of"),
]


@pytest.mark.parametrize(("path", "value", "where", "what"), WRONG)
def test_each_problem_has_its_path_and_says_what_is_allowed(path, value, where, what):
    found = problems(changed(path, value))
    assert set(found) == {where}
    assert what in found[where]


def test_all_problems_come_at_once():
    document = cart()
    document["components"]["enc"] |= {"latency": 1, "type": "encoder", "white_std": -1}
    document["components"]["drive"]["type"] = "tork"
    document["runtime"]["mod"] = "x"
    document["metrics"]["angle"]["better"] = "bigger"
    assert set(problems(document)) == {
        "components.enc.latency", "components.enc.white_std", "components.drive", "runtime.mod", "metrics.angle.better",
    }  # fmt: skip


def test_problems_with_the_model_come_at_once_too():
    document = cart()
    document["components"]["enc"] |= {"joints": ["hing"], "period_s": 0.0035, "quantization": "strict",
                                      "latency_s": 0.0004, "latency_quantization": "strict"}  # fmt: skip
    document["components"]["drive"]["actuators"] = ["puhs", "twit"]
    document["controllers"]["fb"]["class"] = "nowhere:X"
    document["metrics"]["angle"]["joint"] = "angel"
    del document["runtime"]["timestep_s"]  # the model's own, so that all of it is found at one time
    found = problems(document)
    assert set(found) == {
        "components.enc.joints", "components.enc.period_s", "components.enc.latency_s", "components.drive.actuators",
        "controllers.fb.class", "metrics.angle.joint",
    }  # fmt: skip
    for said in ("0.0035 s", "0.004 s", "timestep of 0.0005 s"):
        assert said in found["components.enc.period_s"]
    assert not found["components.enc.period_s"].startswith("components")


def test_an_unknown_fallback_names_those_that_exist():
    assert (
        "There is: hold, zero, brake"
        in problems(changed("components.drive.fallback", "coast"))["components.drive.fallback"]
    )


def test_two_drivers_of_one_actuator_are_both_named():
    document = cart()
    document["components"]["other"] = {"type": "torque", "actuators": "push"}
    assert problems(document) == {"components.other.actuators": "'push' is driven by 'drive' already"}


# --- files ----------------------------------------------------------------------------------------------------------


def test_duplicate_keys_are_refused_with_their_line(tmp_path):
    file = tmp_path / "m.yaml"
    file.write_text("schema: '3.3'\nmodel:\n  xml: <mujoco/>\nschema: '3.3'\n")
    with pytest.raises(InvalidInputError, match=r"line 4.*'schema' stands twice, first in line 1"):
        load_manifest(file)
    file.write_text("schema: '3.3'\nmodel: {xml: <mujoco/>, xml: <mujoco/>}\n")
    with pytest.raises(InvalidInputError, match=r"line 2.*'xml' stands twice"):
        load_manifest(file)


@pytest.mark.parametrize("text", ["", "- a\n- b\n", "a: [1\n", "\t", "just words"])
def test_what_is_no_mapping_is_refused(tmp_path, text):
    file = tmp_path / "m.yaml"
    file.write_text(text)
    with pytest.raises(InvalidInputError, match=r"m\.yaml"):
        load_manifest(file)
    with pytest.raises(InvalidInputError, match="cannot be read"):
        load_manifest(tmp_path / "none.yaml")


def test_a_missing_model_file_is_said_with_those_that_exist(tmp_path):
    (tmp_path / "pole.xml").write_text("<mujoco/>")
    document = {"schema": "3.3", "model": {"file": "pol.xml"}}
    with pytest.raises(InvalidInputError, match=r"model\.file: no such file: .*pol\.xml; MJCF files there: pole\.xml"):
        load_manifest(document, folder=tmp_path)


@pytest.mark.parametrize(("model", "match"), [
    ({"package": "openarm-mujocoo", "file": "x.xml"}, r"model\.package: no package 'openarm-mujocoo'.*pip install"),
    ({"package": "openarm-mujoco", "file": "v2/openarm_bimanul.xml"}, r"model\.file: .*mean .*bimanual\.xml"),
    ({"xml": "<mujoco><worldbody><geom/></worldbody></mujoco>"}, r"model.*MuJoCo says"),
    ({"xml": "<mujoco"}, r"model\.xml: MuJoCo says"),
])  # fmt: skip
def test_models_that_cannot_be_had(model, match):
    with pytest.raises(InvalidInputError, match=match):
        resolve_plan({"schema": "3.3", "model": model})


FORCE = '<actuatorfrc name="force"'
REFUSED = [
    ('<motor name="push"', '<motor name="push" delay="0.002" nsample="4"', "actuator 'push' has a native delay"),
    (FORCE, f'{FORCE} delay="0.002" nsample="4"', "sensor 'force' has a native delay"),
    (FORCE, f'{FORCE} interval="0.01" nsample="4"', "sensor 'force' has a native interval"),
    ('integrator="Euler"/>', 'integrator="Euler"><flag sleep="enable"/></option>', "sleep"),
]


@pytest.mark.parametrize(("old", "new", "what"), REFUSED)
def test_native_features_that_break_the_contract_are_refused_with_a_remedy(old, new, what):
    document = cart()
    document["model"]["xml"] = CART.format(integrator="Euler").replace(old, new, 1)
    (message,) = problems(document).values()
    assert what in message
    assert "remove" in message


# --- parameters -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("path", "what"), [
    ("components.enk.latency_s", "there is no 'enk'; did you mean 'enc'"),
    ("components.enc.latency", "did you mean 'latency_s'"),
    ("runtme.duration_s", "did you mean 'runtime'"),
    ("controllers.fb.parameters.gian", "did you mean 'gain'"),
    ("controllers.fb.parameters.gain.4", "there is no '4'"),
    ("controllers.fb.parameters.gain.0.x", "'0' has no parts"),
    ("model.initial.hing", "did you mean 'hinge'"),
    ("latency", "unknown key"),
])  # fmt: skip
def test_a_parameter_that_nobody_binds_is_refused(path, what):
    with pytest.raises(InvalidInputError) as caught:
        resolve_plan(cart(), {path: 0.5})
    assert what in str(caught.value)


def test_a_value_of_the_wrong_unit_is_refused():
    with pytest.raises(InvalidInputError, match=r"components\.enc\.latency_s: .*'5 kg' is not a duration"):
        resolve_plan(cart(), {"components.enc.latency_s": "5 kg"})


# --- identities -----------------------------------------------------------------------------------------------------


def test_a_plans_id_ignores_seed_mode_blocks_and_where_files_lie(tmp_path):
    plan = resolve_plan(cart())
    for path, value in [("runtime.episode_seed", 3), ("runtime.mode", "rendered"), ("runtime.max_block", 4)]:
        other = resolve_plan(cart(), {path: value})
        assert (other.plan_id, other.layout) == (plan.plan_id, plan.layout)
    ids = set()
    for folder in (tmp_path / "a", tmp_path / "b" / "c"):
        folder.mkdir(parents=True)
        (folder / "cart.xml").write_text(CART.format(integrator="Euler"))
        document = cart()
        document["model"] = {"file": "cart.xml", "initial": {"hinge": 0.1}}
        ids.add(resolve_plan(load_manifest(document, folder=folder)).plan_id)
        document["model"]["file"] = str(folder / "cart.xml")
        ids.add(resolve_plan(document).plan_id)
    assert len(ids) == 1


def numbers(value, path=""):
    if isinstance(value, dict):
        for key, part in value.items():
            yield from numbers(part, f"{path}.{key}".lstrip("."))
    elif isinstance(value, float | int) and not isinstance(value, bool):
        yield path, value


@pytest.mark.slow
@pytest.mark.parametrize("scene", ["cartpole", "arm"])
def test_any_number_changes_a_plans_id(scene):
    resolver, manifest = Resolver(), scene_manifest(scene)
    ids = {resolver.resolve(manifest, {}).plan_id}
    skipped = {"runtime.episode_seed", "runtime.max_block"}
    paths = [(path, value) for path, value in numbers(manifest.document()) if path not in skipped]
    for path, value in paths:
        changed_value = value / 2 if path == "runtime.timestep_s" else value * 2 if value else 0.0005
        ids.add(resolver.resolve(manifest, {path: changed_value}).plan_id)
    assert len(ids) == len(paths) + 1
    assert len(paths) > 10


def test_equal_numbers_give_equal_ids_however_they_are_written():
    ids = {resolve_plan(cart(), {"components.enc.latency_s": value}).plan_id
           for value in (0.002, "2 ms", "0.002", "1/500", "2e-3 s")}  # fmt: skip
    assert ids == {resolve_plan(cart()).plan_id}


def test_the_models_text_is_part_of_the_id():
    other = cart()
    other["model"]["xml"] = other["model"]["xml"].replace('mass=".2"', 'mass=".3"')
    assert resolve_plan(other).plan_id != resolve_plan(cart()).plan_id
    assert resolve_plan(other).layout != resolve_plan(cart()).layout


def test_a_layout_is_shared_by_what_one_batch_can_run():
    layout = resolve_plan(cart()).layout
    same = [("components.enc.latency_s", 0.1), ("components.enc.period_s", 0.01), ("components.enc.white_std", 0.0),
            ("components.drive.command_latency_s", 0.5), ("controllers.fb.compute_latency_s", 0.01),
            ("controllers.fb.parameters.gain", [1.0] * 4), ("model.initial.hinge", 0.3)]  # fmt: skip
    assert {resolve_plan(cart(), {path: value}).layout for path, value in same} == {layout}
    different = [("components.enc.joints", ["hinge", "slider"]), ("components.enc.measures", ["position"]),
                 ("components.enc.initial_acquisition", True), ("components.drive.actuators", "twist"),
                 ("controllers.fb.period_s", 0.01), ("controllers.fb.phase_s", 0.001), ("runtime.duration_s", 0.3),
                 ("runtime.timestep_s", 0.0005), ("metrics.angle.type", "mean_abs"),
                 ("controllers.fb.parameters.gain", [1.0] * 5), ("model.initial.slider", 0.1)]  # fmt: skip
    layouts = [resolve_plan(cart(), {path: value}).layout for path, value in different]
    assert len({layout, *layouts}) == len(different) + 1


def test_a_document_survives_its_round_trip():
    for manifest in (load_manifest(cart()), scene_manifest("cartpole"), scene_manifest("arm")):
        again = load_manifest(copy.deepcopy(manifest.document()), folder=manifest.folder)
        assert again == manifest
        assert Path(again.folder or "x") == Path(manifest.folder or "x")


def test_two_claims_on_one_resource_fail_plan_construction(monkeypatch):
    monkeypatch.setattr(EncoderSpec, "claims", lambda self, name: (StateClaim(MocapPose("hand"), name),))
    document = cart()
    resolve_plan(document)
    document["components"]["twin"] = document["components"]["enc"]
    with pytest.raises(InvalidInputError, match=r"mocap_pose\('hand'\) is claimed by 'enc' and 'twin'"):
        resolve_plan(document)
    assert issubclass(ClaimConflictError, InvalidInputError)


def test_broken_parts_do_not_hide_problems_of_the_others():
    document = {
        "schema": "3.3",
        "model": {"file": "nix.xml"},
        "runtime": {"timestep_s": 0.002},
        "components": {
            "enc": {"type": "encodr", "joints": "hinge", "period_s": 0.002},
            "other": {"type": "encoder", "joints": "hinge", "period_s": 0.003, "quantization": "strict"},
            "drive": {"type": "torque", "actuators": "motor"},
        },
        "controllers": {"c": {"class": "a:B", "period_s": 0.002, "inputs": ["enc", "othr"], "outputs": "drive"}},
        "metrics": {"m": {"type": "rsm", "joint": "hinge", "unit": "rad"}},
    }
    paths = {problem.path for problem in problems_of(document)}
    assert paths == {
        "components.enc",
        "components.other.period_s",
        "controllers.c.inputs",
        "metrics.m.type",
        "model.file",
    }


def test_elements_without_a_name_are_no_names():
    unnamed = "<mujoco><worldbody><body><joint/><geom size='.1'/><site/></body></worldbody></mujoco>"
    document = {
        "schema": "3.3",
        "model": {"xml": unnamed, "initial": {"": 0.1}},
        "components": {
            "push": {"type": "push", "body": "", "interval_s": 0.1, "duration_s": 0.1, "force_n": 1},
            "enc": {"type": "encoder", "joints": [""], "period_s": 0.1},
        },
    }
    assert set(problems(document)) == {"model.initial", "components.push.body", "components.enc.joints"}


@pytest.mark.parametrize("timestep", ["nan", "0", "1e-12", "1e10"])
def test_a_models_own_timestep_must_be_one(timestep):
    document = {"schema": "3.3", "model": {"xml": f"<mujoco><option timestep='{timestep}'/></mujoco>"}}
    assert "from 1e-09 to 1e+09 s are allowed" in problems(document)["model.option"]
