"""History, put together: what containers used, as reports say it, and who asks for it."""

from nemutator_controller.app.context import BrainContext
from nemutator_controller.app.parts import Part, Task, TaskPhase
from nemutator_controller.app.prometheus import prometheus
from nemutator_controller.app.remote_write import remote_write
from nemutator_controller.history.endpoint import WorkloadHistoryApi
from nemutator_controller.history.fleet.endpoint import FleetHistoryApi
from nemutator_controller.history.fleet.sql import SqlSavedHistories
from nemutator_controller.history.older_reading import ReadingBack
from nemutator_controller.history.remote_writing import RemoteWriting
from nemutator_controller.history.saving import UsageHistorySaver
from nemutator_controller.history.sql import SqlUsageHistory
from nemutator_controller.history.usage_history import UsageHistory
from nemutator_controller.sizing.keys import ByPath, ContainerKey


def usage_history(context: BrainContext) -> UsageHistory:
    owners = context.cluster.usage_owners if context.cluster else ByPath()
    return UsageHistory(owners.of, most=context.settings.history_containers)


def history_saver(context: BrainContext, usage: UsageHistory) -> UsageHistorySaver:
    store = SqlUsageHistory(context.database, ContainerKey)
    return UsageHistorySaver(usage, store, context.process)


def history_part(context: BrainContext, usage: UsageHistory, saver: UsageHistorySaver) -> Part:
    settings, process = context.settings, context.process
    tasks = []
    cluster = settings.remote_write_cluster or settings.cluster_name
    external = {"cluster": cluster} if cluster else {}
    receiver, source = (
        remote_write(settings, process),
        prometheus(settings, process, context.cluster),
    )
    if receiver is not None:
        writing = RemoteWriting(usage, receiver, process, external)
        tasks.append(Task(TaskPhase.WORK, "write history", writing.run))
    older = None if source is None else ReadingBack(source, process, external)
    histories = SqlSavedHistories(context.database, settings.cluster_name, ContainerKey)
    fleet = FleetHistoryApi(histories, settings.cluster_name, process)
    routes = [*WorkloadHistoryApi(usage, process, older).routes(), *fleet.routes()]
    if context.shared:
        # Whichever brain learns saves it, too (nodes.py).
        return Part(routes=routes, tasks=tasks)
    tasks += [
        Task(TaskPhase.SAVE, "history", saver.run),
        Task(TaskPhase.SAVE, "settle history", saver.settle),
    ]
    return Part(routes=routes, restore=saver.restore, tasks=tasks)
