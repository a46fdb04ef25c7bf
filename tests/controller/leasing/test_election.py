from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.leasing.election import (
    DEADLINE_S,
    LEASE_S,
    LONGEST_LEASE_S,
    RENEW_S,
    WATCH_S,
    BrainLease,
    Election,
)

WALL = 1_700_000_000.0


def held(by: str, version: str = "1", transitions: int = 0) -> BrainLease:
    return BrainLease(by, WALL, WALL, transitions, version=version)


def test_who_finds_no_lease_takes_it_and_leads_from_when_it_asked() -> None:
    election = Election("a")
    election.saw(None, 5.0)
    wanted = election.wanted(None, 5.0, wall=WALL)
    assert wanted == BrainLease("a", WALL, WALL, 0)
    assert election.left_s(5.0) == 0.0
    election.wrote(replace(wanted, version="1"), 5.0)
    assert election.left_s(8.0) == DEADLINE_S - 3.0
    assert election.left_s(5.0 + DEADLINE_S) == 0.0
    assert election.holder == "a"


def test_a_lease_of_another_one_is_left_until_it_was_seen_unchanged_for_long_enough() -> None:
    election = Election("b")
    election.saw(held("a"), 100.0)
    assert election.wanted(held("a"), 100.0, wall=WALL) is None
    election.saw(held("a"), 100.0 + LEASE_S - 0.1)
    assert election.wanted(held("a"), 100.0 + LEASE_S - 0.1, wall=WALL) is None
    wanted = election.wanted(held("a"), 100.0 + LEASE_S, wall=WALL + 1)
    assert wanted == BrainLease("b", WALL + 1, WALL + 1, 1, version="1")


def test_what_the_holder_renews_is_not_taken() -> None:
    election = Election("b")
    for number in range(50):
        now, lease = number * 2.0, held("a", str(number))
        election.saw(lease, now)
        assert election.wanted(lease, now, wall=WALL) is None


@pytest.mark.parametrize(
    ("asked_s", "had_s"), [(15.0, 15.0), (3.0, LEASE_S), (0.0, LEASE_S), (1e9, LONGEST_LEASE_S)]
)
def test_a_holder_of_another_version_has_the_time_that_it_asks_for(
    asked_s: float, had_s: float
) -> None:
    election, lease = Election("b"), replace(held("a"), lasts_s=asked_s)
    election.saw(lease, 0.0)
    assert election.wanted(lease, had_s - 0.1, wall=WALL) is None
    assert election.wanted(lease, had_s, wall=WALL) == BrainLease("b", WALL, WALL, 1, version="1")


def test_a_holder_writes_for_how_long_it_is_left_alone_whatever_somebody_wrote_there() -> None:
    wanted = Election("a").wanted(replace(held("a"), lasts_s=600.0), 0.0, wall=WALL)
    assert wanted is not None
    assert wanted.lasts_s == LEASE_S


def test_who_waits_asks_again_at_the_moment_at_which_the_lease_is_free() -> None:
    election = Election("b")
    election.saw(held("a"), 0.0)
    assert election.next_try_s(0.25) == WATCH_S
    assert election.next_try_s(LEASE_S - 0.25) == 0.25
    assert election.next_try_s(LEASE_S) == WATCH_S


def test_a_holder_whose_renewal_fails_asks_again_sooner() -> None:
    election = Election("a")
    election.wrote(held("a"), 0.0)
    assert election.next_try_s(0.1) == RENEW_S
    assert election.next_try_s(RENEW_S + 1.0) == WATCH_S


def test_the_work_of_a_dead_holder_goes_on_within_fifteen_seconds() -> None:
    a_second_for_answers_and_one_to_begin = 2.0
    assert WATCH_S + LEASE_S + a_second_for_answers_and_one_to_begin <= 15.0


def test_times_in_the_lease_count_for_nothing() -> None:
    election, old = Election("b"), replace(held("a"), renewed_at=0.0)
    election.saw(old, 1.0)
    assert election.wanted(old, 1.0, wall=WALL) is None


def test_a_released_lease_is_taken_at_once() -> None:
    election = Election("b")
    election.saw(held("", transitions=3), 1.0)
    wanted = election.wanted(held("", transitions=3), 1.0, wall=WALL)
    assert wanted == BrainLease("b", WALL, WALL, 4, version="1")


def test_its_holder_renews_it_and_keeps_since_when() -> None:
    election = Election("a")
    election.wrote(held("a"), 1.0)
    wanted = election.wanted(held("a"), 3.0, wall=WALL + 2)
    assert wanted == BrainLease("a", WALL, WALL + 2, 0, version="1")


def test_who_reads_that_another_one_holds_it_leads_no_longer() -> None:
    election = Election("a")
    election.wrote(held("a"), 1.0)
    election.saw(held("b", "2"), 2.0)
    assert election.left_s(2.0) == 0.0
    assert election.released() is None


def test_a_conflict_ends_the_leading_too() -> None:
    election = Election("a")
    election.wrote(held("a"), 1.0)
    election.lost()
    assert election.left_s(1.0) == 0.0


def test_a_lease_that_somebody_deleted_is_left_to_its_holder_for_its_time() -> None:
    election = Election("b")
    election.saw(held("a", transitions=2), 10.0)
    election.saw(None, 11.0)
    assert election.wanted(None, 11.0, wall=WALL) is None
    election.saw(None, 10.0 + LEASE_S)
    assert election.wanted(None, 10.0 + LEASE_S, wall=WALL) is None
    wanted = election.wanted(None, 11.0 + LEASE_S, wall=WALL)
    assert wanted == BrainLease("b", WALL, WALL, 3)


def test_releasing_ends_the_leading_and_names_nobody() -> None:
    election = Election("a")
    election.wrote(held("a"), 1.0)
    assert election.released() == held("")
    assert election.left_s(1.0) == 0.0
    assert Election("a").released() is None


@dataclass
class Brain:
    name: str
    ahead_s: float
    election: Election = field(init=False)

    def __post_init__(self) -> None:
        self.election = Election(self.name)

    def clock(self, now: float) -> float:
        return now + self.ahead_s


# Which brain acts after how long, and whether what it writes arrives, or is answered.
STEPS = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.floats(0.0, 6.0),
        st.sampled_from(("answered", "answered", "unanswered", "cut off")),
    ),
    max_size=80,
)


@given(steps=STEPS, ahead=st.tuples(*[st.floats(-1e6, 1e6)] * 3))
def test_two_never_lead_at_once(
    steps: list[tuple[int, float, str]], ahead: tuple[float, ...]
) -> None:
    brains = [Brain(name, ahead_s) for name, ahead_s in zip("abc", ahead, strict=True)]
    kept: BrainLease | None = None
    versions, now = 0, 0.0
    for which, later, what in steps:
        now += later
        me = brains[which]
        mine = me.clock(now)
        if what != "cut off":
            me.election.saw(kept, mine)
            wanted = me.election.wanted(kept, mine, wall=now)
            if wanted is not None:
                versions += 1
                kept = replace(wanted, version=str(versions))
                if what == "answered":
                    me.election.wrote(kept, mine)
        leading = [one for one in brains if one.election.left_s(one.clock(now)) > 0.0]
        assert len(leading) <= 1
