"""The labels of a cgroup, by which `-n` and `-l` select: from its pod, or from its path."""

from collections.abc import Iterable, Mapping

from nemutator_common.wire import ProcessUsage, Runtime, Workload

from nemutator_controller.cluster.pods import RunningPod


def namespace_of(path: str) -> str:
    """The first element of a cgroup's path: its slice, as a rule. `/` for the root."""
    return path.strip("/").partition("/")[0] or "/"


def name_of(workload: Workload, placed: RunningPod | None) -> str:
    """The name that is shown: that of the container or pod, where it is known."""
    if placed is None:
        return workload.name
    return (placed.container or workload.name) if workload.container_id else placed.pod


def runtimes_by_workload(processes: Iterable[ProcessUsage]) -> dict[str, Runtime]:
    """The runtime of each workload whose processes agree on one; those of an unknown one do not count."""
    seen: dict[str, set[Runtime]] = {}
    for process in processes:
        if process.runtime is not None:
            seen.setdefault(process.workload, set()).add(process.runtime)
    return {path: next(iter(kinds)) for path, kinds in seen.items() if len(kinds) == 1}


def labels_of(
    workload: Workload, *, node: str, runtime: Runtime | None, placed: RunningPod | None = None
) -> Mapping[str, str]:
    """The labels that a selector can use; those that are not known are left out."""
    labels = {"kind": workload.kind, "name": name_of(workload, placed), "node": node}
    labels["namespace"] = placed.namespace if placed else namespace_of(workload.path)
    if runtime is not None:
        labels["runtime"] = runtime
    if (pod := placed.pod if placed else workload.pod_uid) is not None:
        labels["pod"] = pod
    if (container := (placed and placed.container) or workload.container_id) is not None:
        labels["container"] = container
    if placed:
        labels["owner"] = f"{placed.owner.kind}/{placed.owner.name}"
    return labels
