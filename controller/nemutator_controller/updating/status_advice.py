"""The advice on a policy's workloads that its status shows, bounded in number and in size: pure."""

from collections.abc import Mapping

from nemutator_controller.kube.quantities import Quantity
from nemutator_controller.updating.objects import (
    RecommendedForContainer,
    RecommendedForWorkload,
    RecommendedTexts,
)
from nemutator_controller.updating.records import (
    AmountAdvice,
    ContainerAdvice,
    ResourceName,
    SizedContainer,
    SizedPod,
)

MOST_WORKLOADS = 100
"""Of one policy. All of them stand in /api/v1/advice: an object in etcd is no place for thousands."""
MOST_CONTAINERS = 20
LONGEST_REASON = 200
LONGEST_NAME = 253


def recommended_for(pod: SizedPod, advice: Mapping[str, ContainerAdvice]) -> RecommendedForWorkload:
    """Of what makes *pod*, whose requests stand for those of all its pods."""
    namespace, kind, name = pod.workload
    return RecommendedForWorkload(
        namespace=namespace[:LONGEST_NAME],
        kind=kind[:LONGEST_NAME],
        name=name[:LONGEST_NAME],
        containers=tuple(
            _container(each, advice.get(each.name)) for each in pod.containers[:MOST_CONTAINERS]
        ),
    )


def _container(container: SizedContainer, known: ContainerAdvice | None) -> RecommendedForContainer:
    requested, called = _texts(container.requests), container.name[:LONGEST_NAME]
    if known is None:
        return RecommendedForContainer(called, requested=requested, reason="no advice yet")
    amounts = known.amounts
    return RecommendedForContainer(
        called,
        is_firm=known.is_firm,
        requested=requested,
        target=_texts({name: each.target for name, each in amounts.items()}),
        lower_bound=_texts(_bounds(amounts, "lower")),
        upper_bound=_texts(_bounds(amounts, "upper")),
        strategy=RecommendedTexts(
            **{name: each.hourly for name, each in amounts.items() if each.hourly}
        ),
        # It says how much was seen, which changes all the time, once it is firm.
        reason=_reason(known)[:LONGEST_REASON],
    )


def _reason(known: ContainerAdvice) -> str:
    if not known.is_firm or not known.amounts:
        return known.reason
    return f"not hourly: {known.not_hourly}" if known.not_hourly else ""


def _bounds(amounts: Mapping[ResourceName, AmountAdvice], side: str) -> dict[str, Quantity]:
    found = {name: getattr(each, side) for name, each in amounts.items()}
    return {name: amount for name, amount in found.items() if amount is not None}


def _texts(amounts: Mapping[str, Quantity]) -> RecommendedTexts:
    found = {name: str(amount) for name, amount in amounts.items()}
    return RecommendedTexts(cpu=found.get("cpu", ""), memory=found.get("memory", ""))
