"""Plans of slow rolls and their progress, for people."""

import msgspec

from nemutator_ctl.answers import Amount, Listing, Moment, understood
from nemutator_ctl.tables import Column, moment, table
from nemutator_ctl.terminal_text import visible

ROLLS_PATH = "/api/v1/rolls"

WIDTH = 300

LAYOUT = (
    Column("ID"),
    Column("AT"),
    Column("WORKLOAD", limit=80),
    Column("STATE"),
    Column("BY", limit=40),
    Column("REASON", limit=60),
)


class ShownRollPlan(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    workload: str
    replicas: int
    available: int
    deadline_s: Amount = msgspec.field(name="deadlineS")
    window: str
    off_peak: bool = False
    why_not: str


class ShownRoll(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    at: Moment
    by: str
    reason: str
    workload: str
    state: str
    open: bool
    why: str


def decode_plan(document: object) -> ShownRollPlan:
    return understood(document, ShownRollPlan, "the plan of a roll")


def decode_roll(document: object) -> ShownRoll:
    return understood(document, ShownRoll, "a roll")


def decode_rolls(document: object) -> tuple[ShownRoll, ...]:
    return understood(document, Listing[ShownRoll], "a list of rolls").items


def plan_view(plan: ShownRollPlan) -> str:
    name = visible(plan.workload, limit=WIDTH)
    if plan.why_not:
        return f"{name} is not rolled: {visible(plan.why_not, limit=WIDTH)}\n"
    when = f", {visible(plan.window, limit=20)} UTC" if plan.window else ""
    when += ", off-peak" if plan.off_peak else ""
    lines = [
        f"{name}: {plan.replicas} pods, one after another{when}",
        f"  it stops at the first that is not available within {plan.deadline_s:.0f} s",
    ]
    if plan.available < plan.replicas:
        lines.append(f"  only {plan.available} of them are available now")
    if plan.replicas == 1:
        lines.append("  it has one pod: nothing serves until the new one is ready")
    return "".join(f"{line}\n" for line in lines)


def roll_view(roll: ShownRoll) -> str:
    id_, workload, by, reason, state, why = (
        visible(text, limit=WIDTH)
        for text in (roll.id, roll.workload, roll.by, roll.reason, roll.state, roll.why)
    )
    return f"{id_}: {workload}, for {by}: {reason}\n  {state}" + (f": {why}\n" if why else "\n")


def rolls_view(rolls: tuple[ShownRoll, ...]) -> str:
    if not rolls:
        return "nobody has asked for a roll\n"
    rows = [
        (each.id, moment(each.at), each.workload, each.state, each.by, each.reason)
        for each in rolls
    ]
    return table(LAYOUT, rows)
