"""What a cgroup is called, so that `-n` and `-l` mean something: after its pod, or its path."""

from collections.abc import Iterable, Mapping

from nemutator_common.wire import ProcessUsage, Runtime, Workload

from nemutator_controller.cluster.pods import RunningPod


def namespace_of(path: str) -> str:
    """The first element of a cgroup's path: its slice, as a rule. `/` for the root."""
    return path.strip("/").partition("/")[0] or "/"


def name_of(workload: Workload, placed: RunningPod | None) -> str:
    """What to show: the container's or the pod's name where they are known."""
    if placed is None:
        return workload.name
    return (placed.container or workload.name) if workload.container_id else placed.pod


def runtimes_by_workload(processes: Iterable[ProcessUsage]) -> dict[str, Runtime]:
    """The runtime of each workload whose processes agree on one; those of unknown kind abstain."""
    seen: dict[str, set[Runtime]] = {}
    for process in processes:
        if process.runtime is not None:
            seen.setdefault(process.workload, set()).add(process.runtime)
    return {path: next(iter(kinds)) for path, kinds in seen.items() if len(kinds) == 1}


def labels_of(
    workload: Workload, *, node: str, runtime: Runtime | None, placed: RunningPod | None = None
) -> Mapping[str, str]:
    """What a selector can ask for; what is not known is not there."""
    labels = {
        "kind": workload.kind,
        "name": name_of(workload, placed),
        "node": node,
        "namespace": placed.namespace if placed else namespace_of(workload.path),
        "runtime": runtime,
        "pod": placed.pod if placed else workload.pod_uid,
        "container": (placed and placed.container) or workload.container_id,
        "owner": f"{placed.owner.kind}/{placed.owner.name}" if placed else None,
    }
    return {key: value for key, value in labels.items() if value is not None}
