"""Sizing, put together: advice from what containers used."""

from collections.abc import Mapping

from nemutator_controller.app.context import BrainContext
from nemutator_controller.app.parts import Part, Task, TaskPhase
from nemutator_controller.sizing.endpoint import AdviceApi
from nemutator_controller.sizing.keys import ContainerKey, Requested
from nemutator_controller.sizing.saving import UsageSaver
from nemutator_controller.sizing.sql import SqlUsages
from nemutator_controller.sizing.usages import Usages


class NoRequests:
    """Off clusters nobody requests anything. A `Requests`."""

    async def now(self) -> Mapping[ContainerKey, Requested]:
        return {}


def sizing_part(context: BrainContext, usages: Usages) -> Part:
    saver = UsageSaver(usages, SqlUsages(context.database), process=context.process)
    requests = context.cluster.requests if context.cluster else NoRequests()
    advice = AdviceApi(usages, requests, process=context.process)
    return Part(
        routes=advice.routes(),
        uplink=advice.uplink_routes(),
        restore=saver.restore,
        tasks=[Task(TaskPhase.SAVE, "usages", saver.run)],
    )
