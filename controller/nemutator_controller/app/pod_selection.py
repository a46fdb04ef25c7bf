"""Selectors, put together."""

from nemutator_controller.app.context import BrainContext
from nemutator_controller.app.parts import Part, Task, TaskPhase
from nemutator_controller.pod_selection.endpoint import UnwantedApi
from nemutator_controller.pod_selection.watching import SelectorWatching


def selector_watching(context: BrainContext) -> SelectorWatching | None:
    """None: there is no cluster."""
    cluster = context.cluster
    if cluster is None:
        return None
    return SelectorWatching(cluster.workloads, cluster.watch.pods, context.process)


def pod_selection_part(watching: SelectorWatching | None) -> Part:
    tasks = {} if watching is None else watching.tasks()
    return Part(
        uplink=UnwantedApi(watching).routes(),
        tasks=[Task(TaskPhase.WATCH, name, body) for name, body in tasks.items()],
    )
