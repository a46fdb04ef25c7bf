from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.inventory.amounts import CpuMemory
from nemutator_controller.inventory.counted_pods import NO_PODS, CountedPods
from nemutator_controller.inventory.figures import counted_pods
from nemutator_controller.inventory.model import Tally
from nemutator_controller.inventory.tallies import PodSums

from tests.fakes.inventory import NOW, FixedUse, Used, counted_pod, last_use
from tests.fakes.pods import picture

amounts = st.none() | st.integers(0, 1 << 20).map(float)


@st.composite
def counted(draw: st.DrawFn) -> CountedPods:
    pods, used = [], list[Used]()
    for number in range(draw(st.integers(0, 4))):
        name = f"p-{number}"
        pods.append(
            counted_pod(
                name,
                node=draw(st.sampled_from(["n1", ""])),
                phase=draw(st.sampled_from(["Running", "Pending"])),
                ready=draw(st.booleans()),
                restarts=draw(st.integers(0, 3)),
                requests=draw(st.sampled_from([{}, {"cpu": "250m", "memory": "1Gi"}])),
            )
        )
        if draw(st.booleans()):
            used.append(last_use(name, draw(amounts), draw(amounts), throttled=0.25))
    return counted_pods(picture(*pods), FixedUse({"n1": used}), now=NOW)


@given(counted(), st.data())
def test_groups_have_the_sums_of_their_pods(pods: CountedPods, data: st.DataObject) -> None:
    sums, of = PodSums(pods), [data.draw(st.integers(-1, 2)) for _ in pods]
    groups = [Tally(), Tally(), Tally()]
    for each, group in zip(sums.each(), of, strict=True):
        if group >= 0:
            groups[group].add(each)
    assert sums.by(of, 3) == groups


def test_pods_of_many_nodes_have_the_same_sums_when_they_are_read_part_by_part() -> None:
    names = [f"{node}-{pod}" for node in ("n1", "n2", "n3") for pod in range(3)]
    pods = [counted_pod(name, node=name[:2], requests={"cpu": "1"}) for name in names]
    used = {
        node: [last_use(f"{node}-{pod}", 0.1 * pod + 0.25, 8.0) for pod in range(2)]
        for node in ("n1", "n3")
    }
    counted = counted_pods(picture(*pods), FixedUse(used), now=NOW)
    whole, parts = PodSums(counted), PodSums(counted, pods_at_once=2, nodes_at_once=1)
    assert parts.each() == whole.each()
    assert [one.cpu_cores is None for one in whole.each()].count(False) == 4
    assert parts.by([0] * len(names), 1) == whole.by([0] * len(names), 1)


def test_each_pod_has_what_its_status_its_spec_and_its_node_say() -> None:
    pods = [
        counted_pod("a", node="n1", restarts=2, last_end="OOMKilled", requests={"cpu": "1"}),
        counted_pod("b", phase="Pending", ready=False, node=""),
    ]
    use = FixedUse({"n1": [last_use("a", 0.5, 10.75, throttled=0.5, network_received=3.0)]})
    counted = counted_pods(picture(*pods), use, now=NOW)
    sums = dict(
        zip((each.pod.metadata.name for each in counted), PodSums(counted).each(), strict=True)
    )
    assert sums["a"] == Tally(
        pods=1, ready=1, restarts=2, oom_ended=1, requests=CpuMemory(1000, 0),
        cpu_cores=0.5, memory_bytes=10, throttled=0.5, network_received=3.0,
    )  # fmt: skip
    assert sums["b"] == Tally(pods=1, pending=1, unscheduled=1)


def test_containers_of_a_pod_add_up_and_share_one_network() -> None:
    first = last_use("a", 0.5, 10.0, throttled=0.25, network_sent=8.0)
    series, second = last_use("a", 0.25, 1.0, throttled=0.5, network_sent=8.0)
    beside = series.__class__(series.path, series.pod_uid, "c-beside", None), second
    [pod] = PodSums(
        counted_pods(
            picture(counted_pod("a", node="n1")), FixedUse({"n1": [first, beside]}), now=NOW
        )
    ).each()
    assert (pod.cpu_cores, pod.memory_bytes) == (0.75, 11)
    assert (pod.throttled, pod.network_sent) == (0.5, 8.0)


def test_no_pods_are_no_sums() -> None:
    assert PodSums(NO_PODS).each() == []
    assert PodSums(NO_PODS).by([], 1) == [Tally()]
