"""The sandbox of each pod: a container that nobody asked for, whose one process waits for the pod's end.

Runtimes make it to hold the pod's namespaces, and nobody can give it resources or is interested in it. A third
of all containers on a node are sandboxes, so reports leave them out.
"""

from collections.abc import Mapping
from dataclasses import replace

from nemutator_agent.inspection.identities import ProcessId
from nemutator_agent.usage.group_names import name_group
from nemutator_agent.usage.snapshot import MachineSnapshot, ProcessCounters

COMMAND = b"pause"
"""What Kubernetes' own image runs, and those that take its place."""


def without_sandboxes(snapshot: MachineSnapshot) -> MachineSnapshot:
    """*snapshot* without the containers of pods that hold this one program, alone and with one thread."""
    found = _sandboxes(snapshot.processes)
    if not found:
        return snapshot
    return replace(
        snapshot,
        groups={path: counters for path, counters in snapshot.groups.items() if path not in found},
        processes={
            identity: process
            for identity, process in snapshot.processes.items()
            if process.path not in found
        },
    )


def _sandboxes(processes: Mapping[ProcessId, ProcessCounters]) -> frozenset[str]:
    waiting: set[str] = set()
    others: set[str] = set()
    for process in processes.values():
        alike = process.command == COMMAND and process.threads == 1
        if alike and process.path not in waiting and _is_of_a_pod(process.path):
            waiting.add(process.path)
        else:
            others.add(process.path)
    return frozenset(waiting - others)


def _is_of_a_pod(path: str) -> bool:
    naming = name_group(path)
    return naming.kind == "container" and naming.pod_uid is not None
