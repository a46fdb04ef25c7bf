from nemutator_agent.profiler.raw import RawRow
from nemutator_agent.profiler.symbols.calls import ELSEWHERE
from nemutator_agent.profiler.symbols.mappings import Mapping, Mappings
from nemutator_agent.profiler.symbols.wanted import (
    MappedAddresses,
    TaskAddresses,
    by_mapping,
    by_task,
    most_seen_first,
    without_names,
)
from nemutator_common.profiles.model import Frame

APP = Mapping(0x1000, 0x2000, 0x400, 7, "/srv/app")
LIBRARY = Mapping(0x3000, 0x4000, 0, 8, "/lib/libc.so.6")


def row(
    *user: int, pid: int = 1, count: int = 1, image: int = 0, words: tuple[int, int] = (0, 0)
) -> RawRow:
    return RawRow(pid, user, (), words, count, image)


def test_the_process_with_the_most_samples_comes_first() -> None:
    rows = [row(1, count=2), row(1, pid=2, count=3), row(2, count=2), row(1, pid=3, image=9)]
    assert [wanted.task for wanted in by_task(rows)] == [(1, 0), (2, 0), (3, 9)]


def test_an_address_counts_for_each_sample_that_it_is_in() -> None:
    (wanted,) = by_task([row(0x10, 0x21, count=3), row(0x20, 0x31, count=4), row()])
    assert wanted.seen == {0x10: 3, 0x20: 7, 0x30: 4}
    assert wanted.leaves == set()


def test_what_may_be_a_caller_is_looked_up_and_the_depth_of_its_leaf() -> None:
    (wanted,) = by_task([row(0x10, 0x21, words=(0, 0x41), count=3)])
    assert dict(wanted.seen) == {0x10: 3, 0x20: 3, 0x40: 0}
    assert wanted.leaves == {0x10}


def test_addresses_become_places_in_the_file_that_they_lie_in() -> None:
    (wanted,) = by_task([row(0x1010, 0x3021, 0x9001, words=(0x1031, 0), count=3)])
    found = by_mapping(wanted, [0x1010, 0x1030, 0x3020, 0x9000], Mappings([APP, LIBRARY]))
    assert found == [
        MappedAddresses(
            (1, 0), APP, {0x1010: 0x410, 0x1030: 0x430}, {0x1010}, {0x1010: 3, 0x1030: 0},
            {(0x1030, 0x1010): (0x430, 0x410)},
        ),
        MappedAddresses(
            (1, 0), LIBRARY, {0x3020: 0x20}, set(), {0x3020: 3},
            {(0x3020, 0x1010): (0x20, ELSEWHERE), (0x3020, 0x1030): (0x20, ELSEWHERE)},
        ),
    ]  # fmt: skip


def test_the_calls_that_most_samples_show_come_first() -> None:
    rows = [row(0x1010, 0x1021, count=2), row(0x1010, 0x1031, 0x1021, count=3)]
    (wanted,) = by_task(rows)
    assert wanted.calls == {(0x1020, 0x1010): 2, (0x1030, 0x1010): 3, (0x1020, 0x1030): 3}
    (part,) = by_mapping(wanted, wanted.seen, Mappings([APP]))
    assert list(part.calls) == [(0x1030, 0x1010), (0x1020, 0x1030), (0x1020, 0x1010)]


def test_only_the_given_addresses_are_taken() -> None:
    wanted = TaskAddresses((1, 0), {0x1010: 1, 0x1020: 1}, {0x1020})
    (part,) = by_mapping(wanted, [0x1010], Mappings([APP]))
    assert (part.places, part.leaves, part.seen) == ({0x1010: 0x410}, set(), 1)


def test_the_file_that_all_processes_together_were_in_most_comes_first() -> None:
    rare = MappedAddresses((1, 0), LIBRARY, counts={1: 5})
    one, two = (MappedAddresses((pid, 0), APP, counts={1: 3}) for pid in (2, 3))
    assert most_seen_first([rare, one, two]) == [one, two, rare]
    assert most_seen_first([]) == []


def test_what_has_no_name_is_counted_by_file() -> None:
    task = (1, 0)
    parts = [
        MappedAddresses(task, APP, {1: 1, 2: 2, 3: 3}, counts={1: 100, 2: 10, 3: 1}),
        MappedAddresses((2, 0), APP, {1: 1}, counts={1: 5}),
        MappedAddresses(task, LIBRARY, {7: 7, 8: 8}, counts={7: 9, 8: 9}),
    ]
    unknown, named = (Frame("[unknown in app]"),), (Frame("f", kind="native"),)
    names = {(task, 1): unknown, (task, 2): named, (task, 3): unknown, ((2, 0), 1): unknown}
    assert without_names(parts, names | {(task, 7): named, (task, 8): ()}) == {"app": (3, 106)}


def test_the_callers_of_a_goroutine_that_waits_are_looked_up() -> None:
    (wanted,) = by_task([RawRow(1, (0x10,), (), (0, 0), 3, waiting=(0x21, 0x31))])
    assert wanted.seen == {0x10: 3, 0x20: 3, 0x30: 3}
