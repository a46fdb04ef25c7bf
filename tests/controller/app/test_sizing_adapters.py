from dataclasses import dataclass
from typing import cast

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nemutator_controller.app.sizing_adapters import MemoryOfKilled, requested
from nemutator_controller.cluster.pods import ClusterSnapshot
from nemutator_controller.cluster.watching import ClusterWatch
from nemutator_controller.ingest.usage_points import Series
from nemutator_controller.kube.objects import Container, Pod, PodSpec, PodStatus, Resources
from nemutator_controller.sizing.keys import ContainerKey, Requested

from tests.fakes.pods import kube_object, owned, picture, pod

REPLICA_SETS = tuple(
    kube_object(name, f"uid-{name}", owned("Deployment", name[:-1], "d"))
    for name in ("a1", "a2", "b1")
)
MANAGERS = ("a1", "a2", "b1", "")


@st.composite
def pods(draw: st.DrawFn) -> list[Pod]:
    found = []
    for number in range(draw(st.integers(0, 8))):
        manager = draw(st.sampled_from(MANAGERS))
        made = pod(
            f"pod-{number}",
            uid=f"u{number}",
            owners=owned("ReplicaSet", manager, f"uid-{manager}") if manager else (),
        )
        amounts = {"cpu": f"{draw(st.integers(1, 3))}00m"}
        container = Container(name="app", resources=Resources(requests=amounts))
        day = draw(st.integers(1, 3))
        found.append(
            msgspec.structs.replace(
                made,
                metadata=msgspec.structs.replace(
                    made.metadata, creation_timestamp=f"2026-01-0{day}T00:00:00Z"
                ),
                spec=PodSpec(containers=(container,), node_name="n1"),
                status=PodStatus(phase=draw(st.sampled_from(["Running", "Succeeded"]))),
            )
        )
    return found


@settings(max_examples=30)
@given(pods())
def test_the_newest_pod_of_a_workload_says_what_is_requested_and_those_that_run_are_counted(
    several: list[Pod],
) -> None:
    workloads: dict[tuple[str, str], list[Pod]] = {}
    for one in several:
        owner = one.metadata.controller
        key = ("Pod", one.metadata.name) if owner is None else ("Deployment", owner.name[:-1])
        workloads.setdefault(key, []).append(one)
    found = requested(picture(*several, replica_sets=REPLICA_SETS))
    assert {(key.owner_kind, key.owner) for key in found} == workloads.keys()
    for (kind, name), theirs in workloads.items():
        asked = found[ContainerKey("shop", kind, name, "app")]
        created = max(one.metadata.creation_timestamp for one in theirs)
        newest = [one for one in theirs if one.metadata.creation_timestamp == created]
        amounts = [one.spec.containers[0].resources.requests["cpu"] for one in newest]
        assert f"{asked.cpu_millis}m" in amounts
        assert asked == Requested(
            asked.cpu_millis, None, max(1, sum(one.is_running for one in theirs))
        )


@dataclass(frozen=True)
class Watched:
    pods: ClusterSnapshot

    def snapshot(self) -> ClusterSnapshot:
        return self.pods


MI = 2**20


@pytest.mark.parametrize(
    ("request_mi", "limit_mi", "had_mi"),
    [(256, None, 256), (256, 512, 512), (None, 512, 512), (64, 512, 256), (256, 256, 256)],
)
def test_what_was_killed_had_its_limit_as_far_as_that_can_be_said(
    request_mi: int | None, limit_mi: int | None, had_mi: int
) -> None:
    requests = {} if request_mi is None else {"memory": f"{request_mi}Mi"}
    limits = {} if limit_mi is None else {"memory": f"{limit_mi}Mi"}
    container = Container(name="app", resources=Resources(requests=requests, limits=limits))
    killed = msgspec.structs.replace(pod(), spec=PodSpec(containers=(container,), node_name="n1"))
    series = Series(path="", pod_uid="u1", container_id="c1", program=None)
    watch = cast("ClusterWatch", Watched(picture(killed)))
    assert MemoryOfKilled(watch).of(series) == had_mi * MI
