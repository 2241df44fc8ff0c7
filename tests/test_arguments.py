"""The command line: verbs, options, positionals, and advice for what is mistyped."""

import subprocess
import sys

import pytest

from sweep.arguments import VERBS, help_text, parse, usage
from sweep.errors import InvalidInputError


def refusal(*argv):
    with pytest.raises(InvalidInputError) as caught:
        parse(argv)
    return str(caught.value)


@pytest.mark.parametrize(
    ("argv", "verb", "overrides"),
    [
        ([], "run", ()),
        (["+latency=0.002,0.005"], "run", ("+latency=0.002,0.005",)),
        (["run", "latency=1", "~gain"], "run", ("latency=1", "~gain")),
        (["latency=1", "plan", "seeds=3"], "plan", ("latency=1", "seeds=3")),
        (["-m", "latency=1"], "run", ("latency=1",)),
        (["--multirun", "latency=1"], "run", ("latency=1",)),
        (["--config-name", "mine", "latency=1"], "run", ("latency=1",)),
    ],
)
def test_the_first_bare_word_is_the_verb(argv, verb, overrides):
    command = parse(argv)
    assert (command.verb, command.overrides, command.options) == (verb, overrides, {})


def test_positionals_have_names():
    assert parse(["status", "sweeps/a=b"]).positionals == {"dir": "sweeps/a=b"}
    assert parse(["compare", "a", "b"]).positionals == {"dir": "a", "dir2": "b"}
    assert parse(["compare", "a"]).positionals == {"dir": "a"}
    assert parse(["compare", "a", "b"]).positionals == {"dir": "a", "dir2": "b"}
    assert parse(["replay", "3fa", "--dir", "sweeps/x"]).positionals == {"run_id": "3fa"}


@pytest.mark.parametrize(
    ("argv", "options"),
    [
        (["plan", "--json"], {"json": True}),
        (["replay", "3f", "--plot"], {"plot": True}),
        (["replay", "3f", "--plot", "out.html"], {"plot": "out.html"}),
        (["replay", "3f", "--plot=out.html", "--dir=d"], {"plot": "out.html", "dir": "d"}),
        (["compare", "d", "--baseline", "a=1", "--baseline", "b=2"], {"baseline": ["a=1", "b=2"]}),
    ],
)
def test_options_of_a_verb(argv, options):
    assert parse(argv).options == options


def test_global_options():
    command = parse(["--config-dir", "a", "--config-dir=b", "--config-name", "n", "-q", "--cfg", "job", "x=1"])
    assert command.config_dirs == ("a", "b")
    assert (command.config_name, command.is_quiet, command.show_config) == ("n", True, True)
    assert parse(["--version"]).show_version
    assert parse(["-h"]).show_help
    assert parse(["status", "--help"]).show_help  # without its DIR


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["statsu", "d"], ["unknown verb", "did you mean 'status'", "replay"]),
        (["--jsn", "plan"], ["--jsn: unknown option", "did you mean '--json'"]),
        (["--json"], ["--json: belongs to plan and status"]),
        (["status"], ["status: DIR is missing", "usage: python -m sweep status DIR [--json]"]),
        (["ui", "x", "y"], ["y: is one word too many for 'ui'"]),
        (["--cfg", "hydra"], ["--cfg: unknown value 'hydra'", "job"]),
        (["--cfg"], ["--cfg: needs a value, --cfg job"]),
        (["--config-name", "a", "--config-name", "b"], ["--config-name: given twice"]),
        (["--quiet=yes"], ["--quiet=yes: takes no value"]),
        (["+latency=0.002,", "0.005"], ["splits the list in two; write +latency=0.002,0.005"]),
        (["latency=", "0.005"], ["write latency=0.005"]),
        (["status", "--foo", "--bar"], ["4 problems", "--foo: unknown option", "--bar", "DIR is missing"]),
    ],
)
def test_refused(argv, words):
    message = refusal(*argv)
    assert all(word in message for word in words), message


def test_help_lists_every_verb_and_group():
    text = help_text({"scene": ["arm", "cartpole"]})
    assert all(verb in text for verb in VERBS if verb != "run")
    assert "arm, cartpole" in text
    assert "+latency=0.002,0.005" in text
    assert max(map(len, text.splitlines())) < 100
    assert usage("replay") == "python -m sweep replay RUN_ID [--dir DIR] [--plot [FILE]] [--trace [LEVEL]] [--strict]"


@pytest.mark.slow
def test_it_imports_nothing_heavy():
    heavy = "{'hydra','omegaconf','yaml','pydantic','numpy','ray','mlflow','mujoco','pandas','argparse'}"
    code = f"import sys, sweep.arguments; print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
