from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.credentials.rotation.changes import MOST, ChangeLog

NAMES = st.lists(st.sampled_from("abcd"), max_size=20)


def test_only_the_newest_change_of_a_name_is_kept() -> None:
    log = ChangeLog(100)
    for name, version in (("a", 1), ("b", 1), ("a", 2)):
        log.add(name, version)
    assert [(c.name, c.version, c.sequence) for c in log.after(100)] == [
        ("b", 1, 102),
        ("a", 2, 103),
    ]
    assert [change.name for change in log.after(102)] == ["a"]


def test_what_is_from_another_run_is_not_reached() -> None:
    log = ChangeLog(100)
    log.add("a", 1)
    assert [log.reaches(sequence) for sequence in (99, 100, 101, 102)] == [
        False,
        True,
        True,
        False,
    ]


def test_what_was_dropped_is_not_reached() -> None:
    log = ChangeLog(0)
    for number in range(MOST + 2):
        log.add(f"s{number}", 1)
    assert len(log.after(0)) == MOST
    assert not log.reaches(1)
    assert log.reaches(2)
    assert log.after(2) == log.after(0)


@given(before=NAMES, later=NAMES)
def test_who_was_away_hears_the_newest_of_each_name(before: str, later: str) -> None:
    log = ChangeLog(7)
    for name in before:
        log.add(name, None)
    seen = log.newest
    for name in later:
        log.add(name, None)
    heard = log.after(seen)
    assert {change.name for change in heard} == set(later)
    sequences = [change.sequence for change in heard]
    assert sequences == sorted(set(sequences))
    assert log.reaches(seen)
