"""Conditions on any field of a pod, without a language: `{field: hostNetwork, operator: In, values: ["true"]}`.

Each is compiled once, when its policy changes, to a function of the pod's manifest. Fields are written as in the
journal; `[*]` is every item of a list, of which one is enough.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import msgspec

from nemutator_controller.kube.quantities import QuantityError, parse_quantity
from nemutator_controller.mutations.chosen_containers import Glob
from nemutator_controller.mutations.globs import fits_any
from nemutator_controller.mutations.paths import Json, template_of
from nemutator_controller.mutations.resources import QUANTITY

LONGEST_FIELD = 253
MOST = 16

_WORD = r"[A-Za-z][A-Za-z0-9]*"
_KEY = r"[A-Za-z0-9]([-A-Za-z0-9_./]*[A-Za-z0-9])?"
FIELD = re.compile(rf"^{_WORD}(\.{_WORD}|\[\*\]|\[{_WORD}={_KEY}\]|\[{_KEY}\])*$")
LISTS = (
    "args", "command", "containers", "env", "envFrom", "ephemeralContainers", "hostAliases", "imagePullSecrets",
    "initContainers", "ports", "readinessGates", "resourceClaims", "schedulingGates", "tolerations",
    "topologySpreadConstraints", "volumeDevices", "volumeMounts", "volumes",
)  # fmt: skip
"""Fields of pods that are lists: `containers[0]` and `containers[app]` would be keys of maps, and never be there."""
KEY_OF_LIST = rf"(^|\.)({'|'.join(LISTS)})\[{_KEY}\]"

_STEP = re.compile(
    rf"\.?(?P<word>{_WORD})|\[(?P<every>\*)\]|\[(?P<by>{_WORD})=(?P<name>{_KEY})\]|\[(?P<key>{_KEY})\]"
)

Operator = Literal["In", "NotIn", "Exists", "DoesNotExist", "Above", "Below"]


class FieldCondition(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"
):
    field: Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_FIELD)]
    operator: Operator
    values: Annotated[tuple[Glob, ...], msgspec.Meta(max_length=64)] = ()
    """Globs on what stands there, as text."""
    amount: str | None = None
    """Of Above and Below."""


Holds = Callable[[Json, str], bool]
"""Whether it holds for the pod that a manifest of that kind is or makes."""


def compiled(condition: FieldCondition) -> Holds:
    """The condition, which has no faults, as a function."""
    steps, wanted, operator = _steps(condition.field), condition.values, condition.operator
    if operator in ("Exists", "DoesNotExist"):
        exists = operator == "Exists"
        return lambda manifest, kind: any(True for _ in _found(manifest, kind, steps)) is exists
    if operator in ("In", "NotIn"):
        is_in = operator == "In"
        return lambda manifest, kind: (
            any(fits_any(_text(each), wanted) for each in _found(manifest, kind, steps)) is is_in
        )
    bound, above = parse_quantity(condition.amount or "0"), operator == "Above"

    def compares(manifest: Json, kind: str) -> bool:
        amounts = map(_amount, _found(manifest, kind, steps))
        return any(each > bound if above else each < bound for each in amounts if each is not None)

    return compares


def faults(condition: FieldCondition) -> Iterator[str]:
    if not FIELD.fullmatch(condition.field):
        yield ".field: expected a field like hostNetwork or containers[*].securityContext.privileged"
    elif (found := re.search(KEY_OF_LIST, condition.field)) is not None:
        yield f".field: {found[2]} is a list: write {found[2]}[*], or [name=…] for one of its items"
    takes = condition.operator in ("In", "NotIn")
    if takes != bool(condition.values):
        yield f".values: expected {'some' if takes else 'none'}"
    amount, compares = condition.amount, condition.operator in ("Above", "Below")
    if compares != (amount is not None):
        yield f".amount: expected {'one' if compares else 'none'}"
    elif amount is not None and not _is_amount(amount):
        yield f".amount: {amount[:40]!r}: expected a number with a suffix such as m, k, Mi, e3"


@dataclass(frozen=True, slots=True)
class _Step:
    key: str = ""
    """Of a map."""
    by: str = ""
    """The field of a list's items that is *name*."""
    name: str = ""
    every: bool = False


def _steps(field: str) -> Sequence[_Step]:
    return [
        _Step(found["word"] or found["key"] or "", found["by"] or "", found["name"] or "", bool(found["every"]))
        for found in _STEP.finditer(field)
    ]  # fmt: skip


def _found(manifest: Json, kind: str, steps: Sequence[_Step]) -> Iterator[Json]:
    """All that is there; `null` is nothing."""
    pod = template_of(manifest, kind)
    if not isinstance(pod, dict):
        return
    # A pod's spec has no field of that name: whoever writes it means the spec itself.
    begins = steps[0].key in ("metadata", "spec")
    yield from _within(pod if begins else pod.get("spec"), steps)


def _within(found: Json, steps: Sequence[_Step]) -> Iterator[Json]:
    for at, step in enumerate(steps):
        if step.every:
            for each in _items(found):
                yield from _within(each, steps[at + 1 :])
            return
        if step.by:
            items = found if isinstance(found, list) else ()
            found = next((each for each in items if _is(each, step)), None)
        else:
            found = found.get(step.key) if isinstance(found, dict) else None
        if found is None:
            return
    if found is not None:
        yield found


def _items(found: Json) -> Sequence[Json]:
    return found if isinstance(found, list) else ()


def _is(item: Json, step: _Step) -> bool:
    return isinstance(item, dict) and item.get(step.by) == step.name


def _text(value: Json) -> str:
    """As it stands in JSON, but texts without quotes."""
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def _amount(value: Json) -> Json:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        return parse_quantity(str(value))
    except QuantityError:
        return None


def _is_amount(text: str) -> bool:
    try:
        parse_quantity(text)
    except QuantityError:
        return False
    return QUANTITY.fullmatch(text) is not None
