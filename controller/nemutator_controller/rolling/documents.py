"""Rolls as the API takes and shows them."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from nemutator_common import names

from nemutator_controller.rolling import strategies
from nemutator_controller.rolling.day_windows import DayWindowError, day_window
from nemutator_controller.rolling.records import LiveWorkload, Roll, RolledWorkload

Json = dict[str, Any]

KINDS = {"deployment": "Deployment", "statefulset": "StatefulSet", "daemonset": "DaemonSet"}
USUAL_DEADLINE_S = 300.0
LEAST_DEADLINE_S, MOST_DEADLINE_S = 5.0, 86_400.0
LONGEST_ROLL_REASON = 200
_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")

EXAMPLE_ROLL = '{"workload": "deployment/web", "namespace": "shop", "reason": "why"}'


class InvalidRollError(ValueError):
    """The body of a request asks for nothing that can be done."""


class RollBody(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"
):
    workload: str
    namespace: str
    reason: str = ""
    deadline_s: float = USUAL_DEADLINE_S
    window: str = ""
    off_peak: bool = False
    plan_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RollQuestion:
    workload: RolledWorkload
    reason: str
    deadline_s: float
    window: str
    off_peak: bool
    plan_only: bool


_decoder = msgspec.json.Decoder(RollBody)


def question(body: bytes) -> RollQuestion:
    """What *body* asks for, within its bounds; raises `InvalidRollError`."""
    try:
        asked = _decoder.decode(body)
        day_window(asked.window)
    except DayWindowError as error:
        raise InvalidRollError(str(error)) from error
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise InvalidRollError(str(error)[:200]) from error
    kind, _, name = asked.workload.partition("/")
    if kind.lower() not in KINDS:
        raise InvalidRollError(
            "workload: expected deployment/NAME, statefulset/NAME or daemonset/NAME"
        )
    if not (_NAME.fullmatch(name) and _NAME.fullmatch(asked.namespace)):
        raise InvalidRollError("workload, namespace: expected names as Kubernetes writes them")
    reason = asked.reason.strip()
    if not asked.plan_only and not reason:
        raise InvalidRollError("reason: expected why, for those who own the workload")
    if len(reason) > LONGEST_ROLL_REASON or not reason.isprintable():
        raise InvalidRollError(f"reason: expected up to {LONGEST_ROLL_REASON} characters of text")
    bounded = LEAST_DEADLINE_S <= asked.deadline_s <= MOST_DEADLINE_S
    if not (math.isfinite(asked.deadline_s) and bounded):
        raise InvalidRollError(
            f"deadlineS: expected {LEAST_DEADLINE_S:.0f} to {MOST_DEADLINE_S:.0f} seconds"
        )
    return RollQuestion(
        workload=msgspec.convert(
            {"namespace": asked.namespace, "kind": KINDS[kind.lower()], "name": name},
            RolledWorkload,
        ),
        reason=reason,
        deadline_s=asked.deadline_s,
        window=asked.window,
        off_peak=asked.off_peak,
        plan_only=asked.plan_only,
    )


def planned(live: LiveWorkload, question: RollQuestion) -> Json:
    """What a person reads before agreeing."""
    kind = live.workload.kind
    found = strategies.status(kind, live.document)
    return {
        **_document("RollPlan"),
        "workload": str(live.workload),
        "replicas": found.wanted,
        "available": found.available,
        "strategy": strategies.remembered(kind, live.document),
        "slow": strategies.SLOW[kind],
        "deadlineS": question.deadline_s,
        "window": question.window,
        "offPeak": question.off_peak,
        "whyNot": strategies.why_not(kind, live.document),
    }


def shown(roll: Roll) -> Json:
    return {**_document("Roll"), **_roll(roll)}


def listed(rolls: Sequence[Roll]) -> Json:
    return {**_document("RollList"), "items": [_roll(each) for each in rolls]}


def _roll(roll: Roll) -> Json:
    return {
        "id": roll.id,
        "at": roll.at,
        "by": roll.by,
        "reason": roll.reason,
        "workload": str(roll.workload),
        "deadlineS": roll.deadline_s,
        "window": roll.window,
        "offPeak": roll.off_peak,
        "state": roll.state,
        "open": roll.is_open,
        "why": roll.why,
        "strategy": roll.strategy,
    }


def _document(kind: str) -> Json:
    return {"apiVersion": names.API_VERSION, "kind": kind}
