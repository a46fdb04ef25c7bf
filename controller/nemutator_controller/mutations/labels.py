"""The verb `labels`: by them selectors and people find a pod.

A controller that does not find the pod it has just made makes another one, without end. So a label by
which a workload may find its pods keeps its value, and one that it does not want on them is not added.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from nemutator_controller.mutations.edits import Author, Draft
from nemutator_controller.mutations.paths import Json, field_path, label, value_at
from nemutator_controller.mutations.texts import Texts, TextSetters, setters_of, write

VERB = "labels"

POD = "Pod"
_BY_PLAIN_MAP = "ReplicationController"
"""Its selector is a map of labels, and by default those of its template."""


_SELECTED = "its workload may find its pods by it; change the workload's template"
_UNWANTED = (
    "the selector of its workload wants pods without it: that would lose them, and make others"
    " without end"
)


@dataclass(frozen=True, slots=True)
class LeftLabel:
    """A label that a policy would change, and that stays as it is."""

    reason: Literal["selected", "unwanted"]
    why: str
    """For whoever creates the pod."""


def setters(texts: Texts, *, policy: str) -> TextSetters:
    return setters_of(texts, label, Author(VERB, policy))


def follow(
    draft: Draft,
    ready: TextSetters,
    texts: Texts,
    *,
    kept: frozenset[str],
    unwanted: frozenset[str] = frozenset(),
    policy: str,
) -> list[LeftLabel]:
    """`apply` with the setters of *texts*, which are *ready*."""
    # A pod's own labels are there: what is added is none of them.
    if (
        not unwanted
        and kept.isdisjoint(ready.replaced)
        and (draft.kind == POD or kept.isdisjoint(texts.add))
    ):
        write(draft, ready)
        return []
    return apply(draft, texts, kept=kept, unwanted=unwanted, policy=policy)


def apply(
    draft: Draft,
    texts: Texts,
    *,
    kept: frozenset[str],
    unwanted: frozenset[str] = frozenset(),
    policy: str,
) -> list[LeftLabel]:
    """Write into *draft*, but leave the values of the keys in *kept*, and add none of those in *unwanted*."""
    left = {
        key: LeftLabel("unwanted", f"policy {policy}: {label(key)}: left alone: {_UNWANTED}")
        for key in (*texts.set, *texts.add)
        if key in unwanted and not draft.value(label(key))
    }
    refused = [
        key
        for key, value in texts.set.items()
        if key in kept and draft.value(label(key)) != (value,)
    ]
    refused += [key for key in texts.remove if key in kept]
    # A selector may want pods without it (NotIn, DoesNotExist).
    refused += [key for key in texts.add if key in kept and not draft.value(label(key))]
    for key in refused:
        why = f"policy {policy}: {label(key)}: left alone: {_SELECTED}"
        left.setdefault(key, LeftLabel("selected", why))
    allowed = {key: value for key, value in texts.set.items() if key not in left}
    added = {key: value for key, value in texts.add.items() if key not in left}
    removed = tuple(key for key in texts.remove if key not in left)
    write(draft, setters(Texts(set=allowed, add=added, remove=removed), policy=policy))
    return list(left.values())


def selected_by(manifest: Json, kind: str, *, managed: bool) -> frozenset[str]:
    """Keys of labels by which a workload may find the pod that *manifest* is or makes.

    *managed*: a workload has made this pod. The pod does not say by which labels it is found;
    they can be only those that were in the template.
    """
    if kind == _BY_PLAIN_MAP:
        return frozenset(_map(_map(manifest.get("spec")).get("selector"))) or keys_of(
            manifest, kind
        )
    if kind != POD:
        return frozenset(_keys_in(_map(_map(manifest.get("spec")).get("selector"))))
    return keys_of(manifest, kind) if managed else frozenset()


def keys_of(manifest: Json, kind: str) -> frozenset[str]:
    """Keys of all labels that the pod has which *manifest* is or makes."""
    return frozenset(
        key
        for found in value_at(manifest, field_path("metadata", "labels"), kind)
        for key in found or ()
    )


def _keys_in(selector: Json) -> Iterator[str]:
    yield from _map(selector.get("matchLabels"))
    expressions = selector.get("matchExpressions")
    for each in expressions if isinstance(expressions, list) else ():
        yield str(_map(each).get("key"))


def _map(value: Json) -> Json:
    return value if isinstance(value, dict) else {}
