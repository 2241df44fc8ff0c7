"""The command line: verbs, options, positionals, and advice for what is mistyped."""

import pickle
import re
import subprocess
import sys

import pytest

from analysis.__main__ import main as analysis_main
from sweep.arguments import VERBS, help_text, parse, usage
from sweep.errors import InvalidInputError, Problem


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
        (
            ["status"],
            ["command line: 1 problem\n", "status: DIR is missing", "usage: python -m sweep status DIR [--json]"],
        ),
        (["ui", "x", "y"], ["y: is one word too many for 'ui'"]),
        (["--cfg", "hydra"], ["--cfg: unknown value 'hydra'", "job"]),
        (["--cfg"], ["--cfg: needs a value, --cfg job"]),
        (["--config-name", "a", "--config-name", "b"], ["--config-name: given twice"]),
        (["sync", "d", "--uri", ""], ["--uri: is given nothing; it needs a value, --uri URI"]),
        (["sync", "d", "--uri="], ["--uri: is given nothing"]),
        (["--quiet=yes"], ["--quiet=yes: takes no value"]),
        (["+latency=0.002,", "0.005"], ["splits the list in two; write +latency=0.002,0.005"]),
        (["latency=", "0.005"], ["write latency=0.005"]),
        (["status", "--foo", "--bar"], ["3 problems", "--foo: unknown option", "--bar", "DIR is missing"]),
    ],
)
def test_refused(argv, words):
    message = refusal(*argv)
    assert all(word in message for word in words), message


def test_help_lists_every_verb_and_group():
    text = help_text(groups={"scene": ["arm", "cartpole"]})
    assert all(verb in text for verb in VERBS if verb != "run")
    assert "arm, cartpole" in text
    assert "+latency=0.002,0.005" in text
    assert max(map(len, text.splitlines())) < 100
    assert usage("replay") == "python -m sweep replay RUN_ID [--dir DIR] [--plot [FILE]] [--trace [LEVEL]] [--strict]"


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb != "run"])
def test_help_of_a_verb_tells_every_word_it_takes(verb):
    text = " ".join(help_text(verb).split())
    spec = VERBS[verb]
    assert f"{verb}: {spec.help}" in text
    for word in (*spec.positionals, *spec.options):
        assert re.search(rf" \[?{word.name}\b[^:]* {re.escape(word.help)}", text)
    others = {option.name for other in VERBS.values() for option in other.options}
    assert not {name for name in others - {option.name for option in spec.options} if f" {name} " in text}
    assert max(map(len, help_text(verb).splitlines())) < 100


def test_advice_is_no_problem_and_goes_along_between_processes():
    error = InvalidInputError("command line", [Problem("a", "is wrong")], "usage: b")
    assert str(error) == "command line: 1 problem\n  a: is wrong\n  usage: b"
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.problems, again.advice) == (str(error), error.problems, "usage: b")


@pytest.mark.slow
def test_it_imports_nothing_heavy():
    heavy = "{'hydra','omegaconf','yaml','pydantic','numpy','ray','mlflow','mujoco','pandas','argparse'}"
    code = f"import sys, sweep.arguments; print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["compare", "export", "report"])
def test_both_programs_explain_a_verb_in_the_same_words(verb, capsys):
    with pytest.raises(SystemExit):
        analysis_main([verb, "--help"])
    told = " ".join(capsys.readouterr().out.split())
    spec = VERBS[verb]
    assert spec.help in told
    for word in (*spec.positionals, *spec.options):
        assert re.search(rf" {word.name}\b[^:]* {re.escape(word.help)}", told)
