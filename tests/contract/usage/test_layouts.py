"""Machines of others: their containers are named, counted and found by the uid of their pod."""

from pathlib import Path

import pytest
from nemutator_agent.app.known_groups import KnownGroups
from nemutator_agent.usage.cached_files import CachedFiles
from nemutator_agent.usage.hierarchies import with_ancestors
from nemutator_agent.usage.procfs import ProcfsReader
from nemutator_agent.usage.reports import report_of
from nemutator_common.wire import Report

from tests.contract.usage.trees import V1_MOUNTS, V2_MOUNTS, plant, v2_group
from tests.layouts import CONTAINERS, PODS, Layout, layouts

LAYOUTS = [pytest.param(layout, id=name) for name, layout in layouts().items()]

V1_GROUPS = {
    "/cpu,cpuacct": {"cpuacct.usage": "5000\n"},
    "/memory": {"memory.usage_in_bytes": "9000\n", "memory.stat": "total_inactive_file 2000\n"},
}


def planted(layout: Layout, root: Path) -> str:
    groups = {group for path in layout.paths.values() for group in with_ancestors(path)}
    return plant(
        root,
        mounts=V2_MOUNTS if layout.version == 2 else V1_MOUNTS,
        processes={
            pid: (role, layout.text(path))
            for pid, (role, path) in enumerate(layout.paths.items(), start=2)
        },
        groups={group: v2_group() for group in groups}
        if layout.version == 2
        else {f"{mount}{group}": files for group in groups for mount, files in V1_GROUPS.items()},
    )


def reported(root: str) -> Report:
    reader = ProcfsReader(CachedFiles(most=999), most_processes=99, most_groups=99, root=root)
    snapshot = reader.snapshot(at=1.0, monotonic=1.0)
    return report_of(None, snapshot, facts=reader.facts(), runtimes={})


@pytest.mark.parametrize("layout", LAYOUTS)
def test_each_container_is_named_and_counted(layout: Layout, tmp_path: Path) -> None:
    report = reported(planted(layout, tmp_path))
    containers = [
        workload
        for workload in report.workloads
        if workload.kind == "container" and workload.pod_uid in PODS.values()
    ]
    found = {workload.container_id: workload.pod_uid for workload in containers}
    assert found == {CONTAINERS[role]: PODS[role] for role in layout.paths}
    assert len(containers) == len(found)
    assert all(workload.memory_bytes for workload in containers)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_pods_group_is_found_by_its_uid(layout: Layout, tmp_path: Path) -> None:
    groups = KnownGroups(root=planted(layout, tmp_path))
    for role in ("guaranteed", "burstable", "besteffort", "static"):
        path = layout.paths[role]
        group = path[: path.rindex("/", 0, path.index(CONTAINERS[role]))]
        # Two where systemd's hierarchy has another path than those that count.
        assert set(groups.of_pod(PODS[role])) == {group, group.removeprefix(layout.outer)}
