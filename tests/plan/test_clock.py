import copy
import math
import pickle
from dataclasses import fields
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sweep.errors import GridError, InvalidElapsedError, InvalidIntervalError, InvalidPhaseError
from sweep.plan.clock import (
    BOUNDARY_TOLERANCE_SCALE,
    MAX_SAMPLE_INDEX,
    EpisodeTime,
    FixedRateSample,
    FixedRateSchedule,
    Grid,
    GridSchedule,
    SessionTime,
)

# --- D.0: the quantiser ---------------------------------------------------------------------------------------------

ON_GRID = [
    (0.07, 0.01, 7),
    (0.035, 0.005, 7),
    (0.14, 0.01, 14),
    (0.555, 0.005, 111),
    (0.3, 0.1, 3),
    (0.6, 0.2, 3),
    (0.043, 0.001, 43),
    (0.1 + 0.2, 0.1, 3),
    (1 / 60, 1 / 240, 4),
    (0, 0.001, 0),
    (0.0, 0.001, 0),
    ("1/60", "1/240", 4),
    ("7 ms", "1 ms", 7),
]


@pytest.mark.parametrize(("duration", "timestep", "ticks"), ON_GRID)
def test_durations_on_the_grid_are_counted_under_both_policies(duration, timestep, ticks):
    grid = Grid(timestep)
    assert grid.ticks(duration) == grid.ticks(duration, "strict") == ticks


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 7, 10, 20])
def test_every_multiple_of_whole_milliseconds_is_counted(d):
    for k in range(400):
        # The obvious ways people arrive at k*d milliseconds, each rounded its own way.
        for duration in (k * d / 1000, f"{k * d} ms", Fraction(k * d, 1000)):
            assert Grid(d / 1000).ticks(duration, "strict") == k


def test_a_positive_duration_below_one_timestep_is_one_tick():
    assert Grid(0.001).ticks(0.0004) == 1
    with pytest.raises(GridError, match=r"0\.0004 s .* nearest .* 0 s; a timestep of 0\.0002 s would work"):
        Grid(0.001).ticks(0.0004, "strict")


SCHEDULES = [
    (0.007, 0, 0.002, [4, 7, 11, 14, 18, 21, 25, 28]),
    (0.007, 0.001, 0.002, [1, 4, 8, 11, 15, 18, 22, 25, 29]),
    (1 / 60, 0, 0.002, [9, 17, 25, 34, 42, 50, 59, 67, 75, 84, 92, 100]),
    (1 / 30, 0, 0.002, [17, 34, 50, 67, 84, 100, 117]),
    (2.5, 0, 1, [3, 5, 8, 10, 13, 15]),
    (2.5, 1, 1, [1, 4, 6, 9, 11, 14, 16]),
    (0.1, 0, 0.01, [10, 20, 30]),  # D.1 row 2
    (0.02, 0, 0.005, [4, 8, 12]),
    (0.001, 0, 0.001, [1, 2, 3, 4, 5, 6, 7, 8, 9]),  # D.1 row 8: a run of 10 steps has ticks 0 to 9
]


@pytest.mark.parametrize(("period", "phase", "timestep", "expected"), SCHEDULES)
def test_schedules_run_at_the_first_boundary_and_never_drift(period, phase, timestep, expected):
    schedule = GridSchedule(Grid(timestep), period, phase)
    indices, ticks = schedule.due(0, expected[-1] + 1)
    assert ticks.tolist() == expected
    assert indices.tolist() == list(range(schedule.first_index, schedule.first_index + len(expected)))


def test_twelve_samples_per_hundred_ticks_for_ever():
    schedule = GridSchedule(Grid(0.002), 1 / 60)
    for block in (0, 1, 10**6, 10**12, 10**30):
        indices, ticks = schedule.due(100 * block + 1, 100 * block + 101)
        assert [int(tick) - 100 * block for tick in ticks] == SCHEDULES[2][3]
        assert indices[0] == 12 * block + 1


def test_strict_names_the_schedule_the_value_the_nearest_and_a_timestep_that_works():
    with pytest.raises(GridError) as caught:
        GridSchedule(Grid(0.002), 0.0072, policy="strict", name="components.enc")
    for part in ("components.enc", "0.0072 s", "0.008 s", "0.0004 s"):
        assert part in str(caught.value)
    with pytest.raises(GridError, match=r"phase 0\.001 s .* timestep of 0\.001 s"):
        GridSchedule(Grid(0.002), 0.004, 0.001, policy="strict")
    assert GridSchedule(Grid(0.002), 0.004, 0.002, policy="strict").due(0, 6)[1].tolist() == [1, 3, 5]


def test_strict_of_seven_milliseconds_on_two_names_one():
    with pytest.raises(GridError, match=r"period 0\.007 s .* nearest .* 0\.008 s; a timestep of 0\.001 s would work"):
        GridSchedule(Grid(0.002), 0.007, policy="strict")


def test_the_timestep_that_would_work_suits_period_and_phase():
    with pytest.raises(GridError, match=r"timestep of 0\.0005 s"):
        GridSchedule(Grid(0.002), 0.007, 0.0005, policy="strict")


@pytest.mark.parametrize("policy", ["next_boundary", "strict"])
def test_a_period_shorter_than_the_timestep_is_an_error_under_both_policies(policy):
    with pytest.raises(GridError, match=r"enc: .*0\.001 s is shorter than the timestep 0\.002 s"):
        GridSchedule(Grid(0.002), 0.001, policy=policy, name="enc")


@pytest.mark.parametrize("phase", [-0.001, 0.007, 1])
def test_a_phase_outside_the_period_is_an_error(phase):
    with pytest.raises(GridError, match="enc: the phase"):
        GridSchedule(Grid(0.002), 0.007, phase, name="enc")


def test_other_wrong_values_are_grid_errors():
    for timestep in (0, -0.001, "0", math.nan, True):
        with pytest.raises(GridError):
            Grid(timestep)
    with pytest.raises(GridError, match="negative"):
        Grid(0.001).ticks(-0.001)
    with pytest.raises(GridError, match="next_boundary, strict"):
        Grid(0.001).ticks(0.001, "nearest")
    with pytest.raises(GridError, match=r"enc: .*next_boundary, strict"):
        GridSchedule(Grid(0.001), 0.001, policy="nearest", name="enc")
    with pytest.raises(GridError, match="enc: 'soon'"):
        GridSchedule(Grid(0.001), "soon", name="enc")


def test_macro_steps_of_a_sixtieth_take_four_ticks_each():
    grid = Grid(1 / 240)
    boundaries = [grid.ticks(Fraction(step) * Fraction(1, 60)) for step in range(10_001)]
    assert {after - before for before, after in pairwise(boundaries)} == {4}
    assert boundaries[-1] == 40_000
    assert all(grid.ticks(step / 60, "strict") == 4 * step for step in range(0, 10_001, 7))
    assert Grid(0.04).ticks(255.96, "strict") == 6399


def test_deadlines_of_a_240th_of_a_second_on_a_grid_of_milliseconds():
    """Read as a decimal, the float 1/240 would misplace every sixth of them: those that lie on the grid."""
    schedule = GridSchedule(Grid(0.001), 1 / 240)
    assert [schedule.tick(k) for k in range(1, 3001)] == [-(-k * 1000 // 240) for k in range(1, 3001)]
    assert [schedule.tick(6 * k) for k in range(1, 500)] == [25 * k for k in range(1, 500)]


@given(st.integers(1, 999), st.sampled_from([1000, 10_000, 240, 60, 30, 7]), st.integers(1, 40), st.integers(0, 10**5))
def test_macro_steps_of_any_whole_number_of_ticks_lose_none(top, bottom, ticks, count):
    """Timing case 7, for any timestep and any macro step, as the floats that people would write."""
    timestep = Fraction(top, bottom)
    grid = Grid(float(timestep))
    assert grid.timestep == timestep
    assert grid.ticks(float(ticks * timestep), "strict") == ticks
    assert grid.ticks(float(count * ticks * timestep), "strict") == count * ticks
    assert grid.ticks(float(count * ticks * timestep)) == count * ticks


@st.composite
def written_times(draw):
    """Timestep, period and phase as exact quotients with the denominators of clocks and cameras."""
    timestep = Fraction(draw(st.integers(1, 50)), draw(st.sampled_from([1000, 10_000, 240, 500, 60])))
    period = Fraction(draw(st.integers(1, 400)), draw(st.sampled_from([1000, 10_000, 240, 30, 60, 3])))
    assume(period >= timestep)
    return timestep, period, draw(st.sampled_from([0, 1, 2])) * period / 7


@pytest.mark.slow
@given(written_times(), st.sampled_from([float, str, lambda seconds: f"{1000 * seconds} ms"]))
def test_a_schedule_is_that_of_the_times_however_they_are_written(times, written):
    timestep, period, phase = times
    exact = GridSchedule(Grid(timestep), period, phase)
    assert GridSchedule(Grid(written(timestep)), written(period), written(phase)) == exact
    first = exact.first_index
    for k in (first, first + 1, 1000, 10**9, 10**15):
        assert exact.tick(k) == math.ceil((phase + k * period) / timestep)


def test_grids_and_schedules_are_values():
    grid, schedule = Grid("1/240"), GridSchedule(Grid(1 / 240), 1 / 60, name="a")
    assert grid == schedule.grid
    assert schedule == GridSchedule(grid, "1/60", name="b")
    assert hash(schedule) == hash(GridSchedule(grid, "1/60", name="b"))
    assert schedule != GridSchedule(grid, "1/30")
    for value in (grid, schedule, EpisodeTime(1, 2), SessionTime(3)):
        assert pickle.loads(pickle.dumps(value)) == copy.deepcopy(value) == value
        with pytest.raises(AttributeError):
            setattr(value, fields(value)[0].name, None)


def test_time_shown_is_correctly_rounded():
    grid = Grid("1/240")
    assert grid.time_s(1) == 1 / 240
    assert grid.time_s(240 * 10**15 + 1) == float(Fraction(240 * 10**15 + 1, 240))
    assert grid.time_s(np.int64(720)) == EpisodeTime(3, 720).time_s(grid) == SessionTime(720).time_s(grid) == 3.0
    assert GridSchedule(grid, 1 / 60).nominal_s(7) == 7 / 60


def test_session_time_only_grows():
    assert SessionTime().advanced().advanced(4) == SessionTime(5)
    with pytest.raises(GridError, match="only grows"):
        SessionTime(5).advanced(-1)


timesteps = st.fractions("0.0001", "0.1", max_denominator=10**4)
durations = st.fractions(0, 100, max_denominator=10**6)


@pytest.mark.slow
@given(timesteps, durations)
def test_quantising_never_shortens_and_is_idempotent(timestep, duration):
    grid = Grid(timestep)
    ticks = grid.ticks(duration)
    assert (ticks - 1) * timestep < duration <= ticks * timestep
    assert grid.ticks(ticks * timestep, "strict") == ticks


@given(timesteps, durations)
def test_strict_raises_exactly_off_the_grid(timestep, duration):
    grid = Grid(timestep)
    if duration % timestep:
        with pytest.raises(GridError):
            grid.ticks(duration, "strict")
    else:
        assert grid.ticks(duration, "strict") == duration / timestep


@st.composite
def grid_schedules(draw):
    timestep = draw(timesteps)
    period = timestep * draw(st.fractions(1, 20, max_denominator=50))
    phase = period * draw(st.fractions(0, "49/50", max_denominator=50))
    return GridSchedule(Grid(timestep), period, phase)


@pytest.mark.slow
@given(grid_schedules(), st.integers(0, 200))
def test_a_sample_runs_at_the_first_boundary_at_or_after_its_instant(schedule, k):
    tick, timestep = schedule.tick(k), schedule.grid.timestep
    assert (tick - 1) * timestep < schedule.phase + k * schedule.period <= tick * timestep
    assert schedule.tick(k + 1) > tick


@pytest.mark.slow
@given(grid_schedules(), st.sampled_from([0, 10**9, 2**62 - 3, 10**40]), st.lists(st.integers(0, 40), max_size=8))
def test_due_over_any_partition_is_due_over_the_whole(schedule, start, lengths):
    bounds = [start + sum(lengths[:count]) for count in range(len(lengths) + 1)]
    parts = [schedule.due(a, b) for a, b in pairwise(bounds)]
    whole = schedule.due(bounds[0], bounds[-1])
    for side in (0, 1):
        assert [int(x) for part in parts for x in part[side]] == [int(x) for x in whole[side]]
    indices = [int(k) for k in whole[0]]
    assert [int(tick) for tick in whole[1]] == [schedule.tick(k) for k in indices]
    near = range(max(schedule.first_index, schedule.last_index_at(start) - 2), schedule.last_index_at(bounds[-1]) + 2)
    assert indices == [k for k in near if bounds[0] <= schedule.tick(k) < bounds[-1]]


def test_due_of_nothing_is_empty_int64():
    schedule = GridSchedule(Grid(0.002), 0.007)
    for start, stop in ((0, 4), (5, 5), (9, 3), (-10, 0)):
        for side in schedule.due(start, stop):
            assert side.dtype == np.int64
            assert side.size == 0


# --- FixedRateSchedule ----------------------------------------------------------------------------------------------


def tolerance(a, b):
    return BOUNDARY_TOLERANCE_SCALE * max(1.0, abs(a), abs(b))


def state(schedule):
    return schedule.simulation_time_s, schedule.next_sample_time_s, schedule.phase_offset_s, repr(schedule)


@pytest.mark.parametrize(("dt", "f"), [(0.05, 20), (0.1, 10), (1 / 30, 30), (0.005, 200)])
def test_a_schedule_advanced_by_its_own_interval_yields_one_sample_each_time(dt, f):
    schedule = FixedRateSchedule(1 / f)
    assert [len(schedule.advance(dt)) for _ in range(200)] == [1] * 200


@given(st.floats(1e-9, 1e3), st.integers(1, 7), st.integers(1, 150))
def test_a_schedule_advanced_by_parts_of_its_interval_drops_and_doubles_nothing(interval, parts, count):
    """Timing case 3, for any rate."""
    schedule = FixedRateSchedule(interval)
    assert [len(schedule.advance(interval / parts)) for _ in range(count)] == [
        int((n + 1) % parts == 0) for n in range(count)
    ]


def test_a_zero_phase_first_samples_one_interval_in():
    schedule = FixedRateSchedule(0.5)
    assert schedule.next_sample_time_s == 0.5
    assert schedule.advance(0.0) == ()
    assert schedule.advance(0.25) == ()
    assert schedule.advance(0.25) == (FixedRateSample(0.5, 0.25, 0.5),)
    assert schedule.advance(1.0) == (FixedRateSample(1.0, 0.5, 0.5), FixedRateSample(1.5, 1.0, 0.5))


def test_a_phase_is_the_first_sample_and_counts_from_time_zero():
    schedule = FixedRateSchedule(0.5, 0.125)
    assert schedule.advance(1.0) == (FixedRateSample(0.125, 0.125, 0.125), FixedRateSample(0.625, 0.625, 0.5))
    assert schedule.next_sample_time_s == 1.125
    assert (schedule.phase_offset_s, schedule.simulation_time_s) == (0.125, 1.0)


@given(st.floats(0.001, 10), st.integers(2, 9))
def test_agents_with_phases_of_their_own_take_turns(interval, agents):
    schedules = [FixedRateSchedule(interval, agent * interval / agents) for agent in range(agents)]
    steps = [[len(schedule.advance(interval / agents)) for schedule in schedules] for _ in range(3 * agents)]
    assert steps == [[int((step + 1) % agents == agent) for agent in range(agents)] for step in range(3 * agents)]


@given(st.floats(0.01, 10), st.lists(st.floats(0, 3), max_size=6))
def test_asking_for_the_next_sample_consumes_nothing(interval, updates):
    asked, other = FixedRateSchedule(interval), FixedRateSchedule(interval)
    for elapsed in updates:
        expected = [asked.next_sample_time_s, asked.next_sample_time_s]
        found = asked.advance(elapsed)
        assert found == other.advance(elapsed)
        assert not found or expected == [found[0].scheduled_time_s] * 2
    ahead = asked.next_sample_time_s - asked.simulation_time_s
    assert len(asked.advance(ahead)) == 1


def test_the_bounds_are_those_decided():
    assert (BOUNDARY_TOLERANCE_SCALE, MAX_SAMPLE_INDEX) == (1e-12, 2**53)
    for end, gap in ((1e12, 1.0), (3.0, 3e-12), (0.5, 1e-12)):  # relative, and at least that of one second
        for scale, samples in ((0.9, 1), (1.1, 0)):
            schedule = FixedRateSchedule(end + scale * gap)
            assert len(schedule.advance(end)) == samples


def test_scheduled_times_are_one_product_and_one_sum():
    schedule = FixedRateSchedule(0.1, 0.03)
    times = [sample.scheduled_time_s for sample in schedule.advance(1000.0)]
    assert times == [0.03 + k * 0.1 for k in range(len(times))]
    assert len(times) == 10_000


def test_a_sample_within_tolerance_of_the_end_is_due_and_stays_inside_the_update():
    schedule = FixedRateSchedule(1.0)
    (sample,) = schedule.advance(1.0 - 0.5e-12)
    assert sample == FixedRateSample(1.0, 1.0 - 0.5e-12, 1.0)
    assert schedule.advance(0.0) == ()
    assert FixedRateSchedule(1.0).advance(1.0 - 3e-12) == ()
    assert len(FixedRateSchedule(1000.0).advance(1000.0 - 0.5e-9)) == 1


def test_a_sample_that_was_early_has_offset_zero_and_not_less():
    schedule = FixedRateSchedule(1.0, 0.5)
    schedule.advance(0.5 - 0.9e-12)
    (sample,) = schedule.advance(1.0)
    assert sample.scheduled_time_s == 1.5
    assert 0.0 <= sample.offset_in_update_s <= 1.0


def test_samples_within_tolerance_of_time_zero_are_before_anything_has_happened():
    schedule = FixedRateSchedule(1.0, 5e-13)
    assert schedule.next_sample_time_s == 1.0 + 5e-13
    assert schedule.advance(0.0) == ()


@pytest.mark.slow
def test_a_million_equal_advances_stay_on_the_grid():
    schedule = FixedRateSchedule(0.01)
    count = sum(len(schedule.advance(0.001)) for _ in range(1_000_000))
    assert count == 100_000
    assert schedule.simulation_time_s == 1000.0


def test_a_skip_keeps_the_phase_and_starts_the_baseline_at_its_end():
    schedule = FixedRateSchedule(1.0, 0.25)
    schedule.skip_elapsed(10.5)
    assert (schedule.simulation_time_s, schedule.next_sample_time_s) == (10.5, 11.25)
    assert schedule.advance(1.0) == (FixedRateSample(11.25, 0.75, 0.75),)


def test_a_skip_onto_a_sample_passes_it_over():
    schedule = FixedRateSchedule(0.1)
    schedule.skip_elapsed(0.30000000000000004)
    assert schedule.next_sample_time_s == 4 * 0.1


def test_a_skip_costs_the_same_however_far():
    schedule = FixedRateSchedule(1e-3)
    schedule.skip_elapsed(1e8)  # 1e11 samples
    assert schedule.next_sample_time_s == pytest.approx(1e8 + 1e-3, abs=2e-4)


@pytest.mark.parametrize("interval", [0.0, -1.0, math.nan, math.inf, True, None, "1", 10**400])
def test_an_interval_must_be_positive_and_finite(interval):
    with pytest.raises(InvalidIntervalError, match="interval_s must be"):
        FixedRateSchedule(interval)


@pytest.mark.parametrize("phase", [-0.1, 1.0, 2.0, math.nan, math.inf, -math.inf, False, None])
def test_a_phase_must_lie_within_the_interval(phase):
    with pytest.raises(InvalidPhaseError, match=r"phase_offset_s must be in \[0, 1\.0\)"):
        FixedRateSchedule(1.0, phase)


@pytest.mark.parametrize("elapsed", [-1e-300, -1.0, math.nan, math.inf, -math.inf, True, None, "1", 10**400])
@pytest.mark.parametrize("method", ["advance", "skip_elapsed"])
def test_a_wrong_elapsed_time_changes_nothing(method, elapsed):
    schedule = FixedRateSchedule(0.3, 0.1)
    schedule.advance(0.75)
    before = state(schedule)
    with pytest.raises(InvalidElapsedError, match="elapsed_s must be"):
        getattr(schedule, method)(elapsed)
    assert state(schedule) == before
    assert schedule.advance(0.25) == (
        FixedRateSample(0.1 + 3 * 0.3, 0.1 + 3 * 0.3 - 0.75, 0.1 + 3 * 0.3 - (0.1 + 2 * 0.3)),
    )


@pytest.mark.parametrize("method", ["advance", "skip_elapsed"])
def test_a_time_that_is_not_finite_changes_nothing(method):
    schedule = FixedRateSchedule(1e300)
    schedule.skip_elapsed(1.7e308)
    before = state(schedule)
    with pytest.raises(InvalidElapsedError, match="not a finite time"):
        getattr(schedule, method)(1.7e308)
    assert state(schedule) == before


def test_a_next_sample_beyond_all_floats_is_never_due():
    schedule = FixedRateSchedule(1e308)
    assert len(schedule.advance(1.5e308)) == 1
    assert schedule.next_sample_time_s == math.inf


@pytest.mark.parametrize(
    ("interval", "elapsed", "message"),
    [
        (1e-20, 1.0, "past sample"),
        (1e-300, 1e-5, "past sample"),
        (1e-6, 1e11, "past sample"),
        (1e-13, 1.0, "too small"),
        (1e-6, 3e6, "too small"),
        (0.4e-12, 0.5, "too small"),
    ],
)
def test_a_skip_that_leaves_a_sample_due_or_unnumbered_changes_nothing(interval, elapsed, message):
    schedule = FixedRateSchedule(interval)
    before = state(schedule)
    with pytest.raises(InvalidElapsedError, match=message):
        schedule.skip_elapsed(elapsed)
    assert state(schedule) == before


def test_samples_that_cannot_be_numbered_cannot_be_advanced_to():
    schedule = FixedRateSchedule(1e-20)
    before = state(schedule)
    with pytest.raises(InvalidElapsedError, match=str(MAX_SAMPLE_INDEX)):
        schedule.advance(1.0)
    assert state(schedule) == before


intervals = st.floats(1e-4, 10.0)
parts = st.floats(0.0, 1.0, exclude_max=True)
updates = st.lists(st.floats(0.0, 0.05), max_size=20)


def make(interval, part):
    phase = interval * part
    assume(phase < interval)
    return FixedRateSchedule(interval, phase), (0 if phase > tolerance(phase, 0.0) else 1)


@pytest.mark.slow
@given(intervals, parts, updates)
def test_any_partition_emits_every_sample_once_in_order(interval, part, elapsed):
    schedule, first = make(interval, part)
    emitted = []
    for update in elapsed:
        start = schedule.simulation_time_s
        samples = schedule.advance(update)
        end = schedule.simulation_time_s
        assert schedule.next_sample_time_s > end + tolerance(schedule.next_sample_time_s, end)
        assert all(0.0 <= sample.offset_in_update_s <= update for sample in samples)
        assert all(start - 1e-12 <= sample.scheduled_time_s <= end + 2e-12 for sample in samples)
        emitted += samples
    times = [sample.scheduled_time_s for sample in emitted]
    assert times == [schedule.phase_offset_s + k * interval for k in range(first, first + len(times))]
    assert schedule.next_sample_time_s == schedule.phase_offset_s + (first + len(times)) * interval
    gaps = [sample.elapsed_since_previous_s for sample in emitted]
    assert gaps == [b - a for a, b in pairwise([0.0, *times])]
    assert abs(schedule.simulation_time_s - math.fsum(elapsed)) <= math.ulp(schedule.simulation_time_s)


@pytest.mark.slow
@given(intervals, parts, updates, st.floats(0.0, 2.0), updates)
def test_a_skip_reaches_the_sample_that_advancing_would(interval, part, before, skipped, after):
    (skipping, _), (advancing, _) = make(interval, part), make(interval, part)
    for update in before:
        assert skipping.advance(update) == advancing.advance(update)
    skipping.skip_elapsed(skipped)
    advancing.advance(skipped)
    assert skipping.simulation_time_s == advancing.simulation_time_s
    assert skipping.next_sample_time_s == advancing.next_sample_time_s
    baseline = skipping.simulation_time_s
    for update in after:
        mine, other = skipping.advance(update), advancing.advance(update)
        assert [sample.scheduled_time_s for sample in mine] == [sample.scheduled_time_s for sample in other]
        for sample in mine:
            assert sample.elapsed_since_previous_s == sample.scheduled_time_s - baseline
            baseline = sample.scheduled_time_s


@given(st.floats(1e-6, 1e6), parts, st.lists(st.floats(0.0, 1e12), max_size=4))
def test_a_skip_of_any_size_keeps_the_next_sample_beyond_the_clock_or_changes_nothing(interval, part, skips):
    schedule, _ = make(interval, part)
    for elapsed in skips:
        before = state(schedule)
        try:
            schedule.skip_elapsed(elapsed)
        except InvalidElapsedError:
            assert state(schedule) == before
            continue
        time, upcoming = schedule.simulation_time_s, schedule.next_sample_time_s
        assert upcoming > time + tolerance(upcoming, time)
        assert upcoming - interval <= time + tolerance(upcoming, time) + 4 * math.ulp(upcoming)
