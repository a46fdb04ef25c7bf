from nemutator_agent.profiler.heap.estimates import estimated
from nemutator_agent.profiler.heap.messages import CountedSite
from nemutator_agent.profiler.heap.sites import UNKNOWN, HeapTable, frames_of, looked_up
from nemutator_common.profiles.heap import Allocated
from nemutator_common.profiles.model import Frame

MAIN = Frame("main.main", "main.go", 5, kind="go")
KEEP = Frame("main.keep", "main.go", 10, kind="go")
SIZED = Frame("main.sized", "main.go", 20, kind="go", inlined=True)
MALLOC = Frame("runtime.mallocgc", "malloc.go", 1, kind="go")
GOEXIT = Frame("runtime.goexit", "asm.s", 1, kind="go")
CALLS = {
    0x10: (SIZED, KEEP),
    0x20: (KEEP,),
    0x30: (MAIN,),
    0x40: (MALLOC,),
    0x50: (GOEXIT,),
    0x60: (),
}


def test_all_addresses_of_a_site_are_return_addresses() -> None:
    assert list(looked_up((0x11, 0, 0x21))) == [0x10, 0x20]


def test_an_inlined_call_is_one_frame_though_it_has_an_address_of_its_own() -> None:
    assert frames_of((0x11, 0x21, 0x31), CALLS) == (SIZED, KEEP, MAIN)


def test_where_the_stack_begins_within_what_was_inlined() -> None:
    assert frames_of((0x21, 0x31), CALLS) == (KEEP, MAIN)


def test_recursion_is_not_taken_for_an_inlined_call() -> None:
    assert frames_of((0x11, 0x21, 0x21, 0x31), CALLS) == (SIZED, KEEP, KEEP, MAIN)


def test_the_runtimes_own_calls_are_left_out_at_both_ends() -> None:
    assert frames_of((0x41, 0x31, 0x51), CALLS) == (MAIN,)
    assert frames_of((0x31, 0x41, 0x31), CALLS) == (MAIN, MALLOC, MAIN)


def test_a_stack_of_the_runtime_alone_is_shown() -> None:
    assert frames_of((0x41, 0x51), CALLS) == (MALLOC,)


def test_generated_calls_have_no_frame_and_unknown_ones_say_so() -> None:
    assert frames_of((0x61, 0x99, 0x31), CALLS) == (UNKNOWN, MAIN)
    assert frames_of((), CALLS) == ()


def test_sites_of_one_stack_are_estimated_by_size_and_added() -> None:
    table = HeapTable()
    small = CountedSite(10, 4, 640, 256, (0x31,))
    large = CountedSite(2, 0, 2 << 20, 0, (0x31,))
    table.add([small, large], CALLS, rate=524_288)
    profile = table.profile(started_at=1.0, rate=524_288, notes=("n",))
    ((stack, found),) = profile.sites
    assert [profile.frames[one] for one in stack] == [MAIN]
    wanted = Allocated(*estimated(10, 640, 524_288), *estimated(6, 384, 524_288)).plus(
        Allocated(*estimated(2, 2 << 20, 524_288), *estimated(2, 2 << 20, 524_288))
    )
    assert found == wanted
    assert (profile.rate, profile.notes, len(table)) == (524_288, ("n",), 1)


def test_sums_that_no_profile_can_hold_are_not_added() -> None:
    table = HeapTable()
    large = CountedSite(1 << 59, 0, 1 << 59, 0, (0x31,))
    assert not table.add([large] * 16, CALLS, rate=1)
    assert len(table) == 0
    # Each of two processes may have what both together have not.
    assert table.add([large] * 5, CALLS, rate=1)
    before = table.profile(started_at=1.0, rate=1, notes=()).total
    assert not table.add([large] * 5, CALLS, rate=1)
    assert table.profile(started_at=1.0, rate=1, notes=()).total == before
    assert table.add([CountedSite(1, 0, 8, 0, (0x11,))], CALLS, rate=1)
