"""Which SizingPolicy a pod is for: the first by name that selects it."""

from collections.abc import Iterable, Sequence

from nemutator_controller.mutations.globs import fits_any
from nemutator_controller.updating.model import SoundSizing
from nemutator_controller.updating.records import SizedPod

SYSTEM = frozenset({"kube-system", "nemutator"})
"""Namespaces whose pods are never changed."""


def policy_for(
    pod: SizedPod, policies: Iterable[SoundSizing], *, own_namespace: str = ""
) -> SoundSizing | None:
    if pod.namespace in SYSTEM or pod.namespace == own_namespace:
        return None
    return next((each for each in policies if selects(each, pod)), None)


def selects(policy: SoundSizing, pod: SizedPod) -> bool:
    match = policy.spec.match
    _, kind, name = pod.workload
    return (
        _is_among(pod.namespace, match.namespaces, match.excluded_namespaces)
        and _is_among(name, match.names, match.excluded_names)
        and _is_among(kind, match.kinds, ())
        and policy.pods.matches(pod.labels)
    )


def _is_among(name: str, wanted: Sequence[str], excluded: Sequence[str]) -> bool:
    if excluded and fits_any(name, excluded):
        return False
    return not wanted or fits_any(name, wanted)
