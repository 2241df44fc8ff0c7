"""From words to a SweepSpec with real Hydra; every way to ask wrong is told in one message."""

import os
import subprocess
import sys
import time
from pathlib import Path

import hydra
import pytest

from sweep.config import available
from sweep.config.files import own_folder
from sweep.config.load import load_spec, show_config
from sweep.design import DesignSpec, ExecutorSpec, Interval
from sweep.errors import InvalidInputError, Problem

SCENE = """\
# @package _global_
latency: null
gain: null
count: null
mode: null
is_on: null
offset: null
manifest:
  components:
    encoders: {joints: [a, b], latency_s: "${axis:latency, 2 ms}"}
    imu: {latency_s: "${axis:latency, 0.002}", rate_hz: 100}
    track: {gain: "${axis:gain, 1.5}", count: "${axis:count, 3}", mode: "${axis:mode, fast}"}
    wall: {lit: "${axis:is_on, true}", offset_m: "${axis:offset, [0, 0.5]}", points: [1.0, 2.0]}
"""


def check(manifest, *, base_dir=None):
    """A small stand-in for the Manifest's own check: no negative latency, no unknown key of encoders."""
    found = []
    for name, part in manifest.get("components", {}).items():
        if not isinstance(part, dict):
            continue
        latency = part.get("latency_s", 0)
        if not isinstance(latency, str) and latency < 0:
            found.append(Problem(f"components.{name}.latency_s", f"must be at least 0, not {latency}"))
        found += [Problem(f"components.{name}.{key}", "unknown key") for key in part if key.startswith("bad")]
    return tuple(found)


@pytest.fixture(autouse=True)
def _stand_in(monkeypatch):
    monkeypatch.setattr("sweep.config.swept.problems_of", check)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine" / "scene").mkdir(parents=True)
    (tmp_path / "mine" / "scene" / "bot.yaml").write_text(SCENE)
    return tmp_path / "mine"


@pytest.fixture
def load(folder):
    return lambda *words, **more: load_spec(["scene=bot", *words], config_dirs=[str(folder)], **more)


@pytest.fixture
def refusal(load):
    def message(*words, **more):
        with pytest.raises(InvalidInputError) as caught:
            load(*words, **more)
        text = str(caught.value)
        assert "Traceback" not in text
        assert "\x00" not in text
        return text

    return message


@pytest.fixture
def scene(folder):
    """Write another scene and load it."""

    def loaded(text, *words):
        (folder / "scene" / "other.yaml").write_text(text)
        return load_spec(["scene=other", *words], config_dirs=[str(folder)])

    return loaded


# What is understood


def test_nothing_swept(load, folder):
    spec = load()
    assert spec.scene == "bot"
    assert Path(spec.scene_dir) == folder / "scene"
    assert spec.seeds == tuple(range(16))
    assert spec.swept == {}
    assert spec.overrides == ("scene=bot",)
    assert spec.executor.kind == "auto"
    assert spec.tracking.enabled
    assert (spec.name, spec.baseline, spec.output) == (None, None, "sweeps")


def test_axes_are_found_where_they_are_bound(load):
    axes = {axis.name: axis for axis in load().axes}
    assert list(axes) == ["latency", "gain", "count", "mode", "is_on", "offset"]
    assert axes["latency"].bindings == ("components.encoders.latency_s", "components.imu.latency_s")
    assert (axes["latency"].nominal, axes["latency"].unit) == (0.002, "s")
    assert (axes["gain"].nominal, axes["gain"].unit) == (1.5, "")
    assert (axes["offset"].nominal, axes["offset"].unit) == ((0.0, 0.5), "m")


def test_nominal_values_stand_in_the_manifest_as_plain_data(load):
    components = load().manifest["components"]
    assert components["encoders"] == {"joints": ["a", "b"], "latency_s": 0.002}
    assert components["wall"] == {"lit": True, "offset_m": [0.0, 0.5], "points": [1.0, 2.0]}
    assert type(components) is dict


@pytest.mark.parametrize("prefix", ["", "+", "++"])
def test_the_three_spellings_of_an_axis(load, prefix):
    assert load(f"{prefix}latency=0.002,0.005").swept == {"latency": (0.002, 0.005)}
    assert load(f"{prefix}latency=0.005").swept == {"latency": (0.005,)}


@pytest.mark.parametrize(
    ("word", "values"),
    [
        ("latency=2ms,5 ms,1e-2,1/250", (0.002, 0.005, 0.01, 0.004)),
        ("latency=choice(1,2)", (1.0, 2.0)),
        ("latency=range(0,0.75,0.25)", (0.0, 0.25, 0.5)),
        ("latency=range(1,4),7", (1.0, 2.0, 3.0, 7.0)),
        ("latency=choice(range(1,3),5)", (1.0, 2.0, 5.0)),
        ("latency=sort(3,1,2,reverse=true)", (3.0, 2.0, 1.0)),
        ("latency=3,1,3.0,1", (3.0, 1.0, 3.0, 1.0)),
        ("gain=50%,2", (0.5, 2.0)),
        ("count=2,4.0", (2, 4)),
        ("mode=slow,fast", ("slow", "fast")),
        ("is_on=true,false", (True, False)),
        ("offset=[0,1],[1mm,2]", ((0.0, 1.0), (0.001, 2.0))),
        ("manifest.components.imu.rate_hz=50,1kHz", (50.0, 1000.0)),
        ("manifest.components.wall.points.1=3,4", (3.0, 4.0)),
        ("+manifest.components.imu.more=3,4", (3, 4)),
    ],
)
def test_values_are_read_in_si_units(load, word, values):
    (found,) = load(word).swept.values()
    assert found == values
    assert [type(value) for value in found] == [type(value) for value in values]


def test_a_list_index_in_brackets_is_read_or_corrected(load, refusal):
    word = "manifest.components.wall.points[1]=3"
    if hydra.__version__ < "1.4":  # its grammar has no brackets in keys
        message = refusal(word)
        assert "cannot be read at '['" in message
        assert "write manifest.components.wall.points.1=3" in message
    else:
        assert load(word).manifest["components"]["wall"]["points"] == [1.0, 3]


def test_shuffle_is_the_same_every_time(load):
    once, again = (load("latency=shuffle(range(20))").swept["latency"] for _ in range(2))
    assert once == again != tuple(sorted(once))
    assert sorted(once) == list(range(20))


def test_the_order_of_the_command_line_is_kept(load):
    assert list(load("gain=1,2", "latency=0,1", "mode=a").swept) == ["gain", "latency", "mode"]


def test_words_change_the_base(load):
    spec = load(
        "manifest.components.imu.rate_hz=50",
        "+manifest.components.extra={a: 1}",
        "~manifest.components.wall.lit",
        "~is_on",
    )
    components = spec.manifest["components"]
    assert components["imu"]["rate_hz"] == 50
    assert components["extra"] == {"a": 1}
    assert "lit" not in components["wall"]
    assert "is_on" not in [axis.name for axis in spec.axes]


def test_a_plain_value_in_place_of_a_binding(load):
    spec = load("manifest.components.track.gain=2", "manifest.components.imu.latency_s=0.1")
    axes = {axis.name: axis for axis in spec.axes}
    assert axes["gain"].nominal == 2  # its only binding: the nominal value changes
    assert axes["latency"].bindings == ("components.encoders.latency_s",)  # one of two: no longer bound there
    assert spec.manifest["components"]["imu"]["latency_s"] == 0.1


@pytest.mark.parametrize(
    ("word", "interval"),
    [
        ("latency=interval(0,0.01)", Interval(low=0.0, high=0.01)),
        ("latency=interval(1ms, 20ms)", Interval(low=0.001, high=0.02)),
        ("latency=tag(log,interval('1 ms',1))", Interval(low=0.001, high=1.0, is_log=True)),
        ("latency=interval(start=0,end=1/500)", Interval(low=0.0, high=0.002)),
        ("gain=interval(50%,2)", Interval(low=0.5, high=2.0)),
        ("gain=int(interval(1,5))", Interval(low=1, high=5, is_integer=True)),
        ("gain=tag(log,int(interval(1,100)))", Interval(low=1, high=100, is_log=True, is_integer=True)),
        ("count=interval(1,5)", Interval(low=1.0, high=5.0)),  # the stand-in takes fractions of it
        ("manifest.components.imu.rate_hz=interval(50,1kHz)", Interval(low=50.0, high=1000.0)),
    ],
)
def test_intervals_are_read_in_si_units(load, word, interval):
    assert list(load(word, "design=lhs").swept.values()) == [interval]


def test_a_design_and_what_it_is_told(load):
    assert load().design == DesignSpec()
    sobol = load("design=sobol", "design.n=64", "design.seed=3", "design.digits=null", "latency=interval(0,1)").design
    assert sobol == DesignSpec(kind="sobol", n=64, seed=3, digits=None)
    grid = load("design.levels=5", "design.center=true", "latency=interval(0,1)").design
    assert grid == DesignSpec(levels=5, center=True)


@pytest.mark.parametrize("kind", ["grid", "zip", "star", "random", "lhs", "sobol"])
def test_every_design_is_there_with_its_keys(load, kind):
    assert load(f"design={kind}", "latency=1,2").design == DesignSpec(kind=kind)


@pytest.mark.parametrize(
    "word",
    ["exclude=latency > 10ms and gain<2", "+exclude=latency > 10ms and gain<2", "exclude='latency > 10ms and gain<2'"],
)
def test_a_condition_is_taken_as_it_is(load, word):
    assert load(word).exclude == "latency > 10ms and gain<2"
    assert load("exclude=null").exclude is None


def test_settings(load):
    spec = load(
        "seeds=[1,5,18446744073709551615]",
        "name=enc-2.x",
        "output=/tmp/o",
        "executor=ray",
        "executor.workers=3",
        "executor.address=auto",
        "executor.shard_s=5 s",
        "executor.timeout_s=10 min",
        "tracking=none",
        "tracking.experiment=lab",
        "baseline={latency:2ms, gain:1}",
        "trace=full",
    )
    assert spec.manifest["runtime"] == {"trace": "full"}
    assert spec.seeds == (1, 5, 2**64 - 1)
    assert (spec.name, spec.output) == ("enc-2.x", "/tmp/o")
    assert spec.executor == ExecutorSpec(kind="ray", workers=3, address="auto", shard_s=5.0, timeout_s=600.0)
    assert load("executor=inline").executor.timeout_s == 1800
    assert load("executor.timeout_s=null").executor.timeout_s is None
    assert (spec.tracking.enabled, spec.tracking.experiment) == (False, "lab")
    assert spec.baseline == {"latency": 0.002, "gain": 1.0}


def test_axes_swept_by_a_configuration(scene):
    text = SCENE + "hydra: {sweeper: {params: {gain: '1,2', latency: 0.1}}}\n"
    assert scene(text).swept == {"gain": (1.0, 2.0), "latency": (0.1,)}
    assert list(scene(text, "mode=a", "gain=7").swept.items()) == [
        ("gain", (7.0,)),
        ("latency", (0.1,)),
        ("mode", ("a",)),
    ]


def test_a_primary_configuration_of_ones_own(load, folder):
    (folder / "lab.yaml").write_text("defaults: [config, _self_]\nseeds: 3\n")
    assert load(config_name="lab").seeds == (0, 1, 2)


def test_conf_in_the_working_directory_is_searched(tmp_path, monkeypatch):
    (tmp_path / "conf" / "scene").mkdir(parents=True)
    (tmp_path / "conf" / "scene" / "near.yaml").write_text(SCENE)
    monkeypatch.chdir(tmp_path)
    assert load_spec(["scene=near"]).scene == "near"
    assert "near" in available()["scene"]


def test_folders_may_have_odd_names(tmp_path):
    odd = tmp_path / "it's a, [folder]"
    (odd / "scene").mkdir(parents=True)
    (odd / "scene" / "bot.yaml").write_text(SCENE)
    assert load_spec(["scene=bot"], config_dirs=[str(odd)]).scene == "bot"


def test_what_is_available(folder):
    groups = available([str(folder)])
    assert "bot" in groups["scene"]
    assert groups["executor"] == ["auto", "inline", "ray"]
    assert (own_folder() / "config.yaml").is_file()


def test_show_config_is_yaml_as_hydra_prints_it(folder):
    shown = show_config(["scene=bot", "+latency=0.1,0.2", "gain=3", "seeds=4"], config_dirs=[str(folder)])
    assert "seeds: 4\n" in shown
    assert "latency:\n- 0.1\n- 0.2\n" in shown
    assert "gain: 3\n" in shown
    assert "latency_s: ${axis:latency, 2 ms}" in shown
    assert "hydra" not in shown


# What is refused


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["+latncy=1"],
            ["+latncy=1: unknown name 'latncy'; did you mean 'latency'?", "latency, gain, count, mode", "seeds"],
        ),
        (["sedes=3"], ["unknown name 'sedes'; did you mean 'seeds'"]),
        (["foo=1,2"], ["foo=1,2: unknown name 'foo'"]),
        (["components.imu.rate_hz=3"], ["starts with the manifest: manifest.components.imu.rate_hz"]),
        (
            ["manifest.components.imu.latncy_s=3"],
            [
                "there is no manifest.components.imu.latncy_s",
                "did you mean 'manifest.components.imu.latency_s'",
                "rate_hz",
            ],
        ),
        (["manifest.components.imu.latncy_s=3,4"], ["did you mean 'manifest.components.imu.latency_s'"]),
        (["+manifest.components.imu.rate_hz=3"], ["exists already (100); write manifest.components.imu.rate_hz=3"]),
        (
            ["+manifest.components.imu.bad_key=3,4"],
            ["manifest.components.imu.bad_key=3: components.imu.bad_key: unknown"],
        ),
        (["~manifest.components.nothing"], ["there is no manifest.components.nothing"]),
        (["executor=foo"], ["unknown executor 'foo'", "auto, inline, ray"]),
        (["executor=inlin"], ["did you mean 'inline'"]),
        (["design=lsh"], ["unknown design 'lsh'; did you mean 'lhs'", "grid", "sobol"]),
        (["~executor"], ["executor cannot be left out"]),
        (
            ["latency=1", "+latency=2"],
            ["latency: given 2 times: latency=1 +latency=2", "one word, separated by commas"],
        ),
        (["seeds=1", "seeds=2"], ["seeds: given 2 times", "write it once"]),
        (
            ["latency=1", "manifest.components.imu.latency_s=2,3"],
            ["latency=1: sets the same value as manifest.components.imu"],
        ),
        (
            ["latency=1", "manifest.components.imu.latency_s=2"],
            ["latency=1: sets the same value as manifest.components.imu"],
        ),
        (["executor=inline,ray"], ["'executor' cannot be swept", "choose one"]),
        (["tracking=none,mlflow"], ["'tracking' cannot be swept"]),
        (["design=grid,zip"], ["'design' cannot be swept"]),
        (["seeds=1,5"], ["seeds are not an axis", "write seeds=[1,5]"]),
        (["seeds=range(3)"], ["write seeds=[0,1,2]"]),
        (["executor.workers=1,2"], ["'executor' cannot be swept"]),
        (["name=a,b"], ["'name' cannot be swept"]),
        (
            ["latency=interval(0,1)"],
            [
                "latency=interval(0,1): an interval has no values of its own",
                "design=lhs design.n=16",
                "design.levels=5",
            ],
        ),
        (["latency=interval(1,0)", "design=lhs"], ["lower end comes first; write 'latency=interval(0,1)'"]),
        (["latency=interval(1ms,1ms)", "design=lhs"], ["its ends are the same; write latency=1ms"]),
        (["latency=interval(1)"], ["latency=interval(1): interval() takes its two ends"]),
        (["latency=interval(0,1),2"], ["latency=interval(0,1),2: cannot be read: interval() stands alone"]),
        (["latency=interval(1kg,2)", "design=lhs"], ["latency=interval(1kg,2): '1kg' is not a quantity in s"]),
        (["latency=interval(0,nan)", "design=lhs"], ["latency=interval(0,nan): 'nan' is not"]),
        (["gain=interval(-1e308,1e308)", "design=lhs"], ["gain=interval(-1e308,1e308): it is too wide"]),
        (["latency=interval(-1,1)", "design=lhs"], ["latency=interval(-1,1): -1: components.encoders.latency_s"]),
        (["gain=int(interval(0.5,2))", "design=lhs"], ["int() takes an interval with whole ends"]),
        (["gain=tag(log,interval(0,2))", "design=lhs"], ["gain=tag(log,interval(0,2)): a log scale begins above 0"]),
        (["gain=tag(lgo,interval(1,2))", "design=lhs"], ["unknown tag 'lgo'; did you mean 'log'"]),
        (["gain=tag(log,1,2)"], ["gain=tag(log,1,2): tag() goes with interval()"]),
        (["gain=tag(log,choice(1,2))"], ["tag() goes with interval()"]),
        (["mode=interval(0,1)", "design=lhs"], ["an interval has numbers, and here stands fast; write values"]),
        (["design=lhs"], ["design=lhs: nothing is swept"]),
        (["design.n=4"], ["there is no design.n", "n belongs to design=random, design=lhs, design=sobol"]),
        (["design=lhs", "design.levels=4"], ["levels belongs to design=grid, design=zip, design=star"]),
        (["design=lhs", "latency=1,2", "design.n=0"], ["design.n=0: allowed is a count up to 1000000, design.n=16"]),
        (["design=lhs", "latency=1,2", "design.seed=a"], ["design.seed=a: allowed is one integer"]),
        (["design.levels=1"], ["design.levels=1: allowed is null or a count of at least 2"]),
        (["design.digits=0"], ["design.digits=0: allowed is null or a count up to 17"]),
        (["design.center=1"], ["design.center=1: allowed is true or false"]),
        (["design.kind=lsh"], ["design.kind: unknown design 'lsh'; did you mean 'lhs'"]),
        (["design=list"], ["design.file=null: allowed is a table, design.file=points.csv"]),
        (["design=zip", "latency=1,2", "gain=1,2,3"], ["latency has 2, gain has 3"]),
        (["exclude=latncy > 1"], ["exclude=latncy > 1: unknown name 'latncy'; did you mean 'latency'"]),
        (["exclude="], ["exclude='': a condition is expected"]),
        (["exclude=gain > 1", "exclude=gain > 2"], ["exclude: given 2 times"]),
        (["latency=glob(*)"], ["glob() chooses among groups"]),
        (["latency=range(0)"], ["gives no value"]),
        (["latency=range(0,1,0)"], ["latency=range(0,1,0): cannot be read"]),
        (["latency=range(0,1,1e-9)"], ["more than 50000 values"]),
        (["a=b=c"], ["a=b=c: cannot be read at '=', column 2", "write \"a='b=c'\""]),
        (["latency=±3"], ["cannot be read at '±', column 9"]),
        (["latency=1,,2"], ["cannot be read at ','", "write latency=1,2"]),
        (["latency=1,2,"], ["ends too early; write latency=1,2"]),
        (["latency=1;2"], ["cannot be read at ';'", "write latency=1,2"]),
        (["latency=0.1,", "0.2"], ["write latency=0.1,0.2"]),
        (["seeds=[1,2"], ["write 'seeds=[1,2]'"]),
        (["latency"], ["latency: there is no '=' in it"]),
        (["=3"], ["there is no key before '='"]),
        (["latency=fast"], ["latency=fast: 'fast' is not a quantity in s", "ms", "for example latency=0.002"]),
        (["latency=2kg"], ["latency=2kg", "'2kg' is not a quantity in s"]),
        (["latency=nan"], ["latency=nan", "not finite"]),
        (["latency=1,inf"], ["latency=inf", "not finite"]),
        (["latency="], ["latency='': nothing was given where a number in s is expected"]),
        (["latency=''"], ["latency='': nothing was given"]),
        (["latency=null"], ["latency=null: null was given where a number in s"]),
        (["latency=true"], ["latency=true", "is not a number"]),
        (["latency=[1,2]"], ["latency=[1,2]", "is not a number"]),
        (["latency={a:1}"], ["latency={a:1}", "is not a number"]),
        (["gain=big"], ["gain=big: 'big' is not a plain number", "for example gain=1.5"]),
        (["mode=3"], ["mode=3: 3 (int) was given; allowed is text", "'3'", "for example mode=fast"]),
        (["is_on=1"], ["is_on=1: 1 (int) was given; allowed is true or false"]),
        (["offset=3"], ["offset=3: 3 is not a list", "for example offset=[0,0.5]"]),
        (["offset=[a,b]"], ["offset=[a,b]: 'a' is not a quantity in m"]),
        (
            ["latency=-1,1,-2"],
            ["latency=-1: components.encoders.latency_s: must be", "latency=-2: "],
        ),
        (["manifest.components.imu.latency_s=-1"], ["manifest.components.imu.latency_s: must be at least 0"]),
        (["trace=event"], ["trace=event: no such trace level", "did you mean 'events'", "summary, events, full"]),
        (["trace=events,full"], ["'trace' cannot be swept"]),
        (["seeds=0"], ["seeds=0: is not a count of at least 1", "seeds=16", "seeds=[1,5,9]"]),
        (["seeds=-1"], ["seeds=-1: is not a count"]),
        (["seeds=1.5"], ["seeds=1.5: is not a count"]),
        (["seeds=true"], ["seeds=true: is not a count"]),
        (["seeds=12345678"], ["a count is at most 1000000; one seed is seeds=[12345678]"]),
        (["seeds=[]"], ["the list is empty"]),
        (["seeds=[1,2,1]"], ["seeds=[1,2,1]: 1 given twice"]),
        (["seeds=[1,-2,1.5,18446744073709551616]"], ["-2, 1.5, 18446744073709551616: seeds are integers from 0"]),
        (["name=a/b"], ["name=a/b: a folder is named after it", "name=encoders_2"]),
        (["name=..", "output="], ["name=..", "output='': a folder is expected"]),
        (["executor.workers=0"], ["executor.workers=0: allowed is null", "executor.workers=4"]),
        (["executor.shard_s=-1"], ["executor.shard_s=-1: allowed is a time in s"]),
        (["executor.timeout_s=0"], ["executor.timeout_s=0: allowed is null (no limit) or a time in s"]),
        (["executor.kind=slurm"], ["executor.kind=slurm: allowed is one of auto, inline, ray"]),
        (["executor=inline", "executor.address=auto"], ["belongs to executor=ray"]),
        (["executor.wrkers=2"], ["there is no executor.wrkers", "did you mean 'executor.workers'"]),
        (["+executor.wrkers=2"], ["executor.wrkers: unknown key", "did you mean 'workers'"]),
        (["tracking.uri=./mlruns"], ["tracking.uri=./mlruns: MLflow takes no folder", "sqlite:"]),
        (["tracking.enabled=maybe"], ["tracking.enabled=maybe: allowed is true or false"]),
        (["baseline={latncy:1}"], ["baseline: unknown axis 'latncy'; did you mean 'latency'"]),
        (["baseline={latency:fast}"], ["baseline.latency=fast: 'fast' is not"]),
        (["baseline=3"], ["baseline=3: the values of one cell", "baseline={latency:0.002}"]),
        (["manifest=3"], ["the whole manifest cannot be replaced"]),
        (["hydra.searchpath=[file:///x]"], ["write --config-dir"]),
        (["hydra.nothing=1"], ["hydra.nothing"]),
        (["manifest.components.imu.rate_hz=${nowhere}"], ["manifest.components.imu.rate_hz", "nowhere"]),
    ],
)
def test_refused(refusal, words, said):
    message = refusal(*words)
    assert all(part in message for part in said), message


def test_words_are_texts(refusal):
    message = refusal("seeds=0", 3, None)
    assert message.splitlines()[1:] == [
        "  3: is no text, for example 'seeds=3'",
        "  None: is no text, for example 'seeds=3'",
    ]


def test_everything_wrong_is_in_one_message(refusal):
    words = ["latncy=1", "+gain=big,", "seeds=0", "executor=foo", "a=b=c", "latency=-1,fast", "name=a/b", "mode=3"]
    message = refusal(*words)
    assert message.startswith("the sweep cannot be planned: 10 problems")
    assert all(word in message for word in ["latncy=1", "+gain=big,", "seeds=0", "executor=foo", "a=b=c", "latency=-1"])
    assert all(word in message for word in ["latency=fast", "name=a/b", "mode=3"])


def test_an_unknown_scene_does_not_hide_the_rest(folder):
    with pytest.raises(InvalidInputError) as caught:
        load_spec(["scene=bott", "seeds=0", "latency=fast"], config_dirs=[str(folder)])
    message = str(caught.value)
    assert "2 problems" in message
    assert "scene=bott: unknown scene 'bott'; did you mean 'bot'?" in message
    assert "seeds=0" in message


def test_two_scenes_are_two_sweeps(folder):
    with pytest.raises(InvalidInputError, match="'scene' cannot be swept: one sweep has one scene"):
        load_spec(["scene=bot,arm"], config_dirs=[str(folder)])


HEAD = "# @package _global_\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            HEAD + "x: null\nmanifest: {a: 1}",
            ["x: the scene declares this axis but binds it nowhere", "${axis:x, 0.0}", "~x"],
        ),
        (
            HEAD + "latency: null\nmanifest: {a: '${axis:latncy, 1}', b: '${axis:latency, 1}'}",
            ["manifest.a: binds axis 'latncy'", "write `latncy: null` at its top", "did you mean 'latency'"],
        ),
        (
            HEAD + "x: null\nmanifest: {a: '${axis:x, 1}', b: '${axis:x, 2}'}",
            ["x: its bindings have different nominal values: 1 at manifest.a, 2 at manifest.b"],
        ),
        (HEAD + "x: null\nmanifest: {a_s: '${axis:x, 1}', b_m: '${axis:x, 1}'}", ["different units: s at", "m at"]),
        (
            HEAD + "x: null\nmanifest: {a: 'to ${axis:x, 1}'}",
            ["manifest.a: a text holds ${axis:...} between", "stands alone"],
        ),
        (HEAD + "x: null\nmanifest: {a: '${axis:x}'}", ["manifest.a: ${axis:x}: write a name and one nominal value"]),
        (HEAD + "x: null\nmanifest: {a: '${axis:x, 1, 2}'}", ["a list stands in brackets"]),
        (
            HEAD + "x: null\nmanifest: {a_s: '${axis:x, soon}'}",
            ["nominal value of axis 'x': 'soon' is not a quantity in s"],
        ),
        (HEAD + "x: 0.1\nmanifest: {a: 1}", ["x: unknown key at the root", "`x: null`", "${axis:x, 0.1}"]),
        (
            HEAD + "x: null\noutput: '${axis:x, a}'\nmanifest: {a: '${axis:x, 1}'}",
            ["output: binds axis 'x'; only the manifest"],
        ),
        (HEAD + "x: null\n", ["has no `manifest:`"]),
        ("x: null\nmanifest: {}\n", ["lacks its first line, `# @package _global_`"]),
        ("", ["lacks its first line"]),
        (HEAD + "- 1\n", ["other.yaml: a mapping of keys is expected, not a list"]),
        (HEAD + "x: null\nmanifest: {a: [1, 2\nb: 3\n", ["other.yaml: line 4, column 2"]),
        (
            HEAD + "x: null\nx: null\nmanifest: {}\n",
            ["other.yaml: line 3, column 1: key 'x' stands twice, first in line 2"],
        ),
        (HEAD + "manifest:\n  1: a\n  1: b\n", ["other.yaml: line 4, column 3: key 1 stands twice"]),
        (HEAD + "manifest: {a: '???', b: '${no.where}', c: '${nofun:1}'}", ["manifest.a: is ???", "no.where", "nofun"]),
        (HEAD + "defaults: [nothing]\nmanifest: {}\n", ["Could not load 'scene/nothing'"]),
        (
            HEAD + "manifest: {components: {imu: {latency_s: -1}}}",
            ["manifest.components.imu.latency_s: must be at least 0"],
        ),
    ],
)
def test_a_scene_with_mistakes(scene, text, said):
    with pytest.raises(InvalidInputError) as caught:
        scene(text)
    message = str(caught.value)
    assert all(part in message for part in said), message
    assert "\x00" not in message


def test_a_file_that_is_not_text(folder, scene):
    (folder / "scene" / "raw.yaml").write_bytes(b"# @package _global_\na: \xff\n")
    with pytest.raises(InvalidInputError, match=r"raw\.yaml: cannot be read as UTF-8"):
        load_spec(["scene=raw"], config_dirs=[str(folder)])


def test_a_scene_hidden_by_another_of_its_name(folder, tmp_path):
    (tmp_path / "conf" / "scene").mkdir(parents=True)
    (tmp_path / "conf" / "scene" / "bot.yaml").write_text(SCENE + "# edited\n")
    with pytest.raises(InvalidInputError, match=r"with other content, in .*; the first would win"):
        load_spec(["scene=bot"], config_dirs=[str(folder)])


def test_missing_folders_and_configurations(load, refusal):
    with pytest.raises(InvalidInputError, match="--config-dir /no/where: there is no such folder"):
        load_spec([], config_dirs=["/no/where"])
    assert "nothing" in refusal(config_name="nothing")


def test_show_config_shows_intervals_as_they_are_typed(folder):
    shown = show_config(["scene=bot", "latency=tag(log,interval(1ms,1))", "design=lhs"], config_dirs=[str(folder)])
    assert "latency: tag(log,interval(1ms,1))\n" in shown
    assert "kind: lhs\n" in shown


def test_show_config_refuses_too(folder):
    with pytest.raises(InvalidInputError, match="did you mean 'latency'"):
        show_config(["scene=bot", "latncy=1"], config_dirs=[str(folder)])


@pytest.mark.slow
def test_the_manifest_itself_checks_values(folder, scene, monkeypatch):
    monkeypatch.undo()
    (folder / "scene" / "pole.xml").write_text("<mujoco/>")
    text = """# @package _global_
latency: null
manifest:
  schema: "3.3"
  model: {file: pole.xml}
  components:
    encoders: {type: encoder, joints: [hinge], period_s: 0.01, latency_s: "${axis:latency, 0.0}"}
"""
    assert scene(text, "+latency=2ms,0.005").swept == {"latency": (0.002, 0.005)}
    with pytest.raises(InvalidInputError, match=r"latency=-1: components\.encoders\.latency_s"):
        scene(text, "latency=-1,0.002")
    (folder / "scene" / "pole.xml").unlink()
    with pytest.raises(InvalidInputError, match=r"manifest\.model\.file: no such file"):
        scene(text)


@pytest.mark.slow
def test_an_interval_of_counts_is_whole_where_the_manifest_takes_no_fraction(folder, scene, monkeypatch):
    monkeypatch.undo()
    (folder / "scene" / "pole.xml").write_text("<mujoco/>")
    text = """# @package _global_
manifest: {schema: "3.3", model: {file: pole.xml}, runtime: {max_block: 3, duration_s: 2}}
"""
    (block,) = scene(text, "manifest.runtime.max_block=interval(1,5)", "design=lhs").swept.values()
    (duration,) = scene(text, "manifest.runtime.duration_s=interval(1,5)", "design=lhs").swept.values()
    assert block == Interval(low=1, high=5, is_integer=True)
    assert duration == Interval(low=1.0, high=5.0)


@pytest.mark.slow
def test_loading_takes_well_under_a_second(load):
    load()
    start = time.perf_counter()
    load("latency=0.002,0.005", "gain=1,2,3")
    assert time.perf_counter() - start < 0.5


@pytest.mark.slow
def test_the_package_is_imported_quickly():
    code = "import time; t = time.perf_counter(); import sweep.config; print(time.perf_counter() - t)"
    environment = {**os.environ, "PYTHONPATH": str(own_folder().parent)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert float(done.stdout) < 2


def test_ranges_are_decimal_and_leave_their_end_out(load):
    for text, expected in [
        ("range(0,0.3,0.1)", (0.0, 0.1, 0.2)),
        ("range(0,0.1,0.01)", tuple(i / 100 for i in range(10))),
        ("range(0.01,0.05,0.01)", (0.01, 0.02, 0.03, 0.04)),
        ("range(0.3,0,-0.1)", (0.3, 0.2, 0.1)),
        ("1,range(2,4)", (1.0, 2.0, 3.0)),
    ]:
        assert load(f"latency={text}").swept["latency"] == expected


def test_an_axis_cannot_be_called_hydra(folder):
    (folder / "scene" / "h.yaml").write_text("# @package _global_\nhydra: null\nmanifest: {a: 1}\n")
    with pytest.raises(InvalidInputError, match="`hydra` is Hydra's own"):
        load_spec(["scene=h"], config_dirs=[str(folder)])


# Tables of a list design


@pytest.fixture
def table(load, tmp_path):
    def loaded(text, *words):
        (tmp_path / "points.csv").write_text(text)
        return load("design=list", "design.file=points.csv", *words)

    return loaded


def test_a_table_is_read_like_words(table):
    text = """\ufeff+latency, gain ,mode,"offset",is_on,manifest.components.wall.points.1
# a remark
2ms, 50%,slow,"[0, 1mm]",true,3

0.005,2,fast,"[0.5,1]",false,4e0
"""
    assert table(text).swept == {
        "latency": (0.002, 0.005),
        "gain": (0.5, 2.0),
        "mode": ("slow", "fast"),
        "offset": ((0.0, 0.001), (0.5, 1.0)),
        "is_on": (True, False),
        "manifest.components.wall.points.1": (3.0, 4.0),
    }


def test_a_table_and_a_word_with_one_value(table):
    assert table("latency\n1ms\n1ms\n", "gain=3").swept == {"gain": (3.0,), "latency": (0.001, 0.001)}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", ["points.csv: needs a first row of names, such as latency,gain"]),
        ("latency\n", ["points.csv: needs a first row of names"]),
        ("latncy,gain\n1,2\n", ["points.csv, line 1, column 1: unknown axis 'latncy'; did you mean 'latency'"]),
        ("latency;gain\n1;2\n", ["line 1, column 1: unknown axis 'latency;gain'", "separated by commas"]),
        ("gain,+gain\n1,2\n", ["line 1, column 2: '+gain' stands twice"]),
        ("latency,gain\n1,2\n1\n", ["points.csv, line 3: its number of values is 1, of columns 2"]),
        ("gain,offset\n1,[1,2]\n", ["line 2: its number of values is 3, of columns 2; a list stands in quotes"]),
        ("latency,gain\n1,2\n,3\n", ["points.csv, line 3, column 1: latency is empty"]),
        (
            "latency,gain\n1kg,2\n-1ms,x\n",
            [
                "points.csv, line 2, column 1: latency=1kg: '1kg' is not a quantity in s",
                "points.csv, line 3, column 1: latency=-1ms: components.encoders.latency_s: must be at least 0",
                "points.csv, line 3, column 2: gain=x: 'x' is not a plain number",
            ],
        ),
        ("manifest.components.imu.rat_hz\n1\n", ["did you mean 'manifest.components.imu.rate_hz'"]),
        ('gain\n"1\n', ["design.file=points.csv: cannot be read"]),
        (
            "latency,manifest.components.imu.latency_s\n1,2\n",
            ["points.csv, column 1 (latency): sets the same value as points.csv, column 2"],
        ),
    ],
)
def test_a_table_with_mistakes(table, text, said):
    with pytest.raises(InvalidInputError) as caught:
        table(text)
    message = str(caught.value)
    assert all(part in message for part in said), message


def test_a_table_that_is_not_there_names_those_that_are(load, tmp_path):
    (tmp_path / "points.csv").write_text("gain\n1\n")
    with pytest.raises(InvalidInputError, match=r"design\.file=point\.csv: cannot be read: No such file.*points\.csv"):
        load("design=list", "design.file=point.csv")


def test_an_axis_in_a_table_and_on_the_command_line(table):
    with pytest.raises(InvalidInputError, match=r"gain: given 2 times: gain=3 points\.csv, column 1 \(gain\)"):
        table("gain\n1\n2\n", "gain=3")
