from nemutator_agent.profiler.symbols.blocked_profile import blocked
from nemutator_common.profiles import folded
from nemutator_common.profiles.model import Frame, FrameTable, Profile

SECOND = 1_000_000_000
READ = Frame("os.(*File).Read", "file.go", 1, kind="go")
MAIN = Frame("main.main", "main.go", 2, kind="go")
FIND = Frame("runtime.findRunnable", "proc.go", 3, kind="go")
SCHEDULE = tuple(Frame(name, kind="kernel") for name in ("__schedule", "schedule"))
PIPE = Frame("pipe_read", kind="kernel")
FAULT = Frame("exc_page_fault", kind="kernel")


def of(*stacks: tuple[tuple[Frame, ...], int]) -> Profile:
    table = FrameTable()
    numbered = tuple((tuple(map(table.number, stack)), time) for stack, time in stacks)
    return Profile(
        hz=SECOND, started_at=4.0, seconds=2.0, frames=table.frames, stacks=numbered,
        recorded=sum(time for _, time in numbered), notes=("late",), labels={"pod": "x"},
    )  # fmt: skip


def lines(profile: Profile) -> list[str]:
    return folded.render(blocked(profile)).splitlines()


def test_threads_of_go_without_a_goroutine_are_left_out_and_told() -> None:
    waits = blocked(of(((*SCHEDULE, PIPE, READ, MAIN), 300), ((*SCHEDULE, FIND, MAIN), 3 * SECOND)))
    assert folded.render(waits).splitlines() == ["main.main;os.(*File).Read;pipe_read_[k] 300"]
    assert waits.notes == (
        "3.0 s in which threads of Go had no goroutine to run are left out",
        "late",
    )
    assert (waits.unit, waits.started_at, waits.labels) == ("nanoseconds", 4.0, {"pod": "x"})


def test_a_function_of_that_name_in_c_is_none_of_go() -> None:
    assert lines(of(((Frame("runtime.stopm", kind="native"),), 5))) == ["runtime.stopm 5"]


def test_the_way_off_the_cpu_is_no_part_of_the_stack() -> None:
    profile = of(
        ((Frame("bpf_trace_run4", kind="kernel"), *SCHEDULE, PIPE, MAIN), 2),
        ((PIPE, MAIN), 3),
        ((FAULT, MAIN, Frame("schedule", kind="native")), 4),
    )
    assert lines(profile) == [
        "main.main;pipe_read_[k] 5",
        "schedule;main.main;exc_page_fault_[k] 4",
    ]
    assert blocked(profile).notes == ("late",)
