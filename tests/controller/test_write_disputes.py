from nemutator_controller import write_disputes
from nemutator_controller.neighbours.labels import LabelledObject
from nemutator_controller.write_disputes import (
    FIRST_WAIT_S,
    LONGEST_WAIT_S,
    REVERTS,
    WriteDisputes,
)

WEB = LabelledObject("Pod", "shop", "web-1", "uid")
LABEL = "nemutator.io/victim-now"


def reverted(disputes: WriteDisputes[LabelledObject], now: float) -> bool:
    """Written by us, seen, and taken away by somebody."""
    disputes.wrote(WEB, LABEL, "3")
    disputes.see(WEB, LABEL, "3", now=now)
    return disputes.see(WEB, LABEL, None, now=now)


def test_who_reverts_a_label_three_times_is_given_way_to_and_told_of_once() -> None:
    disputes = WriteDisputes[LabelledObject]()
    told = [reverted(disputes, now=10.0 * n) for n in range(REVERTS)]
    assert told == [False] * (REVERTS - 1) + [True]
    at = 10.0 * (REVERTS - 1)
    assert disputes.is_left_alone(WEB, LABEL, now=at + FIRST_WAIT_S - 1)
    assert disputes.left_alone(now=at) == 1
    assert not disputes.is_left_alone(WEB, LABEL, now=at + FIRST_WAIT_S)
    later = at + FIRST_WAIT_S + 1
    assert not reverted(disputes, now=later)
    assert disputes.is_left_alone(WEB, LABEL, now=later + 2 * FIRST_WAIT_S - 1)


def test_a_wait_grows_to_its_longest() -> None:
    disputes, now = WriteDisputes[LabelledObject](), 0.0
    for _ in range(20):
        reverted(disputes, now=now)
        now += 0 if not disputes.is_left_alone(WEB, LABEL, now=now) else LONGEST_WAIT_S
    reverted(disputes, now=now)
    assert not disputes.is_left_alone(WEB, LABEL, now=now + LONGEST_WAIT_S)


def test_a_watch_that_lags_reverts_nothing() -> None:
    disputes = WriteDisputes[LabelledObject]()
    for n in range(10):
        disputes.wrote(WEB, LABEL, str(n % 4 + 1))
        assert not disputes.see(WEB, LABEL, None, now=float(n))
    assert not disputes.is_left_alone(WEB, LABEL, now=10.0)


def test_reverts_that_are_far_apart_are_a_persons() -> None:
    disputes = WriteDisputes[LabelledObject]()
    assert not any(reverted(disputes, now=3_600.0 * n) for n in range(10))


def test_what_was_not_written_by_us_is_no_dispute() -> None:
    assert not WriteDisputes[LabelledObject]().see(WEB, LABEL, "4", now=0.0)


def test_no_more_than_a_bound_is_remembered() -> None:
    disputes = WriteDisputes[LabelledObject]()
    for n in range(write_disputes.MOST_WRITES + 10):
        disputes.wrote(LabelledObject("Pod", "n", str(n)), LABEL, "1")
    assert not disputes.see(LabelledObject("Pod", "n", "0"), LABEL, None, now=0.0)
