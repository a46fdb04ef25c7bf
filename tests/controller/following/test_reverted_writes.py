from nemutator_controller.following.reverted_writes import (
    FIRST_WAIT_S,
    LONGEST_WAIT_S,
    MOST_DISPUTED,
    MOST_WRITES,
    REVERTS,
    WITHIN_S,
    DisputedField,
    RevertedWrites,
)
from nemutator_controller.mutations.decisions import Edit

WEB = "shop", "Deployment", "web"
TEAM = "metadata.labels[team]"


def edit(path: str = TEAM, value: str = "a") -> Edit:
    return Edit(path=path, before=(), after=(value,), verb="labels", policy="team")


def fight(writes: RevertedWrites, now: float, uid: str = "u-1") -> list[DisputedField]:
    """Somebody has reverted a value, and it is written again unless it is disputed."""
    found = writes.disputed(WEB, uid, [edit()], now)
    if not found:
        writes.wrote(uid, [edit()])
    return list(found)


def test_a_field_that_is_reverted_again_and_again_is_left_alone_for_its_workload() -> None:
    writes = RevertedWrites()
    assert fight(writes, 0) == []
    assert [fight(writes, float(at)) for at in range(1, REVERTS)] == [[]] * (REVERTS - 1)
    assert fight(writes, 50) == [DisputedField(TEAM, FIRST_WAIT_S, is_new=True)]
    assert writes.left_alone(WEB) == {TEAM}
    assert writes.left_alone(("shop", "Deployment", "api")) == frozenset()
    assert len(writes) == 1


def test_reverts_that_are_far_apart_are_no_dispute() -> None:
    writes = RevertedWrites()
    assert [fight(writes, at * WITHIN_S) for at in range(10)] == [[]] * 10


def test_a_revert_counts_once_however_often_it_is_looked_at() -> None:
    writes = RevertedWrites()
    writes.wrote("u-1", [edit()])
    # Its write fails, or has no room in the budget.
    assert [list(writes.disputed(WEB, "u-1", [edit()], float(at))) for at in range(10)] == [[]] * 10


def test_another_value_and_another_pod_are_no_revert() -> None:
    writes = RevertedWrites()
    for number in range(10):
        assert fight(writes, float(number), uid=f"u-{number}") == []
        changed = [edit("metadata.labels[tier]", str(number))]
        assert writes.disputed(WEB, "u-0", changed, float(number)) == []
        writes.wrote("u-0", changed)


def test_the_wait_grows_while_the_first_try_is_reverted_too_and_ends_when_it_stays() -> None:
    waits: list[float] = []
    writes, now = RevertedWrites(), 0.0
    while not (found := fight(writes, now)):
        now += 1
    while len(waits) < 9:
        waits.append(found[0].wait_s)
        assert not writes.end_waits(now + found[0].wait_s - 1)
        now += found[0].wait_s
        assert writes.end_waits(now)
        assert not writes.end_waits(now)
        assert writes.left_alone(WEB) == frozenset()
        assert fight(writes, now) == []
        found = fight(writes, now)
        assert [one.is_new for one in found] == [False]
    assert waits[:3] == [FIRST_WAIT_S, 2 * FIRST_WAIT_S, 4 * FIRST_WAIT_S]
    assert waits[-1] == LONGEST_WAIT_S
    now += 2 * LONGEST_WAIT_S
    writes.end_waits(now)
    assert fight(writes, now) == []
    # Nobody reverts it any more, so the next revert is as the first one.
    writes.end_waits(now + WITHIN_S)
    assert fight(writes, now + WITHIN_S) == []


def test_memory_is_bounded() -> None:
    writes = RevertedWrites()
    for number in range(MOST_WRITES + 10):
        writes.wrote(f"u-{number}", [edit()])
    # The oldest are forgotten: their reverts are not known as such.
    for at in range(REVERTS):
        assert writes.disputed(WEB, "u-0", [edit()], float(at)) == []
    for number in range(MOST_DISPUTED + 10):
        workload = "shop", "Deployment", f"web-{number}"
        for at in range(REVERTS + 1):
            if not writes.disputed(workload, "pod", [edit(f"p{number}")], float(at)):
                writes.wrote("pod", [edit(f"p{number}")])
    assert len(writes) == MOST_DISPUTED
