from collections.abc import Sequence
from dataclasses import replace

from nemutator_common.profiles.grade import Grade
from nemutator_common.profiles.model import Share
from nemutator_ctl.function_table import MOST_FUNCTIONS
from nemutator_ctl.profiles import view as views
from nemutator_ctl.profiles.requests import ShownProfile, decode
from nemutator_ctl.profiles.view import LONG_S, progress, unmade

from tests.ctl.profiles.test_requests import document

PROFILE = decode(document())
WORK = Share("main.work", "go", flat=60, cumulative=90)
IDLE = Share("main.idle", "go", flat=30, cumulative=30)


def view(profile: ShownProfile, functions: Sequence[Share]) -> str:
    return views.view(profile, functions, signing_in="knock first")


def test_what_was_recorded_lost_and_accounted_comes_first() -> None:
    first, lost, account, note, *_ = view(PROFILE, [WORK, IDLE]).splitlines()
    assert first == "pid 7 on n1: 90 samples in 30.0 s at 99 Hz"
    assert lost == "  lost: 2 (stack_map_full 2)"
    assert account == ("  account: the kernel counted 0.90 s of CPU time, the samples say 0.93 s")
    assert note == "  note: a note"


def test_of_nothing_there_is_no_grade() -> None:
    text = views.view(
        replace(PROFILE, recorded=0, lost={}), [], signing_in="", grade=Grade(rooted=0)
    )
    assert "grade" not in text


def test_the_grade_says_why_stacks_are_broken() -> None:
    grade = Grade(rooted=80, broken={"cgo": 8, "cut": 2}, calls={"direct": 5})
    text = views.view(PROFILE, [WORK], signing_in="", grade=grade)
    assert (
        "  grade: 88.9 % of stacks reach their root; 100 % of calls are real calls in the code;"
        " 2.2 % lost\n"
        "  short of their root: 8.9 % end in C of a Go program, 2.2 % deeper than is kept\n" in text
    )
    whole = views.view(PROFILE, [WORK], signing_in="", grade=Grade(rooted=90))
    assert "  grade: 100 % of stacks reach their root; no call was checked in the code" in whole
    assert "short of" not in whole


def test_the_functions_follow_with_their_shares() -> None:
    lines = view(PROFILE, [WORK, IDLE]).splitlines()
    assert lines[4].split() == ["OWN", "OWN%", "TOTAL", "TOTAL%", "FUNCTION"]
    assert lines[5].split() == ["60", "66.7%", "90", "100.0%", "main.work"]
    assert lines[6].split() == ["30", "33.3%", "30", "33.3%", "main.idle"]


def test_the_rest_is_counted() -> None:
    many = [replace(IDLE, function=f"f{n}") for n in range(MOST_FUNCTIONS + 3)]
    assert "and 3 more\n" in view(PROFILE, many)


def test_nothing_sampled_is_said() -> None:
    assert "used no CPU time" in view(PROFILE, [])


def test_the_link_is_shown_unless_it_could_draw() -> None:
    shown = view(PROFILE, [WORK])
    assert "flame graph: http://127.0.0.1:8420/x\n  (knock first, if this browser" in shown
    assert "flame graph" not in view(replace(PROFILE, link="http://x/\x1b[2J"), [WORK])
    assert "flame graph" not in view(replace(PROFILE, link=None), [WORK])


def test_hostile_names_are_escaped() -> None:
    hostile = "\x1b[2J\u202e"
    text = view(
        replace(PROFILE, title=hostile, notes=(hostile,), lost={hostile: 1}),
        [replace(WORK, function=hostile)],
    )
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_progress_says_what_is_waited_for() -> None:
    asked = replace(PROFILE, state="asked")
    assert progress(asked, waited_s=3.2) == "pid 7 on n1: waiting for its agent, 3 s"
    running = progress(replace(PROFILE, state="running"), waited_s=12.0)
    assert running == "pid 7 on n1: sampling 30 s at 99 Hz, 12 s"
    phases = replace(PROFILE, state="running", phase="sampling", left_s=18.0)
    assert progress(phases, waited_s=12.0) == "pid 7 on n1: sampling 30 s at 99 Hz, 18 s left"
    preparing = progress(replace(phases, phase="preparing", left_s=None), waited_s=1.0)
    assert preparing == "pid 7 on n1: its agent prepares to sample, 1 s"
    looking = progress(replace(phases, phase="symbolising", left_s=None), waited_s=99.0)
    assert looking == "pid 7 on n1: 90 samples, looking up names, 99 s"
    late = progress(replace(PROFILE, state="running"), waited_s=30.0 + LONG_S + 1)
    assert late.startswith("pid 7 on n1: late; its agent ")


def test_what_was_refused_has_its_reason_and_its_remedy() -> None:
    refused = replace(PROFILE, state="refused", reason="no BPF\x1b", remedy="run as root")
    error = unmade(refused)
    assert str(error) == "no profile of pid 7 on n1: refused, no BPF\\x1b\n  remedy: run as root"
    assert unmade(replace(PROFILE, state="lost", reason="", remedy="")).remedy
