import pytest
from nemutator_agent.inspection.identities import ProcessId
from nemutator_agent.usage.sandboxes import without_sandboxes
from nemutator_agent.usage.snapshot import GroupCounters, MachineSnapshot, ProcessCounters
from nemutator_common.wire import Pressures

from tests.fakes.snapshots import process, snapshot

POD = "/kubepods.slice/kubepods-pod0f0e0d0c_0000_4000_8000_000000000001.slice"
SANDBOX, APP = (f"{POD}/cri-containerd-{letter * 64}.scope" for letter in "ab")
NO_POD = f"/system.slice/docker-{'c' * 64}.scope"


def paused(path: str = SANDBOX, *, command: bytes = b"pause", threads: int = 1) -> ProcessCounters:
    return process(path, command=command)._replace(threads=threads)


def seen(*processes: ProcessCounters) -> MachineSnapshot:
    return snapshot(
        0.0,
        groups={path: GroupCounters(7, 0, 0, Pressures()) for path in (POD, SANDBOX, APP, NO_POD)},
        processes={ProcessId(pid, 0): one for pid, one in enumerate(processes, 1)},
    )


def test_a_sandbox_is_left_out_with_its_process() -> None:
    app = process(APP, command=b"server")
    left = without_sandboxes(seen(paused(), app))
    assert list(left.processes.values()) == [app]
    assert set(left.groups) == {POD, APP, NO_POD}, "the pod itself is still there"


@pytest.mark.parametrize(
    "processes",
    [
        (),
        (paused(NO_POD),),
        (paused(POD),),
        (paused(command=b"pauser"),),
        (paused(threads=2),),
        (paused(), paused()),
        (paused(), process(SANDBOX, command=b"server")),
        (process(SANDBOX, command=b"server"), paused()),
    ],
)
def test_everything_else_is_reported(processes: tuple[ProcessCounters, ...]) -> None:
    before = seen(*processes)
    assert without_sandboxes(before) == before
