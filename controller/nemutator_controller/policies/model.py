"""MutationPolicy, the custom resource, and the faults that one can have.

The typed model is the one source: the CustomResourceDefinition is made from it (`crds.py`). Policies are
checked here again, because the API server may have stored one before it had this schema.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

import msgspec
from nemutator_common import names

from nemutator_controller.kube.label_selectors import Operator, Requirement, Selector
from nemutator_controller.mutations import known_tokens, pod_selectors
from nemutator_controller.mutations.chosen_containers import Glob
from nemutator_controller.mutations.image_references import glob_faults
from nemutator_controller.mutations.pod_selectors import LabelSelector
from nemutator_controller.mutations.texts import Key, is_label
from nemutator_controller.policies import field_conditions
from nemutator_controller.policies.explanations import explained
from nemutator_controller.policies.field_conditions import FieldCondition, Holds, compiled
from nemutator_controller.policies.time_windows import When, when_faults
from nemutator_controller.policies.verbs import Action, PolicyMutation, actions_of, faults_of

GROUP = names.DOMAIN
VERSION = "v1alpha1"
KIND = "MutationPolicy"
PLURAL = "mutationpolicies"
API_VERSION = f"{GROUP}/{VERSION}"

OWNER_KIND = re.compile(r"^[A-Z*?\[]")
"""How a glob on kinds begins that may fit one."""

MOST_MUTATIONS = 32
MOST_CONDITIONS = field_conditions.MOST
MOST_TOKENS = 64
MOST_OF_A_TOKEN = 1024
"""Characters."""

Globs = Annotated[tuple[Glob, ...], msgspec.Meta(max_length=64)]

LONGEST_NAME = 253
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*")
"""Names as an API server requires them (RFC 1123)."""

_OPERATORS = {
    "In": Operator.IN,
    "NotIn": Operator.NOT_IN,
    "Exists": Operator.EXISTS,
    "DoesNotExist": Operator.NOT_EXISTS,
}


class _Strict(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"
):
    """A misspelt field is an error, because ignoring it would silently do less than was asked."""


class Match(_Strict, frozen=True):
    """Which pods a policy is for: all given fields must match."""

    namespace_selector: LabelSelector = LabelSelector()
    pod_selector: LabelSelector = LabelSelector()
    namespaces: Globs = ()
    excluded_namespaces: Globs = ()
    names: Globs = ()
    """Globs on the name of the pod, or of the workload that makes it."""
    excluded_names: Globs = ()
    images: Globs = ()
    """Globs on repositories in full: one image of the pod is enough."""
    owner_kinds: Globs = ()
    """Kinds of the workload that makes the pod, such as DaemonSet; a pod without one is a Pod."""
    annotations: Annotated[Mapping[Key, Glob], msgspec.Meta(max_length=32)] = {}
    """Globs on values, by key; the pod must have all of them."""
    users: Globs = ()
    """Globs on who creates the pod; outside of a cluster nobody is known."""
    fields: Annotated[tuple[FieldCondition, ...], msgspec.Meta(max_length=MOST_CONDITIONS)] = ()
    """Conditions on fields of the pod, all of which must hold."""
    percent: Annotated[int, msgspec.Meta(ge=0, le=100)] | None = None
    """A share of all workloads, always the same ones; absent: all."""

    @property
    def narrowed(self) -> bool:
        """Whether more is asked than most policies ask."""
        return (
            bool(self.images or self.owner_kinds or self.annotations or self.users or self.fields)
            or self.percent is not None
        )


class PolicyToken(_Strict, frozen=True):
    key: Annotated[str, msgspec.Meta(min_length=1, max_length=known_tokens.LONGEST_KEY)]
    value: Annotated[str, msgspec.Meta(min_length=1, max_length=MOST_OF_A_TOKEN)]


class Spec(_Strict, frozen=True, kw_only=True):
    match: Match = Match()
    apply_to: Literal["pod", "template", "live"] = "pod"
    """What is changed: each new pod, or the template in the workload that makes pods. live: each new pod,
    and labels and annotations of those that run and of workloads."""
    missed: Literal["Tell", "Evict"] = "Tell"
    """What is done about a pod that admission has missed: people are told, or it is evicted as well, so that its
    workload makes another one."""
    when: When | None = None
    """Absent: always."""
    tokens: Annotated[tuple[PolicyToken, ...], msgspec.Meta(max_length=MOST_TOKENS)] = ()
    """Values of placeholders in these pods: they go before those of the token store."""
    mode: Literal["Apply", "Preview"] = "Preview"
    """Preview computes and logs, and changes no pod."""
    mutations: Annotated[
        tuple[PolicyMutation, ...], msgspec.Meta(min_length=1, max_length=MOST_MUTATIONS)
    ]
    """In this order."""


class PolicyError(ValueError):
    """A policy that cannot be used; each of `faults` begins with the field."""

    def __init__(self, faults: tuple[str, ...]) -> None:
        super().__init__("; ".join(faults))
        self.faults = faults


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """A policy without faults."""

    name: str
    spec: Spec
    namespaces: Selector
    pods: Selector
    narrowed: bool
    """What `Match.narrowed` says, once for all pods."""
    first: tuple[Action, ...]
    """What is to be done before anything else of any policy, in this order."""
    actions: tuple[Action, ...]
    """What is to be done after that, in this order."""
    conditions: tuple[Holds, ...] = ()
    """Those of `Match.fields`, compiled."""
    tokens: Mapping[str, str] = {}
    """Those of the spec, by key."""
    alone: bool = False
    """Of all that are, a pod follows the first one only, and names are those of its workload: so SizingPolicies are.
    Out of its time it is still the one, and says nothing."""
    held_with_resizes: bool = False
    """Whether it says nothing while a season holds resizes back."""


def policy_of(name: str, spec: Any) -> Policy:
    """The policy *name* with the decoded *spec*, or a `PolicyError` that names every fault."""
    try:
        typed = msgspec.convert(spec, Spec)
    except msgspec.ValidationError as error:
        fault = explained(str(error), spec, Spec, root="spec")
        raise PolicyError((f"{fault}; see kubectl explain {PLURAL}.spec"[:512],)) from error
    except RecursionError as error:
        raise PolicyError(("spec: nested too deeply",)) from error
    faults = tuple(_faults(typed))
    if faults:
        raise PolicyError(faults)
    actions = actions_of(typed.mutations, name)
    return Policy(
        name=name,
        spec=typed,
        namespaces=selector_of(typed.match.namespace_selector),
        pods=selector_of(typed.match.pod_selector),
        narrowed=typed.match.narrowed,
        first=tuple(each for each in actions if each.is_first),
        actions=tuple(each for each in actions if not each.is_first),
        conditions=tuple(map(compiled, typed.match.fields)),
        tokens={each.key: each.value for each in typed.tokens},
    )


def policy_from_document(document: Any) -> Policy:
    """The policy in a whole object, as a file or the API server has it."""
    if not isinstance(document, dict):
        raise PolicyError(("the document: expected an object",))
    head = document.get("apiVersion"), document.get("kind")
    if head != (API_VERSION, KIND):
        raise PolicyError((f"apiVersion and kind: expected {API_VERSION} and {KIND}",))
    metadata = document.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    if not isinstance(name, str) or len(name) > LONGEST_NAME or not _NAME.fullmatch(name):
        raise PolicyError(("metadata.name: expected small letters, digits, dots and dashes",))
    return policy_of(name, document.get("spec"))


def selector_of(wanted: LabelSelector) -> Selector:
    return Selector(
        (
            *(Requirement(key, Operator.EQUALS, (v,)) for key, v in wanted.match_labels.items()),
            *(
                Requirement(each.key, _OPERATORS[each.operator], tuple(sorted(each.values)))
                for each in wanted.match_expressions
            ),
        )
    )


def _faults(spec: Spec) -> Iterator[str]:
    match = spec.match
    for field, selector in (
        ("namespaceSelector", match.namespace_selector),
        ("podSelector", match.pod_selector),
    ):
        yield from (f"spec.match.{field}.{fault}" for fault in pod_selectors.faults(selector))
    yield from (f"spec.match.images{fault}" for fault in glob_faults(match.images))
    for index, kind in enumerate(match.owner_kinds):
        if not OWNER_KIND.match(kind):
            yield f"spec.match.ownerKinds[{index}]: {kind[:80]!r} fits no kind: they begin with a capital, like DaemonSet"
    for key in match.annotations:
        if not is_label(key, ""):
            yield f"spec.match.annotations[{key[:80]}]: expected an annotation's key"
    for index, condition in enumerate(match.fields):
        where = f"spec.match.fields[{index}]"
        yield from (f"{where}{fault}" for fault in field_conditions.faults(condition))
    for index, token in enumerate(spec.tokens):
        if not known_tokens.KEY.fullmatch(token.key):
            yield f"spec.tokens[{index}].key: expected a key like nemu_label_value_team"
    if spec.apply_to != "template" and any(each.selectors is not None for each in spec.mutations):
        yield "spec.applyTo: a pod has no selectors: expected template"
    if spec.apply_to == "live" and match.users:
        yield "spec.match.users: nobody knows who has created a pod that runs: not with applyTo: live"
    yield from (f"spec.when{fault}" for fault in when_faults(spec.when))
    for index, mutation in enumerate(spec.mutations):
        yield from (f"spec.mutations[{index}]{fault}" for fault in faults_of(mutation))
