"""Profiles from files for people, and what they are written as."""

from nemutator_common.profiles.heap import HeapProfile
from nemutator_common.profiles.model import Profile, functions
from nemutator_common.profiles.sums import AnyProfile, unit_of

from nemutator_ctl.function_table import amounts_of, function_table, mebibytes
from nemutator_ctl.terminal_text import visible


def view(profile: AnyProfile, title: str) -> str:
    """Which functions it is of, those with the most of their own first."""
    total = sum(weight for _, weight in profile.stacks)
    count = len(profile.stacks)
    stacks = "1 stack" if count == 1 else f"{count} stacks"
    lines = [f"{visible(title, limit=200)}: {_unit(profile, total)} in {stacks}"]
    lines += [f"  note: {visible(note, limit=200)}" for note in profile.notes]
    if not total:
        return "\n".join([*lines, "", "Nothing in it weighs anything.", ""])
    table = function_table(functions(profile), total, amount=amounts_of(unit_of(profile)))
    return "\n".join([*lines, "", table])


def _unit(profile: AnyProfile, total: int) -> str:
    match profile:
        case Profile():
            return f"{total} samples in {profile.seconds:.1f} s at {profile.hz} Hz"
        case HeapProfile():
            return f"{mebibytes(total)} in use"
        case _:
            if profile.unit == "nanoseconds":
                return amounts_of(profile.unit)(total)
            return f"{total} {visible(profile.unit, limit=40)}"
