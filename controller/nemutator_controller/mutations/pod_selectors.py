"""Selectors of pods by their labels, as people write them everywhere in Kubernetes."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

import msgspec

from nemutator_controller.mutations.texts import is_label


class Expression(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    key: str
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"]
    values: Annotated[tuple[str, ...], msgspec.Meta(max_length=64)] = ()


class LabelSelector(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    rename="camel",
    omit_defaults=True,
):
    """An empty one selects everything."""

    match_labels: Annotated[Mapping[str, str], msgspec.Meta(max_length=32)] = {}
    match_expressions: Annotated[tuple[Expression, ...], msgspec.Meta(max_length=32)] = ()


def in_a_pod(selector: LabelSelector) -> Any:
    made: dict[str, Any] = {}
    if selector.match_labels:
        made["matchLabels"] = dict(selector.match_labels)
    if selector.match_expressions:
        made["matchExpressions"] = [required(each) for each in selector.match_expressions]
    return made


def required(expression: Expression) -> Any:
    made: dict[str, Any] = {"key": expression.key, "operator": expression.operator}
    return made | ({"values": list(expression.values)} if expression.values else {})


def faults(selector: LabelSelector) -> Iterator[str]:
    for key, value in selector.match_labels.items():
        if not is_label(key, value):
            yield f"matchLabels[{key[:80]}]: expected a label's key and value"
    for index, each in enumerate(selector.match_expressions):
        yield from (f"matchExpressions[{index}]{fault}" for fault in expression_faults(each))


def expression_faults(expression: Expression) -> Iterator[str]:
    sets = expression.operator in ("In", "NotIn")
    good = expression.values if sets else ("x",)
    if sets != bool(expression.values):
        yield f".values: expected {'some' if sets else 'none'}"
    elif not all(is_label(expression.key, value) for value in good):
        yield ": expected a label's key and values"
