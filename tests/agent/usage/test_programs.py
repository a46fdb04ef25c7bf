from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.inspection.identities import ProcessId
from nemutator_agent.usage.gaps import Gaps
from nemutator_agent.usage.programs import Counted, ProgramCounters
from nemutator_agent.usage.snapshot import ProcessCounters

from tests.fakes.snapshots import group, process, snapshot

HZ = 100
A, B = ProcessId(1, 0), ProcessId(2, 0)
SHOP = Counted("/vm", b"app")

Seen = Mapping[ProcessId, ProcessCounters]


def used(*snapshots: Seen, counted: bool = False, gaps: Gaps | None = None) -> list[int | None]:
    """Microseconds of the program after each look; None: nothing is known of it."""
    programs = ProgramCounters()
    found = []
    for at, processes in enumerate(snapshots):
        groups = {"/vm": group(1 if counted else None)}
        seen = snapshot(float(at), groups=groups, processes=processes, gaps=gaps)
        counters = programs.add(seen, ticks_per_s=HZ).get(SHOP)
        found.append(None if counters is None else counters.cpu_us)
    return found


def test_processes_of_one_name_in_one_group_are_one_program() -> None:
    first = {A: process("/vm", cpu_ticks=500), B: process("/vm", cpu_ticks=10)}
    then = {A: process("/vm", cpu_ticks=520), B: process("/vm", cpu_ticks=15)}
    assert used(first, then) == [0, 250_000]


def test_memory_is_what_they_hold_together() -> None:
    processes = {A: process("/vm"), B: process("/vm"), ProcessId(3, 0): process("/other")}
    groups = {"/vm": group(None), "/other": group(None)}
    found = ProgramCounters().add(snapshot(0.0, groups=groups, processes=processes), ticks_per_s=HZ)
    assert {what.path: one.memory_bytes for what, one in found.items()} == {
        "/vm": 8192,
        "/other": 4096,
    }


def test_a_group_that_counts_is_never_taken_apart() -> None:
    assert used({A: process("/vm")}, counted=True) == [None]


def test_a_group_that_was_not_read_may_count() -> None:
    assert used({A: process("/vm")}, gaps=Gaps(reads_over_cap=1)) == [None]
    beyond_cap = snapshot(0.0, processes={A: process("/beyond")})
    assert ProgramCounters().add(beyond_cap, ticks_per_s=HZ) == {}


def test_in_the_root_there_is_no_counter_at_all() -> None:
    found = ProgramCounters().add(snapshot(0.0, processes={A: process("/")}), ticks_per_s=HZ)
    assert list(found) == [Counted("/", b"app")]


def test_what_a_process_used_under_another_name_is_not_the_new_ones() -> None:
    # `sh` that becomes the app: what it used up to the last look was the shell's.
    shell, app = process("/vm", cpu_ticks=900, command=b"sh"), process("/vm", cpu_ticks=903)
    assert used({A: shell}, {A: app}) == [None, 30_000]


def test_a_number_that_is_used_again_is_another_process() -> None:
    again = ProcessId(A.pid, A.started_ticks + 1)
    assert used({A: process("/vm", cpu_ticks=5)}, {again: process("/vm", cpu_ticks=900)}) == [0, 0]


lives = st.lists(st.dictionaries(st.sampled_from(range(5)), st.integers(0, 50)), max_size=12)


@given(lives)
def test_each_tick_between_two_looks_counts_once(lives: list[dict[int, int]]) -> None:
    """Those that are there at both looks used it; a counter never runs back while it lasts."""
    ticks: dict[int, int] = {}
    expected, total, snapshots = list[int | None](), 0, []
    before: set[int] = set()
    for used_now in lives:
        for pid, more in used_now.items():
            ticks[pid] = ticks.get(pid, 0) + more
        total += sum(more for pid, more in used_now.items() if pid in before)
        # Forgotten, it begins anew.
        total = total if used_now else 0
        expected.append(total * 10_000 if used_now else None)
        snapshots.append(
            {ProcessId(pid, 0): process("/vm", cpu_ticks=ticks[pid]) for pid in used_now}
        )
        before = set(used_now)
    assert used(*snapshots) == expected
