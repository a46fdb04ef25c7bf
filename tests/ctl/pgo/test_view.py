from nemutator_common.profiles.pgo import CompilerProfile
from nemutator_ctl.pgo.view import view


def test_it_says_how_much_cpu_it_stands_for() -> None:
    said = view(CompilerProfile(b"", profiles=12, stacks=90, cpu_seconds=18.52, left_s=0.0))
    assert said == "12 profiles: 18.5 s of CPU time in functions of Go, in 90 stacks\n"


def test_what_is_left_out_is_said_and_that_it_is_little() -> None:
    said = view(CompilerProfile(b"", profiles=1, stacks=2, cpu_seconds=0.9, left_s=0.4))
    first, left, note = said.splitlines()
    assert first.startswith("1 profile: 0.9 s of CPU time")
    assert left == "  left out: 0.4 s that are in no function of Go"
    assert note.startswith("  note: that is little; with 10 s or more")
