"""The verb `topologySpreadConstraints`: how evenly pods are spread over zones, nodes and others."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

import msgspec

from nemutator_controller.mutations import pod_selectors
from nemutator_controller.mutations.edits import Author, Draft
from nemutator_controller.mutations.paths import LONGEST_ITEM, Json, field_path, whole
from nemutator_controller.mutations.pod_selectors import LabelSelector
from nemutator_controller.mutations.texts import Key, is_label

VERB = "topologySpreadConstraints"

MOST = 8

_FIELD = field_path(VERB)


class SpreadConstraint(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, rename="camel"
):
    """As in a pod."""

    max_skew: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 1
    topology_key: Key
    when_unsatisfiable: Literal["DoNotSchedule", "ScheduleAnyway"] = "ScheduleAnyway"
    label_selector: LabelSelector
    match_label_keys: Annotated[tuple[Key, ...], msgspec.Meta(max_length=8)] = ()
    """Only pods with the same values of these labels are counted together."""

    def in_a_pod(self) -> Json:
        made: dict[str, Any] = {
            "maxSkew": self.max_skew,
            "topologyKey": self.topology_key,
            "whenUnsatisfiable": self.when_unsatisfiable,
            "labelSelector": pod_selectors.in_a_pod(self.label_selector),
        }
        keys = list(self.match_label_keys)
        return made | ({"matchLabelKeys": keys} if keys else {})


class SpreadRules(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    add: Annotated[tuple[SpreadConstraint, ...], msgspec.Meta(min_length=1, max_length=MOST)]
    """Where the pod has none of the same topologyKey and whenUnsatisfiable."""


def apply(draft: Draft, rules: SpreadRules, *, policy: str) -> None:
    for wanted in rules.add:
        item = wanted.in_a_pod()
        if _identity(item) not in map(_identity, _listed(draft)):
            draft.set(whole(_FIELD, item), item, Author(VERB, policy))


def faults(rules: SpreadRules) -> Iterator[str]:
    for index, each in enumerate(rules.add):
        where = f"add[{index}]"
        for field, keys in (
            ("topologyKey", (each.topology_key,)),
            ("matchLabelKeys", each.match_label_keys),
        ):
            if not all(is_label(key, "") for key in keys):
                yield f"{where}.{field}: expected the key of a label"
        selector = pod_selectors.faults(each.label_selector)
        yield from (f"{where}.labelSelector.{fault}" for fault in selector)
        if len(msgspec.json.encode(each.in_a_pod())) > LONGEST_ITEM:
            yield f"{where}: longer than {LONGEST_ITEM} characters"


def _listed(draft: Draft) -> Iterator[Json]:
    for listed in draft.value(_FIELD):
        yield from (each for each in listed or () if isinstance(each, dict))


def _identity(item: Json) -> tuple[Json, Json]:
    # An API server lets no two of them be alike in both.
    return item.get("topologyKey"), item.get("whenUnsatisfiable")
