"""The verb `affinity`: near which nodes and pods a pod runs, or far from which.

Terms are added, each once. What is required of nodes is required in each of the pod's own terms, of
which one is enough: one more term would make more nodes good.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

import msgspec

from nemutator_controller.mutations import pod_selectors
from nemutator_controller.mutations.decisions import Maybe
from nemutator_controller.mutations.edits import Author, Draft
from nemutator_controller.mutations.paths import (
    LONGEST_ITEM,
    Json,
    Path,
    field_path,
    value_at,
    whole,
)
from nemutator_controller.mutations.pod_selectors import Expression, LabelSelector
from nemutator_controller.mutations.talkers import Talker
from nemutator_controller.mutations.texts import Key, is_label

VERB = "affinity"

MOST = 8

HOSTNAME = "kubernetes.io/hostname"

OF_ONE_POD = frozenset(
    {
        "pod-template-hash",
        "controller-revision-hash",
        "pod-template-generation",
        "statefulset.kubernetes.io/pod-name",
        "apps.kubernetes.io/pod-index",
        "batch.kubernetes.io/job-completion-index",
    }
)
"""Labels in which pods of one workload differ, or those of its last version from those of its next."""

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_LABELS = field_path("metadata", "labels")

Weight = Annotated[int, msgspec.Meta(ge=1, le=100)]
Expressions = Annotated[tuple[Expression, ...], msgspec.Meta(max_length=MOST)]
SomeExpressions = Annotated[tuple[Expression, ...], msgspec.Meta(min_length=1, max_length=MOST)]


class PreferredNodes(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, rename="camel"
):
    weight: Weight
    match_expressions: SomeExpressions

    def in_a_pod(self) -> Json:
        return {"weight": self.weight, "preference": _term(self.match_expressions)}


class NodeRules(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    required: Expressions = ()
    """On labels of nodes; all of them must fit."""
    preferred: Annotated[tuple[PreferredNodes, ...], msgspec.Meta(max_length=MOST)] = ()


class PodTerm(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, rename="camel"
):
    topology_key: Key
    label_selector: LabelSelector

    def in_a_pod(self) -> Json:
        selector = pod_selectors.in_a_pod(self.label_selector)
        return {"labelSelector": selector, "topologyKey": self.topology_key}


class PreferredPods(PodTerm, frozen=True):
    weight: Weight

    def in_a_pod(self) -> Json:
        # Not super(): the class that msgspec makes is not the one that it would look for.
        return {"weight": self.weight, "podAffinityTerm": PodTerm.in_a_pod(self)}


class PodRules(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    required: Annotated[tuple[PodTerm, ...], msgspec.Meta(max_length=MOST)] = ()
    preferred: Annotated[tuple[PreferredPods, ...], msgspec.Meta(max_length=MOST)] = ()


class AffinityRules(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, rename="camel"
):
    node_affinity: NodeRules | None = None
    pod_affinity: PodRules | None = None
    pod_anti_affinity: PodRules | None = None
    familiars: Weight | None = None
    """How much the pod prefers nodes on which no other pod of its workload is."""
    talkers: Weight | None = None
    """How much the pod prefers nodes with pods of those that its workload exchanges most with."""


def apply(
    draft: Draft, rules: AffinityRules, *, policy: str, talkers: Sequence[Talker] = ()
) -> None:
    """*talkers* of the pod's workload, as far as they are known."""
    author = Author(VERB, policy)
    if rules.node_affinity is not None:
        _require(draft, rules.node_affinity.required, author)
    for field, item in _items(rules):
        path = whole(field, item)
        if not draft.value(path):
            draft.set(path, item, author)
    if rules.familiars is not None:
        _keep_from_familiars(draft, rules.familiars, author)
    if rules.talkers is not None:
        for one in talkers:
            _bring_near(draft, one, rules.talkers, author)


def faults(rules: AffinityRules) -> Iterator[str]:
    nodes = rules.node_affinity
    is_alone = rules.familiars or rules.talkers
    if not list(_items(rules)) and not (nodes and nodes.required) and not is_alone:
        yield "nodeAffinity: name at least one term here, in podAffinity or in podAntiAffinity"
    if nodes is not None:
        for index, each in enumerate(nodes.required):
            for fault in pod_selectors.expression_faults(each):
                yield f"nodeAffinity.required[{index}]{fault}"
        for index, preferred in enumerate(nodes.preferred):
            for each in preferred.match_expressions:
                for fault in pod_selectors.expression_faults(each):
                    yield f"nodeAffinity.preferred[{index}].matchExpressions{fault}"
    for name, pods in (
        ("podAffinity", rules.pod_affinity),
        ("podAntiAffinity", rules.pod_anti_affinity),
    ):
        for where, term in _terms(pods):
            if not is_label(term.topology_key, ""):
                yield f"{name}.{where}.topologyKey: expected the key of a label"
            for fault in pod_selectors.faults(term.label_selector):
                yield f"{name}.{where}.labelSelector.{fault}"
    if any(len(msgspec.json.encode(item)) > LONGEST_ITEM for _, item in _items(rules)):
        yield f"a term: longer than {LONGEST_ITEM} characters"


def _terms(rules: PodRules | None) -> Iterator[tuple[str, PodTerm]]:
    if rules is not None:
        for field, terms in (("required", rules.required), ("preferred", rules.preferred)):
            yield from ((f"{field}[{index}]", term) for index, term in enumerate(terms))


def _items(rules: AffinityRules) -> Iterator[tuple[Path, Json]]:
    """What is added as an item of a list."""
    affinity = field_path(VERB)
    if rules.node_affinity is not None:
        for preferred in rules.node_affinity.preferred:
            yield affinity / "nodeAffinity" / _PREFERRED, preferred.in_a_pod()
    for field, pods in (
        ("podAffinity", rules.pod_affinity),
        ("podAntiAffinity", rules.pod_anti_affinity),
    ):
        if pods is not None:
            for term in pods.required:
                yield affinity / field / _REQUIRED, term.in_a_pod()
            for term in pods.preferred:
                yield affinity / field / _PREFERRED, term.in_a_pod()


def _keep_from_familiars(draft: Draft, weight: int, author: Author) -> None:
    labels = _labels(draft.value(_LABELS))
    # Those that policies add are not on the pods that were there before these policies.
    own = _labels(value_at(draft.unchanged, _LABELS, draft.kind))
    shared = {
        key: value
        for key, value in sorted(own.items())
        if key not in OF_ONE_POD and labels.get(key) == value
    }
    if not shared:
        # A selector without labels would mean every pod of the namespace.
        return
    terms = field_path(VERB, "podAntiAffinity", _PREFERRED)
    standing = draft.value(terms)
    if any(_is_of(term, shared) for term in (standing[0] or () if standing else ())):
        return
    item = {
        "weight": weight,
        "podAffinityTerm": {"labelSelector": {"matchLabels": shared}, "topologyKey": HOSTNAME},
    }
    if len(msgspec.json.encode(item)) <= LONGEST_ITEM:
        draft.set(whole(terms, item), item, author)


def _labels(found: Maybe) -> Mapping[str, Json]:
    return found[0] if found and isinstance(found[0], dict) else {}


def _bring_near(draft: Draft, talker: Talker, weight: int, author: Author) -> None:
    term = {
        "labelSelector": {"matchLabels": dict(sorted(talker.labels.items()))},
        "namespaces": [talker.namespace],
        "topologyKey": HOSTNAME,
    }
    terms = field_path(VERB, "podAffinity", _PREFERRED)
    standing = draft.value(terms)
    # After other webhooks the pod may come again, when its workload exchanges more or less by then.
    for each in standing[0] or () if standing else ():
        if isinstance(each, dict) and each.get("podAffinityTerm") == term:
            return
    item = {"weight": max(1, round(weight * talker.share)), "podAffinityTerm": term}
    if talker.labels and len(msgspec.json.encode(item)) <= LONGEST_ITEM:
        draft.set(whole(terms, item), item, author)


def _is_of(preferred: Json, labels: Json) -> bool:
    """Whether *preferred* keeps pods with these *labels* from each other's nodes already: after other webhooks the pod
    may come again, with labels that we have added."""
    term = preferred.get("podAffinityTerm") if isinstance(preferred, dict) else None
    if not isinstance(term, dict) or term.get("topologyKey") != HOSTNAME:
        return False
    selector = term.get("labelSelector")
    if not isinstance(selector, dict) or selector.get("matchExpressions"):
        return False
    wanted = selector.get("matchLabels")
    return isinstance(wanted, dict) and bool(wanted) and wanted.items() <= labels.items()


def _require(draft: Draft, expressions: tuple[Expression, ...], author: Author) -> None:
    if not expressions:
        return
    path = field_path(VERB, "nodeAffinity", _REQUIRED, "nodeSelectorTerms")
    found = draft.value(path)
    # Objects only: an API server has no others, and stores no empty list.
    terms = [each for each in (found[0] or () if found else ()) if isinstance(each, dict)]
    draft.set(
        path, [_narrowed(term, expressions) for term in terms] or [_term(expressions)], author
    )


def _narrowed(term: Json, expressions: tuple[Expression, ...]) -> Json:
    if not term.get("matchExpressions") and not term.get("matchFields"):
        # To a scheduler an empty term fits no node: with a requirement in it, it would fit some.
        return term
    listed = term.get("matchExpressions") or []
    wanted = [pod_selectors.required(each) for each in expressions]
    missing = [each for each in wanted if each not in listed]
    return {**term, "matchExpressions": [*listed, *missing]} if missing else term


def _term(expressions: tuple[Expression, ...]) -> dict[str, Any]:
    return {"matchExpressions": [pod_selectors.required(each) for each in expressions]}
