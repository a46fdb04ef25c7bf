"""What is advised for the containers of a pod whose policy follows CPU hourly, and how often that has changed it: pure.

Where there is no hourly request, because too little is known or what is known is not to be relied on, advice holds as for
any other policy.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from nemutator_controller.daily_changes import MOST_WITH_RISES
from nemutator_controller.mutations.globs import fits_any
from nemutator_controller.updating.model import SoundSizing
from nemutator_controller.updating.ports import HourlyAdvice
from nemutator_controller.updating.records import (
    AmountAdvice,
    ContainerAdvice,
    GivenAmount,
    HourlyAmount,
    SizedContainer,
    SizedPod,
    SizedWorkload,
)

DAY_S = 86_400.0

LIMITED = "its CPU limit is what it requests, and would follow it: what it uses is what it may"


def is_hourly(policy: SoundSizing) -> bool:
    cpu = policy.spec.resources.cpu
    return cpu.enabled and cpu.strategy == "Hourly"


def hourly_containers(pod: SizedPod, policy: SoundSizing) -> Iterator[tuple[SizedWorkload, str]]:
    """Those whose hours are to be kept."""
    if is_hourly(policy):
        yield from ((pod.workload, one.name) for one in _sized(pod, policy))


def with_hourly(
    pod: SizedPod,
    policy: SoundSizing,
    advice: Mapping[str, ContainerAdvice],
    hourly: HourlyAdvice,
) -> Mapping[str, ContainerAdvice]:
    """*advice* by name of the container, with what *hourly* says of CPU in its place."""
    if not is_hourly(policy):
        return advice
    found = dict(advice)
    for container in _sized(pod, policy):
        known = found.get(container.name)
        if known is not None:
            amount = hourly.of(pod.workload, container.name)
            found[container.name] = _followed(container, known, amount)
    return found


def _sized(pod: SizedPod, policy: SoundSizing) -> Iterator[SizedContainer]:
    globs = policy.spec.resources.containers
    return (one for one in pod.containers if not globs or fits_any(one.name, globs))


def _followed(
    container: SizedContainer, known: ContainerAdvice, amount: HourlyAmount | None
) -> ContainerAdvice:
    limit, request = (side.get("cpu") for side in (container.limits, container.requests))
    if limit is not None and limit == request:
        return replace(known, not_hourly=LIMITED)
    if amount is None or amount.target is None:
        why = "its hours are not gathered yet" if amount is None else amount.reason
        return replace(known, not_hourly=why)
    if not known.is_firm:
        return replace(known, not_hourly="its advice is not firm")
    target = amount.target
    # The strategy itself says when a change is worth it: whatever differs is to be changed.
    exact = AmountAdvice(target=target, lower=target, upper=target, hourly=amount.strategy)
    return replace(known, amounts={**known.amounts, "cpu": exact})


@dataclass(slots=True)
class ChangesOfDay:
    """When the CPU of containers was changed, by the uid of their pod; forgotten when the brain restarts."""

    _at: dict[str, dict[str, deque[float]]] = field(default_factory=dict, init=False)

    def note(self, uid: str, changes: Iterable[GivenAmount], now: float) -> None:
        changed = {each.container for each in changes if each.resource == "cpu"}
        for container in changed:
            of_pod = self._at.setdefault(uid, {})
            of_pod.setdefault(container, deque(maxlen=MOST_WITH_RISES)).append(now)

    def of(self, uid: str, now: float) -> Mapping[str, int]:
        """How often in the last 24 hours, by container."""
        return {
            container: sum(now - at < DAY_S for at in changed)
            for container, changed in self._at.get(uid, {}).items()
        }

    def forget(self, uids: Iterable[str]) -> None:
        """All but these."""
        there = set(uids)
        self._at = {uid: at for uid, at in self._at.items() if uid in there}
