"""Profiles, put together: who asks for them, which agent takes them, where they are kept."""

from collections.abc import Callable

from nemutator_controller.app.context import BrainContext
from nemutator_controller.app.objects import object_store
from nemutator_controller.app.parts import Part, Task, TaskPhase
from nemutator_controller.app.profile_pushes import push_destinations
from nemutator_controller.cluster.nodes import Nodes
from nemutator_controller.cluster.topology import NO_PODS
from nemutator_controller.profiles.agents import AgentsApi
from nemutator_controller.profiles.annotated import AnnotatedProfiles
from nemutator_controller.profiles.endpoint import PATH, ProfilesApi
from nemutator_controller.profiles.fleet.endpoint import FleetProfilesApi
from nemutator_controller.profiles.fleet.sql import SqlClusterProfiles
from nemutator_controller.profiles.profile_queue import ProfileQueue
from nemutator_controller.profiles.pushing import ProfilePushing
from nemutator_controller.profiles.records import KnownPod
from nemutator_controller.profiles.separating import SeparatedProfiles
from nemutator_controller.profiles.sql import SqlProfiles
from nemutator_controller.profiles.target_offers import TargetOffers
from nemutator_controller.profiles.targets_endpoint import TargetsApi


class NoNamedPods:
    """Off clusters no pod has a name. A `KnownPods`."""

    def find(self, name: str) -> KnownPod | None:
        return None


def profiles_part(context: BrainContext, nodes: Nodes, console_url: Callable[[], str]) -> Part:
    settings, cluster = context.settings, context.cluster

    def link(identity: str) -> str:
        return f"{console_url()}{PATH}/{identity}/flamegraph"

    documents, objects = SqlProfiles(context.database), object_store(settings, context.process)
    store = documents if objects is None else SeparatedProfiles(documents, objects)
    queue = ProfileQueue(
        store,
        most=settings.profiles,
        most_bytes=settings.profile_bytes,
        process=context.process,
        shared=context.shared,
    )

    def of_cluster(name: str) -> SqlClusterProfiles:
        return SqlClusterProfiles(context.database, name, settings.cluster_name, objects)

    fleet = FleetProfilesApi(of_cluster, console_url, context.process)
    pods = cluster.pods if cluster else NoNamedPods()
    targets = TargetOffers(nodes.all, cluster.watch if cluster else NO_PODS)
    api = ProfilesApi(
        queue,
        store,
        nodes=nodes.all,
        pods=pods,
        targets=targets,
        link=link,
        process=context.process,
    )
    tasks = [Task(TaskPhase.WORK, "profiles", queue.run)]
    for destination in push_destinations(settings, context.process):
        pushing = ProfilePushing(destination, store, context.process)
        queue.subscribe(pushing.note)
        tasks.append(Task(TaskPhase.SAVE, f"profiles to {destination.name}", pushing.run))
    if cluster:
        annotated = AnnotatedProfiles(
            queue, cluster.annotated, cluster.results, link=link, process=context.process
        )
        tasks += [
            Task(TaskPhase.WORK, "annotated pods", annotated.ask, alone=True),
            Task(TaskPhase.WORK, "results on pods", annotated.write),
        ]
    return Part(
        routes=[*api.routes(), *fleet.routes(), *TargetsApi(targets).routes()],
        uplink=AgentsApi(queue, process=context.process).routes(),
        restore=queue.restore,
        tasks=tasks,
    )
