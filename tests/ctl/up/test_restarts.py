import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.errors import PERMANENT, ExitCode, OperatorError
from nemutator_ctl.up.restarts import (
    HUNG_S,
    MISSED_S,
    MOST_DEATHS,
    SETTLED_S,
    STOPPED_S,
    Ended,
    Scheduling,
    Silence,
    after,
)


@pytest.mark.parametrize("code", sorted(PERMANENT))
def test_a_permanent_code_ends_everything_with_that_code(code: ExitCode) -> None:
    with pytest.raises(OperatorError, match="brain cannot run") as caught:
        after("brain", Ended(code), deaths=0, ready_s=9.0, has_worked=True, roll=0.0)
    assert caught.value.code is code
    assert ("--console" in caught.value.remedy) == (code is ExitCode.ADDRESS_IN_USE)


def test_a_row_of_quick_deaths_waits_longer_each_time_and_then_gives_up() -> None:
    deaths, waits = 0, []
    for _ in range(MOST_DEATHS - 1):
        verdict = after("brain", Ended(-9), deaths=deaths, ready_s=0.0, has_worked=True, roll=0.0)
        deaths = verdict.deaths
        waits.append(verdict.delay_s)
    assert waits == sorted(set(waits))
    with pytest.raises(OperatorError, match="SIGKILL") as caught:
        after("brain", Ended(-9), deaths=deaths, ready_s=0.0, has_worked=True, roll=0.0)
    assert caught.value.code is ExitCode.CHILD_DIED


@pytest.mark.parametrize("code", [ExitCode.UNREACHABLE, ExitCode.NO_SPACE])
def test_one_that_has_worked_waits_for_its_database_or_its_disk_however_long(
    code: ExitCode,
) -> None:
    # An hour without PostgreSQL, in which the others serve on.
    deaths = 3
    for _ in range(1_000):
        restart = after("brain", Ended(code), deaths=deaths, ready_s=0.0, has_worked=True, roll=0.5)
        deaths = restart.deaths
        assert 1.0 < restart.delay_s <= 5.0
    assert deaths == 3
    with pytest.raises(OperatorError, match="died 5 times"):
        after("brain", Ended(code), deaths=4, ready_s=0.0, has_worked=False, roll=0.5)


def test_a_child_that_had_settled_begins_a_new_row() -> None:
    assert (
        after("brain", Ended(1), deaths=4, ready_s=SETTLED_S, has_worked=True, roll=0.5).deaths == 1
    )


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (0, "exit code 0"),
        (5, "exit code 5 (an address to listen on is taken or not allowed)"),
        (77, "exit code 77"),
        (-9, "SIGKILL"),
        (-15, "SIGTERM"),
        (-200, "signal 200"),
    ],
)
def test_an_end_says_what_it_was(code: int, said: str) -> None:
    assert str(Ended(code)) == said


def test_an_end_by_a_signal_is_no_documented_code() -> None:
    assert Ended(-5).exit_code is None
    assert Ended(5).exit_code is ExitCode.ADDRESS_IN_USE


def silent(*looks: tuple[str, float, float]) -> Silence:
    """After *looks*: what a child did, for how long, and how much of that it waited for a processor."""
    silence, before = Silence(), Scheduling("S", 0.0)
    for state, passed_s, waited_s in looks:
        now = Scheduling(state, before.waited_s + waited_s)
        silence, before = silence.longer(passed_s, before, now), now
    return silence


def test_one_that_could_have_answered_all_the_time_hangs_once_it_has_started() -> None:
    waits = [("S", 10.0, 0.0)] * 5
    assert silent(*waits).hung(started=True) is None
    assert silent(*waits, ("R", 10.0, 0.0)).hung(started=True) == (
        "it has not answered for 60 s in which it could have"
    )
    assert silent(*waits, *waits, *waits).hung(started=False) is None


def test_a_stopped_one_hangs_soon_even_while_it_starts() -> None:
    stopped = silent(("T", STOPPED_S, 0.0))
    assert "was stopped" in str(stopped.hung(started=False))
    assert silent(("t", STOPPED_S / 2, 0.0)).hung(started=True) is None
    assert silent(("t", STOPPED_S / 2, 0.0), ("T", STOPPED_S / 2, 0.0)).hung(started=True)
    went_on = silent(("T", STOPPED_S / 2, 0.0), ("S", 1.0, 0.0), ("T", STOPPED_S / 2, 0.0))
    assert went_on.hung(started=True) is None


def test_being_stopped_does_not_make_the_rest_forgotten() -> None:
    assert silent(("S", 7.0, 0.0), ("T", 5.0, 0.0)) == Silence(7.0, 5.0)
    assert silent(("S", 7.0, 0.0), ("D", 5.0, 0.0)) == Silence(7.0, 0.0)


@given(st.lists(st.tuples(st.sampled_from("SR"), st.floats(0, 100), st.floats(0, 2)), max_size=50))
def test_a_child_that_always_waits_for_a_processor_or_a_disk_never_hangs(
    looks: list[tuple[str, float, float]],
) -> None:
    starved = [(state, passed_s, passed_s * (1 + more)) for state, passed_s, more in looks]
    thrashing = [("D", passed_s, 0.0) for _, passed_s, _ in looks]
    assert silent(*starved, *thrashing).hung(started=True) is None


def test_only_the_time_without_a_wait_for_the_processor_counts() -> None:
    assert silent(("R", 5.0, 2.0)) == Silence(3.0)
    assert silent(("R", 5.0, 9.0)) == Silence(0.0)


def test_a_clock_that_jumps_is_one_missed_answer() -> None:
    assert silent(("S", 3600.0, 0.0)).able_s == MISSED_S < HUNG_S


def test_an_ended_thread_makes_no_silence_longer() -> None:
    before, now = Scheduling("S", 9.0), Scheduling("S", 2.0)
    assert Silence().longer(5.0, before, now).able_s == 5.0
