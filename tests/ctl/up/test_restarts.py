import pytest
from nemutator_common.errors import PERMANENT, ExitCode, OperatorError
from nemutator_ctl.up.restarts import MOST_DEATHS, SETTLED_S, Ended, after


@pytest.mark.parametrize("code", sorted(PERMANENT))
def test_a_permanent_code_ends_everything_with_that_code(code: ExitCode) -> None:
    with pytest.raises(OperatorError, match="brain cannot run") as caught:
        after("brain", Ended(code), deaths=0, ready_s=9.0, roll=0.0)
    assert caught.value.code is code
    assert ("--console" in caught.value.remedy) == (code is ExitCode.ADDRESS_IN_USE)


def test_a_row_of_quick_deaths_waits_longer_each_time_and_then_gives_up() -> None:
    deaths, waits = 0, []
    for _ in range(MOST_DEATHS - 1):
        verdict = after("brain", Ended(-9), deaths=deaths, ready_s=0.0, roll=0.0)
        deaths = verdict.deaths
        waits.append(verdict.delay_s)
    assert waits == sorted(set(waits))
    with pytest.raises(OperatorError, match="SIGKILL") as caught:
        after("brain", Ended(-9), deaths=deaths, ready_s=0.0, roll=0.0)
    assert caught.value.code is ExitCode.CHILD_DIED


def test_a_child_that_had_settled_begins_a_new_row() -> None:
    assert after("brain", Ended(1), deaths=4, ready_s=SETTLED_S, roll=0.5).deaths == 1


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
