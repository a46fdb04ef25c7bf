from collections.abc import Mapping
from typing import Any

import pytest
from nemutator_controller.kube.quantities import parse_quantity
from nemutator_controller.mutations.decisions import Edit
from nemutator_controller.mutations.stamps import stamp_of
from nemutator_controller.updating.records import (
    GivenAmount,
    NotResizedError,
    PodChangedError,
    ResizeInPlace,
    SizedPod,
)
from nemutator_controller.updating.resize_writing import ResizeWriter

from tests.fakes.process import fake_process
from tests.fakes.sized_pods import (
    MemorySizedPods,
    MemorySizingJournal,
    pod_document,
    pod_of,
)

UID = "u-web-1"
CPU = "containers[name=app].resources.requests.cpu"
LARGER = ResizeInPlace(
    (
        GivenAmount(
            container="app",
            side="requests",
            resource="cpu",
            before=parse_quantity("100m"),
            after=parse_quantity("150m"),
            reason="it is used",
        ),
    )
)


class Pods(MemorySizedPods):
    def __init__(self) -> None:
        super().__init__(pod_document(requests={"cpu": "100m"}))
        self.journal = MemorySizingJournal()
        self.recorded_first = True
        self.races_after_the_stamp = 0

    async def write_larger(self) -> str:
        writer = ResizeWriter(self, self.journal, fake_process(), lambda: "d1")
        document = self.documents[UID]
        return await writer.write(pod_of(document), document, "1", LARGER, "small-pods")

    async def stamp(
        self, pod: SizedPod, document: Mapping[str, Any], version: str, edit: Edit
    ) -> tuple[Mapping[str, Any], str]:
        self.recorded_first &= bool(self.journal.decisions)
        stamped = await super().stamp(pod, document, version, edit)
        self.races = self.races_after_the_stamp
        return stamped

    @property
    def cpu(self) -> str:
        return str(self.requests()["cpu"])

    @property
    def is_stamped(self) -> bool:
        return stamp_of(self.documents[UID], "Pod") is not None


async def test_the_record_stands_before_the_pod_is_touched() -> None:
    pods = Pods()
    assert "100m → 150m" in await pods.write_larger()
    assert (pods.cpu, pods.is_stamped, pods.recorded_first) == ("150m", True, True)
    [decision] = pods.journal.decisions
    assert [(each.path, each.before, each.after, each.policy) for each in decision.edits] == [
        (CPU, ("100m",), ("150m",), "small-pods")
    ]


async def test_what_is_refused_beforehand_leaves_no_record_and_no_stamp() -> None:
    pods = Pods()
    pods.refusal = NotResizedError("a quota", again=False)
    with pytest.raises(NotResizedError, match="a quota"):
        await pods.write_larger()
    assert (pods.cpu, pods.is_stamped, pods.journal.decisions) == ("100m", False, [])


async def test_what_is_refused_in_truth_takes_its_stamp_off_again() -> None:
    pods = Pods()
    pods.late_refusal = NotResizedError("the node is gone", again=True)
    with pytest.raises(NotResizedError, match="the node is gone"):
        await pods.write_larger()
    assert (pods.cpu, pods.is_stamped) == ("100m", False)


async def test_whoever_wrote_the_pod_since_it_was_read_is_not_written_over() -> None:
    pods = Pods()
    pods.write("web-1", Edit(path=CPU, before=("100m",), after=("120m",), verb="x", policy=""))
    with pytest.raises(PodChangedError):
        await pods.write_larger()
    assert (pods.cpu, pods.is_stamped) == ("120m", False)


async def test_a_status_that_kubelet_writes_in_between_is_outlived() -> None:
    pods = Pods()
    pods.races_after_the_stamp = 2
    await pods.write_larger()
    assert (pods.cpu, pods.is_stamped) == ("150m", True)
