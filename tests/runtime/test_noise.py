import hashlib
import math
import multiprocessing
import os
import subprocess
import sys
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest
import scipy.stats
import xxhash
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import Philox

import sweep
from sweep.plan.streams import stream_key
from sweep.runtime.noise import (
    LaneStream,
    normals,
    normals_of,
    raw_words,
    receipt_digest,
    uniforms,
    uniforms_of,
)
from sweep.runtime.numerics import draws
from sweep.runtime.numerics.draws import log_of, normal_of

ROOT = Path(sweep.__file__).parents[1]
KEY = stream_key(12345, "imu0", "white")
GOLDEN_RAW = {
    (12345, "imu0", "white"): (0x3E5D03F1C837C367, 0x7BE981F64627A142),
    (12345, "imu0", "bias"): (0xB8612C521DE3158A, 0x7B0BDA743F8CD3DE),
    (12346, "imu0", "white"): (0x24CE7DB3DED1C010, 0xB465459F8E9B8BF9),
    (12345, "ab", "cdef"): (0xFF411CA62B457A2D, 0x8260EF5132F24872),
    (12345, "abc", "def"): (0x3E296BB64D174913, 0x8CCE8408DC063116),
}
GOLDEN_NORMALS = ["-0x1.63b5ef0c305a4p-1", "-0x1.47fbc783b751bp-5", "-0x1.dbc5fcd3fa009p-2"]
keys = st.integers(0, 2**128 - 1)
NORMAL_OF = "normal_of", "log_of", "_central", "_polynomial"
open_uniforms = st.floats(2.0**-54, 1.0 - 2.0**-53)


@contextmanager
def in_python():
    """The functions that normal numbers are made with as Python runs them."""
    with pytest.MonkeyPatch.context() as patch:
        for name in NORMAL_OF:
            patch.setattr(draws, name, getattr(draws, name).py_func)
        yield


@pytest.mark.parametrize("name", GOLDEN_RAW)
def test_golden_raw_words(name):
    assert tuple(raw_words(stream_key(*name), 0, 2).tolist()) == GOLDEN_RAW[name]


def test_golden_normals():
    assert [value.hex() for value in normals(KEY, 0, 3).tolist()] == GOLDEN_NORMALS


@given(keys, st.integers(0, 2**70), st.integers(0, 20), st.integers(0, 20))
def test_draws_are_a_pure_function_of_key_and_index(key, start, skipped, count):
    whole = raw_words(key, start, skipped + count)
    assert whole.dtype == np.uint64
    assert raw_words(key, start + skipped, count).tolist() == whole[skipped:].tolist()
    assert normals(key, start + skipped, count).tolist() == normals(key, start, skipped + count)[skipped:].tolist()
    assert uniforms(key, start + skipped, count).tolist() == uniforms_of(whole)[skipped:].tolist()


def test_raw_words_are_numpys_philox():
    assert raw_words(KEY, 0, 1000).tolist() == Philox(key=KEY).random_raw(1000).tolist()


@pytest.mark.parametrize(("key", "start", "count"), [(KEY, -1, 1), (KEY, 0, -1), (2**128, 0, 1), (-1, 0, 1)])
def test_words_that_do_not_exist_are_refused(key, start, count):
    with pytest.raises(ValueError, match=r"counted from 0|key"):
        raw_words(key, start, count)


def test_uniforms_are_never_zero_or_one():
    extremes = np.array([0, 2**11 - 1, 2**63, 2**64 - 1], dtype=np.uint64)
    assert uniforms_of(extremes).tolist() == [2.0**-54, 2.0**-54, 0.5, 1.0 - 2.0**-53]
    assert np.isfinite(normals_of(uniforms_of(extremes))).all()


@given(st.lists(st.integers(0, 2**64 - 1)))
def test_uniforms_are_the_formula_in_floats(words):
    expected = [min(((word >> 11) + 0.5) * 2.0**-53, 1.0 - 2.0**-53) for word in words]
    assert uniforms_of(np.array(words, dtype=np.uint64)).tolist() == expected


@given(st.lists(open_uniforms))
def test_machine_code_has_the_bits_of_the_same_python(values):
    compiled = normals_of(np.array(values)).tolist()
    assert compiled == [normal_of(value) for value in values]
    with in_python():
        assert compiled == [draws.normal_of(value) for value in values]


@given(keys, st.integers(0, 2**70), st.integers(1, 9))
def test_words_have_the_bits_of_numpys_generator_anywhere(key, start, count):
    theirs = Philox(key=key, counter=start // 4).random_raw(start % 4 + count)[start % 4 :]
    assert raw_words(key, start, count).tolist() == theirs.tolist()


@given(open_uniforms | st.integers(1, 54).map(lambda power: 2.0**-power) | st.floats(-25.1, -24.9).map(math.exp))
def test_normals_agree_with_the_standard_library(value):
    reference = NormalDist().inv_cdf(value)
    # Far out, two doubles that differ by one ulp are already 1.8e-15 apart.
    assert abs(normal_of(value) - reference) <= 2e-15 * max(1.0, abs(reference) / 2)
    assert log_of(value) == pytest.approx(math.log(value), rel=4e-16, abs=1e-16)


@pytest.mark.slow
def test_a_million_draws_agree_with_the_standard_library():
    drawn = uniforms(KEY, 0, 1_000_000)
    expected = np.fromiter(map(NormalDist().inv_cdf, drawn.tolist()), float, drawn.size)
    assert np.abs(normals(KEY, 0, 1_000_000) - expected).max() <= 2e-15


@given(st.sampled_from([1, 8191, 8192, 8193, 32768, 32769, 70_000]), st.sampled_from([1, 7, 100]))
def test_bits_do_not_depend_on_shape_or_block_length(count, width):
    # Tails fall differently into the chunks of each call.
    drawn = uniforms(KEY, 0, count)
    whole = normals_of(drawn)
    cut = count // 3
    assert np.concatenate([normals_of(drawn[:cut]), normals_of(drawn[cut:])]).tobytes() == whole.tobytes()
    rows = drawn[: count - count % width].reshape(-1, width)
    assert normals_of(rows).tobytes() == whole[: rows.size].tobytes()
    assert normals_of(drawn[::2]).tobytes() == whole[::2].copy().tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("name", [(12345, "imu0", "white"), (0, "a", "b"), (2**64 - 1, "enc", "dropout")])
def test_a_million_draws_are_standard_normal_and_uniform(name):
    key = stream_key(*name)
    drawn = normals(key, 0, 1_000_000)
    for power, moment in ((1, 0), (2, 1), (3, 0), (4, 3), (6, 15)):
        # Var(z^k) = E(z^2k) - E(z^k)^2, and E(z^2k) = 1 * 3 * ... * (2k - 1).
        spread = math.sqrt((math.prod(range(1, 2 * power, 2)) - moment**2) / drawn.size)
        assert abs((drawn**power).mean() - moment) < 4 * spread
    flat = uniforms(key, 0, 1_000_000)
    for power in (1, 2, 3):
        spread = math.sqrt((1 / (2 * power + 1) - 1 / (power + 1) ** 2) / flat.size)
        assert abs((flat**power).mean() - 1 / (power + 1)) < 4 * spread
    assert scipy.stats.kstest(drawn, "norm").pvalue > 1e-3
    assert scipy.stats.kstest(flat, "uniform").pvalue > 1e-3
    for lag in (1, 2, 4):  # a block of the generator is four words
        assert abs(np.corrcoef(drawn[:-lag], drawn[lag:])[0, 1]) < 4e-3


def test_streams_of_confusable_names_are_pairwise_different():
    names = [(seed, "imu0", "white") for seed in (0, 1, 2**32, 2**64 - 1)]
    names += [(0, "imu0", "bias"), (0, "imu1", "white"), (0, "imu0white", "")]
    drawn = [normals(stream_key(*name), 0, 200) for name in names]
    for a, b in combinations(drawn, 2):
        assert not np.isin(a, b).any()
        assert abs(np.corrcoef(a, b)[0, 1]) < 0.3


def test_global_numpy_state_has_no_influence_and_is_left_alone():
    before = normals(KEY, 0, 10).tolist()
    np.random.seed(3)  # noqa: NPY002
    state = np.random.get_state()[1].tolist()  # noqa: NPY002
    assert normals(KEY, 0, 10).tolist() == before
    assert np.random.get_state()[1].tolist() == state  # noqa: NPY002


def test_noise_of_a_component_does_not_depend_on_its_neighbours():
    def noise(*components):
        streams = {name: stream_key(12345, name, "white") for name in components}
        lanes = LaneStream(list(streams.values()), 3)
        return lanes.span(0, 50)[list(streams).index("imu0")].tolist()

    alone = noise("imu0")
    assert noise("cam", "imu0") == noise("imu0", "cam") == alone
    assert [value.hex() for value in alone[0]] == GOLDEN_NORMALS


GOLDEN_DIGEST = "bdd3e3392066b559028a76b443efdf62224219bb612fddef35175024f93cd8fc"
"""SHA-256 of the first 100 000 normals: numpy 2.1.0 and 2.4.6 give it, with and without their vector instructions."""

PRINTED = (
    "import hashlib; from sweep.plan import stream_key; from sweep.runtime import normals; "
    "key = stream_key(12345, 'imu0', 'white'); "
    "print(*(x.hex() for x in normals(key, 0, 3).tolist()), hashlib.sha256(normals(key, 0, 100_000)).hexdigest())"
)


def printed_in_a_process(**environment):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PRINTED],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


def test_golden_digest():
    assert hashlib.sha256(normals(KEY, 0, 100_000)).hexdigest() == GOLDEN_DIGEST


@pytest.mark.slow
@pytest.mark.parametrize("hash_seed", ["0", "1"])
def test_noise_does_not_depend_on_the_hash_salt(hash_seed):
    assert printed_in_a_process(PYTHONHASHSEED=hash_seed) == [*GOLDEN_NORMALS, GOLDEN_DIGEST]


@pytest.mark.slow
def test_row_19_noise_does_not_depend_on_the_cpus_features():
    from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

    present = [feature for feature in __cpu_dispatch__ if __cpu_features__.get(feature)]
    assert printed_in_a_process(NPY_DISABLE_CPU_FEATURES=" ".join(present)) == [*GOLDEN_NORMALS, GOLDEN_DIGEST]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_row_18_keys_and_noise_are_the_same_in_started_processes(method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} on this system")
    names = list(GOLDEN_RAW)
    keys = [stream_key(*name) for name in names]
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.starmap(stream_key, names) == keys
        found = pool.starmap(normals, [(key, 0, 100) for key in keys])
    for key, drawn in zip(keys, found, strict=True):
        assert drawn.tolist() == normals(key, 0, 100).tolist()


# --- LaneStream -----------------------------------------------------------------------------------------------------


def lane_keys(count):
    return [stream_key(7, f"lane{lane}", "white") for lane in range(count)]


def expected_rows(key, indices, width, kind="normal"):
    draw = normals if kind == "normal" else uniforms
    return np.array([draw(key, int(index) * width, width) for index in indices]).reshape(len(indices), width)


@st.composite
def walks(draw):
    """Indices per lane and call: increasing, in blocks, padded by the last one, sometimes far apart."""
    lanes, calls = draw(st.integers(1, 4)), draw(st.integers(1, 12))
    position = [draw(st.integers(0, 3)) for _ in range(lanes)]
    walk = []
    for _ in range(calls):
        together = draw(st.booleans())
        counts = [draw(st.integers(0, 6))] * lanes if together else [draw(st.integers(0, 6)) for _ in range(lanes)]
        block = np.empty((lanes, max(counts)), dtype=np.int64)
        for lane, count in enumerate(counts):
            indices = list(range(position[lane], position[lane] + count))
            padding = indices[-1] if indices else max(position[lane] - 1, 0)
            block[lane] = indices + [padding] * (block.shape[1] - count)
            position[lane] += count
        walk.append(block)
        if draw(st.integers(0, 9)) == 0:
            position[draw(st.integers(0, lanes - 1))] += draw(st.integers(0, 40))
    return walk


@pytest.mark.slow
@given(walks(), st.integers(1, 5), st.sampled_from(["normal", "uniform"]))
def test_rows_are_the_draws_however_they_are_asked_for(walk, width, kind):
    lanes = lane_keys(len(walk[0]))
    stream = LaneStream(lanes, width, kind)
    for indices in walk:
        drawn = stream.rows(indices)
        assert drawn.shape == (*indices.shape, width)
        for lane, key in enumerate(lanes):
            assert drawn[lane].tolist() == expected_rows(key, indices[lane], width, kind).tolist()


def test_one_row_of_indices_is_every_lanes():
    stream = LaneStream(lane_keys(3), 2)
    shared = np.array([[4, 5, 9, 2]])
    assert stream.rows(shared).tolist() == stream.rows(np.repeat(shared, 3, axis=0)).tolist()
    assert stream.span(4, 2).tolist() == stream.rows(shared)[:, :2].tolist()


@pytest.mark.parametrize("index", [2**62 - 1, 2**61 + 3])
def test_a_senders_count_may_be_as_large_as_it_likes(index):
    key = lane_keys(1)[0]
    assert LaneStream([key], 2).rows(np.array([[index]]))[0].tolist() == expected_rows(key, [index], 2).tolist()


def test_scaled_draws_are_the_formula_in_floats():
    stream, plain = LaneStream(lane_keys(2), 2), LaneStream(lane_keys(2), 2)
    factor, offset = np.array([[2.0, 0.3], [0.0, -1.7]]), np.array([[0.1, 0.0], [7.0, 1e-3]])
    stream.scale(factor, offset)
    assert stream.span(3, 5).tolist() == (factor[:, None] * plain.span(3, 5) + offset[:, None]).tolist()


@pytest.mark.slow
@given(st.integers(1, 3), st.integers(0, 9), st.integers(0, 60))
def test_receipts_say_what_the_key_says(width, first, count):
    keys = lane_keys(2)
    receipt = LaneStream(keys, width).receipt(1, first, count)
    assert receipt.digest == receipt_digest(keys[1], first, count, width)
    assert (receipt.key, receipt.first, receipt.count, receipt.width) == (f"{keys[1]:032x}", first, count, width)


def test_a_receipt_is_the_hash_of_the_little_endian_words():
    words = raw_words(KEY, 6, 4).astype("<u8").tobytes()
    assert receipt_digest(KEY, 3, 2, 2) == xxhash.xxh3_128(words).hexdigest()


def test_common_prefixes_of_runs_of_different_length_agree():
    stream = LaneStream([KEY], 3)
    assert stream.receipt(0, 0, 400).digest != stream.receipt(0, 0, 40).digest
    assert stream.receipt(0, 0, 40).digest == receipt_digest(KEY, 0, 40, 3)


def test_rows_are_the_callers_own():
    stream = LaneStream(lane_keys(2), 2)
    stream.span(0, 4)[:] = 0.0
    assert (stream.span(0, 4) != 0.0).all()


def test_wrong_uses_are_refused():
    with pytest.raises(ValueError, match="counted from 0; found -1"):
        LaneStream(lane_keys(1), 1).rows(np.array([[-1]]))
    for arguments in ((0,), (1, "gauss")):
        with pytest.raises(ValueError, match="no noise"):
            LaneStream(lane_keys(1), *arguments)
    with pytest.raises(ValueError, match="key"):
        LaneStream([2**128], 1)
    assert LaneStream([], 2).rows(np.empty((0, 3), dtype=np.int64)).shape == (0, 3, 2)
    assert LaneStream(lane_keys(2), 2).rows(np.empty((2, 0), dtype=np.int64)).shape == (2, 0, 2)
