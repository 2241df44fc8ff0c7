"""A column's digest depends on its rows alone: not on how many came at once, nor on which way."""

from __future__ import annotations

import numpy as np
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st

from sweep.runtime.tracing.trace import TraceColumn

WIDTH = 700  # so wide that a column hashes after the least number of rows


@settings(max_examples=40)
@given(st.lists(st.tuples(st.booleans(), st.lists(st.integers(0, 90), min_size=2, max_size=2)), max_size=8))
def test_rows_left_for_later_and_rows_hashed_at_once_make_one_stream(pieces):
    column, said = TraceColumn(2, WIDTH), [xxhash.xxh3_128(), xxhash.xxh3_128()]
    for number, (waits, counts) in enumerate(pieces):
        rows = np.random.default_rng(number).random((2, max(counts), WIDTH))
        if waits:
            place, filled = column.room(max(counts))
            for lane, count in enumerate(counts):
                place[lane, filled[lane] : filled[lane] + count] = rows[lane, :count]
                filled[lane] += count
        else:
            column.append(rows, np.array(counts))
        for lane, count in enumerate(counts):
            said[lane].update(rows[lane, :count].tobytes())
    assert [column.digest(lane) for lane in range(2)] == [hash_.digest() for hash_ in said]
