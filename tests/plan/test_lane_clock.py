import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweep.plan.clock import Grid, GridSchedule
from sweep.plan.lane_clock import DueSamples, LaneSchedule

GRID = Grid("0.002")


@st.composite
def schedules(draw):
    period = draw(
        st.fractions(min_value=GRID.timestep, max_value="0.1", max_denominator=draw(st.sampled_from([1000, 10**9])))
    )
    phase = draw(st.just(0) | st.fractions(0, 1, max_denominator=100).filter(lambda part: part < 1).map(period.__mul__))
    return GridSchedule(GRID, period, phase)


lanes_of_schedules = st.lists(schedules(), min_size=1, max_size=5)


def agree(lanes, start, stop):
    due = LaneSchedule.of(lanes).due(start, stop)
    expected = [lane.due(start, stop) for lane in lanes]
    assert due.indices.dtype == due.ticks.dtype == np.int64
    rows = 1 if LaneSchedule.of(lanes).uniform else len(lanes)
    assert due.indices.shape == due.ticks.shape == (rows, max(len(indices) for indices, _ in expected))
    due = DueSamples(
        *(
            None if a is None else np.broadcast_to(a, (len(lanes), a.shape[1]))
            for a in (due.indices, due.ticks, due.valid)
        )
    )
    valid = np.ones(due.indices.shape, dtype=bool) if due.valid is None else due.valid
    for row, (indices, ticks) in enumerate(expected):
        count = len(indices)
        assert due.indices[row, :count].tolist() == indices.tolist()
        assert due.ticks[row, :count].tolist() == ticks.tolist()
        assert valid[row].tolist() == [True] * count + [False] * (valid.shape[1] - count)
        last = lanes[row].last_index_at(stop - 1) if stop > start else lanes[row].last_index_at(start - 1)
        assert (due.indices[row, count:] == last).all()
        assert ((due.ticks[row] >= start) & (due.ticks[row] < max(stop, start + 1))).all()
    if due.valid is not None:
        assert not due.valid.all()


@pytest.mark.slow
@given(lanes_of_schedules, st.integers(0, 300), st.integers(0, 60))
def test_lanes_agree_with_their_schedules(lanes, start, ticks):
    agree(lanes, start, start + ticks)
    agree([lanes[0]] * 3, start, start + ticks)


@pytest.mark.slow
@given(lanes_of_schedules, st.integers(2**40 - 100, 2**55), st.integers(0, 60))
def test_lanes_agree_far_beyond_the_64_bit_products(lanes, start, ticks):
    agree(lanes, start, start + ticks)


@pytest.mark.slow
@given(lanes_of_schedules, st.integers(-5, 300))
def test_last_index_is_the_schedules(lanes, tick):
    last = LaneSchedule.of(lanes).last_index_at(np.int64(tick))
    assert last.tolist() == [lane.last_index_at(tick) for lane in lanes]
    for index, lane in zip(last.tolist(), lanes, strict=True):
        assert index == lane.first_index - 1 or lane.tick(index) <= tick
        assert lane.tick(index + 1) > tick


def test_lanes_of_one_schedule_are_uniform_whatever_their_names():
    one = [GridSchedule(GRID, 0.007, name=f"lane{lane}") for lane in range(3)]
    assert LaneSchedule.of(one).uniform
    assert not LaneSchedule.of([*one, GridSchedule(GRID, 0.007, 0.001)]).uniform


def test_draws_are_numbered_from_one_whatever_the_phase():
    lanes = LaneSchedule.of([GridSchedule(GRID, 0.007), GridSchedule(GRID, 0.007, 0.001)])
    due = lanes.due(0, 5)
    assert due.valid is not None
    draws = due.indices + lanes.draw_offset[:, None]
    assert draws.tolist() == [[1, 1], [1, 2]]
    assert due.valid.tolist() == [[True, False], [True, True]]
    assert lanes.first_index.tolist() == [1, 0]


def test_no_lanes_have_nothing_due():
    assert LaneSchedule.of([]).due(0, 10).indices.shape == (0, 0)


def test_one_tick_of_nothing_is_an_empty_rectangle():
    due = LaneSchedule.of([GridSchedule(GRID, 0.007), GridSchedule(GRID, 0.009)]).due(0, 3)
    assert due.indices.shape == (2, 0)
    assert due.valid is None


def test_an_empty_stretch_has_no_samples_wherever_it_comes():
    lanes = LaneSchedule.of([GridSchedule(GRID, 0.007)])
    for start, stop in ((0, 30), (30, 60), (60, 60), (40, 10), (0, 5), (5, 9), (3, 60)):
        expected, _ = GridSchedule(GRID, 0.007).due(start, max(start, stop))
        assert lanes.due(start, stop).indices.tolist() == [expected.tolist()]
