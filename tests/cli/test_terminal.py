"""What lines look like on a terminal and in a pipe."""

import fcntl
import io
import os
import pty
import struct
import termios

import pytest

from sweep.terminal import fitted

PROSE = "  the baseline has no such cell, and therefore nothing is compared: sweeps/" + "a-long-name-" * 5
COMMAND = "one run again: python -m sweep replay 3abef604 --dir sweeps/arm-3abef604 --plot"


@pytest.fixture
def terminal():
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 40, 0, 0))
    with os.fdopen(slave, "w") as stream:
        yield stream
    os.close(master)


def test_prose_breaks_at_words_and_what_people_copy_does_not_break(terminal):
    lines = fitted(f"{PROSE}\n\n{COMMAND}\nshort", terminal).split("\n")
    assert lines == [
        "  the baseline has no such cell, and",
        "  therefore nothing is compared:",
        "  sweeps/" + "a-long-name-" * 5,
        "",
        COMMAND,
        "short",
    ]


def test_a_terminal_that_does_not_say_how_wide_it_is(terminal):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 0, 0, 0, 0))
    assert max(map(len, fitted("word " * 40, terminal).split("\n"))) <= 80


def test_a_pipe_gets_lines_as_they_are():
    assert fitted(PROSE, io.StringIO()) == PROSE
