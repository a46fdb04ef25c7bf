"""What a profile for the compiler stands for, for people."""

from nemutator_common.profiles.pgo import CompilerProfile

FEW_S = 10.0
"""Of CPU time in functions of Go: with less, chance decides which calls are hot."""


def view(made: CompilerProfile) -> str:
    several = "profile" if made.profiles == 1 else "profiles"
    spent = f"{made.cpu_seconds:.1f} s of CPU time in functions of Go"
    lines = [f"{made.profiles} {several}: {spent}, in {made.stacks} stacks"]
    if made.left_s >= 0.05:
        lines.append(f"  left out: {made.left_s:.1f} s that are in no function of Go")
    if made.cpu_seconds < FEW_S:
        lines.append(
            f"  note: that is little; with {FEW_S:.0f} s or more, the compiler is led by less chance"
        )
    return "\n".join([*lines, ""])
