"""The verbs of policies: what each is called, what it takes, and what does it.

A new verb is a file in `mutations/` and a line in both tables here.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from nemutator_controller.mutations import (
    affinity,
    annotations,
    chosen_names,
    dns_config,
    empty_dir,
    env,
    env_from,
    image,
    image_pull_policy,
    image_pull_secrets,
    labels,
    node_selector,
    priority_class_name,
    resources,
    runtime_class_name,
    scheduler_name,
    security_context,
    service_account_token,
    service_links,
    sidecars,
    texts,
    tolerations,
    topology_spread_constraints,
    volumes,
    workload_selectors,
)
from nemutator_controller.mutations.affinity import AffinityRules
from nemutator_controller.mutations.chosen_names import ChosenName
from nemutator_controller.mutations.dns_config import DnsConfig
from nemutator_controller.mutations.edits import Draft
from nemutator_controller.mutations.empty_dir import EmptyDirs
from nemutator_controller.mutations.env import EnvRules
from nemutator_controller.mutations.env_from import VariableSources
from nemutator_controller.mutations.image import ImageFinding, ImageRules
from nemutator_controller.mutations.image_digests import NO_DIGESTS, ImageDigests
from nemutator_controller.mutations.image_pull_policy import PullPolicy
from nemutator_controller.mutations.image_pull_secrets import PullSecrets
from nemutator_controller.mutations.known_tokens import KnownTokens
from nemutator_controller.mutations.labels import LeftLabel
from nemutator_controller.mutations.resources import Circumstances, ContainerResources, Sizing
from nemutator_controller.mutations.security_context import SecurityDefaults
from nemutator_controller.mutations.sidecars import Sidecars
from nemutator_controller.mutations.switches import Switch
from nemutator_controller.mutations.talkers import Talker
from nemutator_controller.mutations.texts import Texts, TextSetters
from nemutator_controller.mutations.tolerations import Tolerations
from nemutator_controller.mutations.topology_spread_constraints import SpreadRules
from nemutator_controller.mutations.volumes import MountedVolumes
from nemutator_controller.mutations.workload_selectors import SelectorRules


class PolicyMutation(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"
):
    """One verb: exactly one of these fields, whose names are the words of `skip-mutation`."""

    labels: Texts | None = None
    annotations: Texts | None = None
    resources: ContainerResources | None = None
    image: ImageRules | None = None
    env: EnvRules | None = None
    node_selector: Texts | None = None
    tolerations: Tolerations | None = None
    affinity: AffinityRules | None = None
    topology_spread_constraints: SpreadRules | None = None
    security_context: SecurityDefaults | None = None
    priority_class_name: ChosenName | None = None
    scheduler_name: ChosenName | None = None
    image_pull_policy: PullPolicy | None = None
    image_pull_secrets: PullSecrets | None = None
    selectors: SelectorRules | None = None
    env_from: VariableSources | None = None
    volumes: MountedVolumes | None = None
    empty_dir: EmptyDirs | None = None
    dns_config: DnsConfig | None = None
    enable_service_links: Switch | None = None
    automount_service_account_token: Switch | None = None
    runtime_class_name: ChosenName | None = None
    sidecars: Sidecars | None = None


Finding = ImageFinding | LeftLabel

Findings = Iterable[Finding] | None
"""Warnings, which say what a policy wants and was not done, and what it does not allow or cannot pin."""


class Surroundings(msgspec.Struct, frozen=True):
    """What verbs depend on beside the object and the policy."""

    circumstances: Circumstances
    kept: frozenset[str]
    """Keys of labels by which a workload may find its pod."""
    existing: Any = None
    """The `matchLabels` of the workload that is there already; None: it is being created."""
    digests: ImageDigests = NO_DIGESTS
    tokens: KnownTokens | None = None
    """None: there is no token store."""
    talkers: tuple[Talker, ...] = ()
    """Of the object's workload."""
    unwanted: frozenset[str] = frozenset()
    """Keys of labels that the selector of a pod's workload wants pods without."""


@dataclass(frozen=True, slots=True)
class Action:
    """One mutation of one policy."""

    verb: str
    apply: Callable[[Draft, Surroundings], Findings]
    """Writes into the draft."""
    sizing: Sizing | None = None
    """What it makes of amounts, where that depends on those alone."""

    @property
    def is_first(self) -> bool:
        """Whether it adds what the others, of all policies, are to change."""
        return self.verb == sidecars.VERB


Apply = Callable[[Draft, Any, Surroundings, str], Findings]


def _alone(apply: Callable[..., Findings]) -> Apply:
    """*apply* of a verb that needs no surroundings."""
    return lambda draft, wanted, _, policy: apply(draft, wanted, policy=policy)


_APPLY: Mapping[str, Apply] = {
    image.VERB: lambda d, wanted, s, p: image.apply(d, wanted, s.digests, policy=p),
    env.VERB: _alone(env.apply),
    tolerations.VERB: _alone(tolerations.apply),
    affinity.VERB: lambda d, wanted, s, p: affinity.apply(d, wanted, policy=p, talkers=s.talkers),
    topology_spread_constraints.VERB: _alone(topology_spread_constraints.apply),
    security_context.VERB: _alone(security_context.apply),
    priority_class_name.VERB: _alone(priority_class_name.apply),
    scheduler_name.VERB: _alone(scheduler_name.apply),
    image_pull_policy.VERB: _alone(image_pull_policy.apply),
    image_pull_secrets.VERB: _alone(image_pull_secrets.apply),
    workload_selectors.VERB: lambda d, wanted, s, p: workload_selectors.apply(
        d, wanted, existing=s.existing, policy=p, tokens=s.tokens
    ),
    env_from.VERB: _alone(env_from.apply),
    volumes.VERB: _alone(volumes.apply),
    empty_dir.VERB: _alone(empty_dir.apply),
    dns_config.VERB: _alone(dns_config.apply),
    service_links.VERB: _alone(service_links.apply),
    service_account_token.VERB: _alone(service_account_token.apply),
    runtime_class_name.VERB: _alone(runtime_class_name.apply),
    sidecars.VERB: _alone(sidecars.apply),
}
"""By verb: what writes into a draft, for what the policy wants, in its name; of those that make nothing ready."""

_FAULTS: Mapping[str, Callable[[Any], Iterable[str]]] = {
    labels.VERB: lambda wanted: texts.faults(wanted, labels=True),
    annotations.VERB: lambda wanted: texts.faults(wanted, labels=False),
    resources.VERB: resources.faults,
    image.VERB: image.faults,
    env.VERB: env.faults,
    node_selector.VERB: lambda wanted: texts.faults(wanted, labels=True),
    tolerations.VERB: tolerations.faults,
    affinity.VERB: affinity.faults,
    topology_spread_constraints.VERB: topology_spread_constraints.faults,
    security_context.VERB: security_context.faults,
    priority_class_name.VERB: chosen_names.faults,
    scheduler_name.VERB: chosen_names.faults,
    image_pull_secrets.VERB: image_pull_secrets.faults,
    workload_selectors.VERB: workload_selectors.faults,
    env_from.VERB: env_from.faults,
    volumes.VERB: volumes.faults,
    empty_dir.VERB: empty_dir.faults,
    dns_config.VERB: dns_config.faults,
    runtime_class_name.VERB: chosen_names.faults,
    sidecars.VERB: sidecars.faults,
}
"""By verb: what its types alone do not exclude; each fault begins with the field."""

VERBS = PolicyMutation.__struct_encode_fields__


def actions_of(mutations: Iterable[PolicyMutation], policy: str) -> tuple[Action, ...]:
    """What mutations without faults do, made once so that no pod has to wait for it."""
    return tuple(
        _action(verb, wanted, policy) for mutation in mutations for verb, wanted in _given(mutation)
    )


def faults_of(mutation: PolicyMutation) -> Iterator[str]:
    given = list(_given(mutation))
    if len(given) != 1:
        yield f": expected exactly one of {', '.join(VERBS)}"
    for verb, wanted in given:
        if verb in _FAULTS:
            yield from (f".{verb}.{fault}" for fault in _FAULTS[verb](wanted))


def _action(verb: str, wanted: Any, policy: str) -> Action:
    if verb == resources.VERB:
        return _sizing(wanted, policy)
    ready = _READY.get(verb)
    if ready is not None:
        return Action(verb, ready(wanted, policy))
    apply = _APPLY[verb]
    return Action(verb, lambda draft, surroundings: apply(draft, wanted, surroundings, policy))


def _labelling(wanted: Texts, policy: str) -> Callable[[Draft, Surroundings], Findings]:
    setters = labels.setters(wanted, policy=policy)

    def apply(draft: Draft, surroundings: Surroundings) -> Findings:
        kept = surroundings.kept
        if draft.kind != labels.POD:
            # A selector may have got other keys by now.
            kept |= labels.selected_by(draft.manifest, draft.kind, managed=False)
        unwanted = surroundings.unwanted
        return labels.follow(draft, setters, wanted, kept=kept, unwanted=unwanted, policy=policy)

    return apply


def _writing(setters: TextSetters) -> Callable[[Draft, Surroundings], Findings]:
    return lambda draft, _: texts.write(draft, setters)


def _sizing(wanted: ContainerResources, policy: str) -> Action:
    sizing = None if resources.follows_advice(wanted) else Sizing(wanted, policy)
    return Action(
        resources.VERB,
        lambda draft, surroundings: resources.apply(
            draft, wanted, surroundings.circumstances, policy=policy, sizing=sizing
        ),
        sizing,
    )


_READY: Mapping[str, Callable[[Any, str], Callable[[Draft, Surroundings], Findings]]] = {
    labels.VERB: _labelling,
    annotations.VERB: lambda wanted, policy: _writing(annotations.setters(wanted, policy=policy)),
    node_selector.VERB: lambda wanted, policy: _writing(
        node_selector.setters(wanted, policy=policy)
    ),
}
"""By verb: what makes ready what writes into drafts, once for all of them."""


def _given(mutation: PolicyMutation) -> Iterator[tuple[str, Any]]:
    for verb, field in zip(VERBS, mutation.__struct_fields__, strict=True):
        wanted = getattr(mutation, field)
        if wanted is not None:
            yield verb, wanted
