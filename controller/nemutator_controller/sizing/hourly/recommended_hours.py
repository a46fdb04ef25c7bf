"""Hourly requests beside the advice of the same containers, for people."""

from collections.abc import Mapping

import msgspec

from nemutator_controller.sizing.documents import Advice, HourlyRecommendation
from nemutator_controller.sizing.hourly.requests import STRATEGY, HourlyRequest
from nemutator_controller.sizing.keys import ContainerKey


def with_hourly(
    advice: list[Advice], requests: Mapping[ContainerKey, HourlyRequest]
) -> list[Advice]:
    """*advice*, with what *requests* say of each container."""
    if not requests:
        return advice
    return [
        one
        if (found := requests.get(_key(one))) is None
        else msgspec.structs.replace(one, hourly=_recommended(found))
        for one in advice
    ]


def _key(advice: Advice) -> ContainerKey:
    return ContainerKey(advice.namespace, advice.owner_kind, advice.owner, advice.container)


def _recommended(request: HourlyRequest) -> HourlyRecommendation:
    return HourlyRecommendation(
        strategy=STRATEGY,
        begins_at=request.begins_at,
        cpu=None if request.millis is None else f"{request.millis}m",
        changes=request.changes,
        reason=request.reason,
    )
