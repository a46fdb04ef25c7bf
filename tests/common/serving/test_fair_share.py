from collections import Counter
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.serving.fair_share import drop_candidates
from nemutator_common.serving.limits import Limits

SHARED = Limits(connections=6, connections_each=3)
ALONE = Limits(connections=6)


@dataclass(frozen=True, slots=True)
class One:
    number: int
    uid: int | None


def held(*uids: int | None) -> list[One]:
    return [One(number, uid) for number, uid in enumerate(uids)]


def test_whoever_has_his_share_makes_room_among_his_own() -> None:
    assert drop_candidates(7, held(7, 7, 8), SHARED) is None
    assert drop_candidates(7, held(7, 8, 7, 7), SHARED) == [One(0, 7), One(2, 7), One(3, 7)]


def test_when_all_are_taken_who_has_most_makes_room_for_who_has_less() -> None:
    full = held(1, 1, 1, 2, 2, 3)
    assert drop_candidates(4, full, SHARED) == full[:3]
    assert drop_candidates(3, full, SHARED) == full[:3]
    # It would only change who has most.
    assert drop_candidates(2, full, SHARED) == []


def test_without_shares_nobody_gives_way() -> None:
    assert drop_candidates(None, held(*[None] * 5), ALONE) is None
    assert drop_candidates(None, held(*[None] * 6), ALONE) == []


@given(st.lists(st.integers(0, 4), max_size=60))
def test_however_users_call_none_has_more_than_his_share_and_a_new_one_gets_in(
    callers: list[int],
) -> None:
    open_now: list[One] = []
    for number, uid in enumerate(callers):
        count = Counter(one.uid for one in open_now)
        crowded = drop_candidates(uid, open_now, SHARED)
        if crowded:
            open_now.remove(crowded[0])
        if crowded is None or crowded:
            open_now.append(One(number, uid))
        else:
            assert count[uid] > 0
        assert len(open_now) <= 6
        assert max(Counter(one.uid for one in open_now).values()) <= 3
