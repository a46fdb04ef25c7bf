"""The verb `tolerations`: which taints of nodes a pod puts up with.

A toleration has no name. Key, operator, value and effect together tell it from the others, as in
Kubernetes, whatever its place in the list is.
"""

from collections.abc import Iterator
from typing import Annotated, Final, Literal

import msgspec
from nemutator_common import names

from nemutator_controller.mutations.edits import Author, Draft
from nemutator_controller.mutations.paths import Json, field_path, whole
from nemutator_controller.mutations.texts import is_label

VERB = "tolerations"

MOST = 32
LONGEST_KEY = 317

_FIELD = field_path(VERB)
_EQUAL: Final = "Equal"
_EXISTS: Final = "Exists"

Operator = Literal["Equal", "Exists"]
Effect = Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]
TaintKey = Annotated[str, msgspec.Meta(max_length=LONGEST_KEY)]
TaintValue = Annotated[str, msgspec.Meta(max_length=63)]


class Toleration(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, rename="camel"
):
    """As in a pod."""

    key: TaintKey = ""
    """Empty, with Exists: every taint."""
    operator: Operator = _EQUAL
    value: TaintValue = ""
    effect: Effect | None = None
    """Absent: every effect."""
    toleration_seconds: Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)] | None = None
    """For how long NoExecute is put up with; absent: for ever."""

    def in_a_pod(self) -> Json:
        """Without what is empty, because an API server does not store that."""
        found = {
            "key": self.key,
            "operator": self.operator,
            "value": self.value,
            "effect": self.effect,
            "tolerationSeconds": self.toleration_seconds,
        }
        return {field: value for field, value in found.items() if value not in ("", None)}


class TolerationPattern(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Fits a toleration that has all the given fields."""

    key: TaintKey | None = None
    operator: Operator | None = None
    value: TaintValue | None = None
    effect: Effect | None = None


class Tolerations(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, rename="camel"
):
    add: Annotated[tuple[Toleration, ...], msgspec.Meta(max_length=MOST)] = ()
    """Where the pod has none of the same key, operator, value and effect."""
    remove: Annotated[tuple[TolerationPattern, ...], msgspec.Meta(max_length=MOST)] = ()
    pressure_up_to: Annotated[int, msgspec.Meta(ge=1, le=4)] | None = None
    """The highest grade of pressure of a node that is put up with; the taint follows the node's pressure as it is."""


def apply(draft: Draft, tolerations: Tolerations, *, policy: str) -> list[str]:
    """Remove, then add, so that a policy may replace one by another."""
    author = Author(VERB, policy)
    warnings: list[str] = []
    for pattern in tolerations.remove:
        standing = list(_listed(draft))
        for found in [each for each in standing if _fits(each, pattern)]:
            path = whole(_FIELD, found)
            # A path leads to the first of both, so the other one would stay.
            if standing.count(found) > 1:
                warnings.append(f"policy {policy}: {path}: left alone: it stands there twice")
            else:
                draft.put(path, (), author)
    for wanted in (*tolerations.add, *_of_pressure(tolerations.pressure_up_to or 0)):
        item = wanted.in_a_pod()
        if _identity(item) not in map(_identity, _listed(draft)):
            draft.set(whole(_FIELD, item), item, author)
    return list(dict.fromkeys(warnings))


def faults(tolerations: Tolerations) -> Iterator[str]:
    if not tolerations.add and not tolerations.remove and tolerations.pressure_up_to is None:
        yield "add: name at least one here or in remove, or pressureUpTo"
    for index, each in enumerate(tolerations.add):
        where = f"add[{index}]"
        if each.operator == _EXISTS and each.value:
            yield f"{where}.value: Exists takes none"
        if each.operator == _EQUAL and not each.key:
            yield f"{where}.key: Equal takes one"
        if not is_label(each.key or "x", each.value):
            yield f"{where}: expected a taint's key and value"
        if each.toleration_seconds is not None and each.effect != "NoExecute":
            yield f"{where}.tolerationSeconds: only NoExecute takes it"
    for index, pattern in enumerate(tolerations.remove):
        if pattern == TolerationPattern():
            yield f"remove[{index}]: name at least one field"


def _of_pressure(highest: int) -> list[Toleration]:
    """One for each grade: a toleration knows of a value whether it is the same, not whether it is less."""
    return [
        Toleration(key=names.PRESSURE, value=str(grade), effect="PreferNoSchedule")
        for grade in range(1, highest + 1)
    ]


def _listed(draft: Draft) -> Iterator[Json]:
    for listed in draft.value(_FIELD):
        yield from (each for each in listed or () if isinstance(each, dict))


def _identity(item: Json) -> tuple[Json, ...]:
    operator = item.get("operator") or _EQUAL
    return (item.get("key") or "", operator, item.get("value") or "", item.get("effect") or "")


def _fits(item: Json, pattern: TolerationPattern) -> bool:
    wanted = (pattern.key, pattern.operator, pattern.value, pattern.effect)
    return all(
        field is None or field == found
        for field, found in zip(wanted, _identity(item), strict=True)
    )
