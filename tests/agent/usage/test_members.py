from nemutator_agent.inspection.identities import ProcessId
from nemutator_agent.usage.members import (
    MOST_THREADS,
    MemberCounters,
    MemberFiles,
    run_delay_between,
)

A, B = ProcessId(1, 1), ProcessId(2, 1)


def files(schedstat: dict[int, bytes], open_files: dict[int, int]) -> MemberFiles:
    threads = {1: [1, 11], 2: [2]}
    return MemberFiles(open_files.get, threads.get, lambda _, thread: schedstat.get(thread))


def test_files_and_waits_of_all_its_processes_are_summed() -> None:
    stats = {1: b"0 100 1\n", 11: b"0 200 1\n", 2: b"0 300 1\n"}
    found = files(stats, {1: 5, 2: 7}).counters([(A, 2), (B, 1)], 3.0)
    assert found == MemberCounters(3.0, 12, {1: 100, 11: 200, 2: 300})


def test_one_that_ended_between_two_reads_is_left_out() -> None:
    found = files({1: b"0 100 1\n"}, {1: 5}).counters([(A, 2), (B, 1)], 3.0)
    assert found == MemberCounters(3.0, 5, {1: 100})
    assert files({}, {}).counters([(A, 2)], 3.0) == MemberCounters(3.0, None, None)
    assert files({1: b"garbage"}, {}).counters([(A, 2)], 3.0).delays_ns is None


def test_too_many_threads_are_not_walked() -> None:
    found = files({1: b"0 1 1"}, {}).counters([(A, MOST_THREADS), (B, 1)], 3.0)
    assert found.delays_ns is None


def test_what_threads_waited_in_this_time() -> None:
    before = MemberCounters(0.0, 1, {1: 5_000_000_000, 2: 1_000_000_000, 3: 7})
    after = MemberCounters(10.0, 1, {1: 6_000_000_000, 2: 9, 4: 1_000_000_000})
    assert run_delay_between(before, after) == 0.2
    assert run_delay_between(None, after) is None
    assert run_delay_between(after, after) is None
    assert run_delay_between(before, MemberCounters(10.0, 1, None)) is None
