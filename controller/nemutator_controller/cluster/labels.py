"""What a cgroup has in place of a namespace and labels, so that `-n` and `-l` mean something."""

from collections.abc import Iterable, Mapping

from nemutator_common.wire import Process, Runtime, Workload


def namespace_of(path: str) -> str:
    """The first element of a cgroup's path: its slice, as a rule. `/` for the root."""
    return path.strip("/").partition("/")[0] or "/"


def runtimes_by_workload(processes: Iterable[Process]) -> dict[str, Runtime]:
    """The runtime of each workload whose processes agree on one; those of unknown kind abstain."""
    seen: dict[str, set[Runtime]] = {}
    for process in processes:
        if process.runtime is not None:
            seen.setdefault(process.workload, set()).add(process.runtime)
    return {path: next(iter(kinds)) for path, kinds in seen.items() if len(kinds) == 1}


def labels_of(workload: Workload, *, node: str, runtime: Runtime | None) -> Mapping[str, str]:
    """What a selector can ask for; what is not known is not there."""
    labels = {
        "kind": workload.kind,
        "name": workload.name,
        "node": node,
        "namespace": namespace_of(workload.path),
        "runtime": runtime,
        "pod": workload.pod_uid,
        "container": workload.container_id,
    }
    return {key: value for key, value in labels.items() if value is not None}
