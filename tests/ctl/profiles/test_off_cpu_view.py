from dataclasses import replace

from nemutator_common.profiles.model import Frame, Weighed
from nemutator_ctl.profiles.off_cpu_view import off_cpu_view
from nemutator_ctl.profiles.requests import decode
from nemutator_ctl.profiles.view import progress

from tests.ctl.profiles.test_requests import document

PROFILE = decode(
    document(measure="off-cpu", title="shop (pid 7) on n1", hz=0, recorded=4_000_000_000)
)
WAITS = Weighed(
    frames=(Frame("pipe_read", kind="kernel"), Frame("main.wait", "/src/main.go", 27, kind="go")),
    stacks=(((0, 1), 3_000_000_000), ((1,), 1_000_000_000)),
    unit="nanoseconds",
)


def test_how_long_it_was_blocked_comes_first_and_then_in_what() -> None:
    lines = off_cpu_view(PROFILE, WAITS, signing_in="knock first").splitlines()
    assert lines[0] == "shop (pid 7) on n1: blocked for 4.000 s in 30.0 s, all threads together"
    assert lines[1] == "  note: a note"
    assert lines[4].split() == ["3.000", "s", "75.0%", "3.000", "s", "75.0%", "pipe_read"]
    assert lines[5].split() == ["1.000", "s", "25.0%", "4.000", "s", "100.0%", "main.wait"]
    assert any("flame graph: http://" in line for line in lines)


def test_no_wait_is_said() -> None:
    shown = off_cpu_view(PROFILE, replace(WAITS, stacks=()), signing_in="")
    assert "None of its threads was blocked." in shown


def test_while_it_is_made_the_terminal_says_so() -> None:
    running = replace(PROFILE, state="running", phase="sampling", left_s=9)
    assert progress(running, waited_s=2) == "shop (pid 7) on n1: timing waits for 30 s, 9 s left"
    naming = replace(running, phase="symbolising")
    assert progress(naming, waited_s=2) == (
        "shop (pid 7) on n1: 4.000 s off the CPU, looking up names, 2 s"
    )
