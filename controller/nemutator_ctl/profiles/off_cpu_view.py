"""Time off the CPU for people: how long threads were blocked, and in what."""

from nemutator_common.profiles.model import Weighed, functions

from nemutator_ctl.function_table import amounts_of, function_table
from nemutator_ctl.profiles.requests import ShownProfile
from nemutator_ctl.profiles.view import flame_graph
from nemutator_ctl.terminal_text import visible


def off_cpu_view(profile: ShownProfile, waits: Weighed, *, signing_in: str) -> str:
    title, amount = visible(profile.title, limit=100), amounts_of(waits.unit)
    total = sum(time for _, time in waits.stacks)
    lines = [
        f"{title}: blocked for {amount(total)} in {profile.seconds:.1f} s, all threads together",
        *(f"  note: {visible(note, limit=200)}" for note in profile.notes),
        "",
    ]
    table = function_table(functions(waits), total, amount=amount) if total else _NOTHING
    return "\n".join(lines) + "\n" + table + flame_graph(profile, signing_in)


_NOTHING = "None of its threads was blocked.\n"
