"""How a command ends when its output, or the person before it, has gone."""

import os
import signal
import subprocess
import sys

import pytest

from analysis.__main__ import main as analysis_main
from sweep.cli import main as sweep_main
from sweep.exits import exit_code
from tests.analysis.synthetic import build, latencies, record

MAINS = {"sweep": sweep_main, "analysis": analysis_main}
COMPARED = (["compare"], ["compare", "--json"], ["compare", "--csv"], ["export"], ["report"])
ASKED = [(main, words) for main in MAINS for words in COMPARED]
ASKED += [("sweep", words) for words in (["status"], ["status", "--json"], ["schema"], ["components"], ["--help"])]
LOADING = """
import signal, sys
import {package}
class Interrupted:
    def find_spec(self, name, *_):
        if name == {library!r}:
            try:
                signal.raise_signal(signal.SIGINT)
            except KeyboardInterrupt:
                raise ImportError("initialization failed") from None
sys.meta_path.insert(0, Interrupted())
from {package} import main
sys.exit(main(["compare", sys.argv[1]]))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return build(tmp_path_factory.mktemp("exits") / "s", latencies(0.002, 0.005), range(2), record)


@pytest.mark.parametrize(
    ("main", "words"), ASKED, ids=lambda value: "-".join([value] if isinstance(value, str) else value)
)
def test_output_that_cannot_be_written_is_said_in_one_line(main, words, folder, monkeypatch, capsys):
    place = [] if words[0] in ("schema", "components", "--help") else [str(folder)]
    with open("/dev/full", "w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert MAINS[main]([*words, *place]) == 1
        monkeypatch.undo()
    assert capsys.readouterr().err == "the output cannot be written: No space left on device\n"


@pytest.mark.slow
@pytest.mark.parametrize("package", ["sweep.cli", "analysis.__main__"])
def test_an_interrupt_that_a_library_swallows_stops_the_command(package, folder):
    code = LOADING.format(package=package, library="scipy")
    done = subprocess.run(
        [sys.executable, "-c", code, folder],
        capture_output=True,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert (done.returncode, done.stderr, done.stdout) == (130, "stopped\n", "")


def test_an_interrupt_is_told_in_a_word_and_signals_are_as_before(capsys):
    before = signal.getsignal(signal.SIGINT)
    assert exit_code(lambda: signal.raise_signal(signal.SIGINT)) == 130
    assert capsys.readouterr().err == "stopped\n"
    assert signal.getsignal(signal.SIGINT) is before


def test_what_is_no_end_that_a_command_has_is_raised():
    with pytest.raises(FileNotFoundError):
        exit_code(lambda: os.stat("/nowhere/at/all").st_size)
    with pytest.raises(ZeroDivisionError):
        exit_code(lambda: 1 // 0)
