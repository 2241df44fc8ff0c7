import os
import subprocess
import sys
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sweep
from sweep.plan.streams import stream_key

ROOT = Path(sweep.__file__).parents[1]
GOLDEN = {
    (12345, "imu0", "white"): 0xF5F4A0863C44F21AF30490C1CB239161,
    (12345, "imu0", "bias"): 0x7EAE613B5B81A2321AAA67D132E48F58,
    (12346, "imu0", "white"): 0x6547F8B8D30EFAD7880CDB9A0FECF742,
    (12345, "ab", "cdef"): 0x8B23AA267B5BE4D46B07E792F514420E,
    (12345, "abc", "def"): 0x58A5FD3B0497F33612C2557F8EF9E441,
}
seeds = st.integers(0, 2**64 - 1)
names = st.tuples(seeds, st.text(), st.text())


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_keys(name):
    assert stream_key(*name) == GOLDEN[name]


@pytest.mark.slow
@given(names, names)
def test_different_names_have_different_keys(a, b):
    assert 0 <= stream_key(*a) < 2**128
    same = [unicodedata.normalize("NFC", str(part)) for part in a] == [
        unicodedata.normalize("NFC", str(part)) for part in b
    ]
    assert (stream_key(*a) == stream_key(*b)) == same


@pytest.mark.slow
@given(seeds, st.text(min_size=1), st.integers(0, 20))
def test_where_the_parts_of_a_name_are_divided_matters(seed, text, at):
    at = min(at, len(text) - 1)
    assert stream_key(seed, text[:at], text[at:]) != stream_key(seed, text[: at + 1], text[at + 1 :])


def test_seeds_that_other_tools_confuse_are_different():
    chosen = (0, 1, 2**32, 2**32 + 1, 2**63, 2**64 - 1)
    assert len({stream_key(seed, "imu0", "white") for seed in chosen}) == len(chosen)


def test_equal_text_in_another_unicode_form_is_the_same_name():
    assert stream_key(0, "caf\u00e9", "w") == stream_key(0, "cafe\u0301", "w")
    assert stream_key(0, "\ud800", "w") != stream_key(0, "\ud801", "w")  # any text has a key


def test_numpy_integers_are_seeds():
    assert stream_key(np.uint64(2**64 - 1), "a", "b") == stream_key(2**64 - 1, "a", "b")
    assert stream_key(np.int32(7), "a", "b") == stream_key(7, "a", "b")


@pytest.mark.parametrize("seed", [-1, 2**64, True, False, np.True_, 1.0, "1", None])
def test_what_is_not_a_seed_is_refused_with_the_range(seed):
    with pytest.raises(ValueError, match=r"from 0 to 2\*\*64-1"):
        stream_key(seed, "a", "b")


@pytest.mark.slow
@pytest.mark.parametrize("hash_seed", ["0", "1"])
def test_keys_do_not_depend_on_the_hash_salt(hash_seed):
    code = "from sweep.plan.streams import stream_key; print(stream_key(12345, 'imu0', 'white'))"
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, check=True)
    assert int(done.stdout) == GOLDEN[12345, "imu0", "white"]
