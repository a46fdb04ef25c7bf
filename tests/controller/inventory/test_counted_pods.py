from nemutator_controller.inventory.counted_pods import NO_PODS, CountedPod, PodUse
from nemutator_controller.inventory.figures import counted_pods

from tests.fakes.inventory import NOW, FixedUse, counted_pod, last_use
from tests.fakes.pods import picture

PODS = counted_pods(
    picture(*(counted_pod(name, node=name[:2]) for name in ("n1-a", "n1-b", "n2-a", "n3-a"))),
    FixedUse({"n1": [last_use("n1-a", 0.5, 8.0), last_use("n1-b", 0.25, 4.0)], "n2": []}),
    now=NOW,
)


def test_each_is_what_its_columns_say() -> None:
    assert len(PODS) == 4
    found = {each.pod.metadata.name: each for each in PODS}
    uses = {
        name: None if each.use is None else each.use.cpu_cores() for name, each in found.items()
    }
    assert uses == {"n1-a": 0.5, "n1-b": 0.25, "n2-a": None, "n3-a": None}
    assert [PODS[number] for number in range(4)] == list(PODS)
    for number, each in enumerate(PODS):
        node, owner = PODS.nodes[number], PODS.owners[number]
        use = None if node is None else PodUse(node, PODS.by_status[number], PODS.ended[number])
        assert each == CountedPod(PODS.pods[number], owner, PODS.demands[number], use)
        assert each.workload == (each.pod.metadata.namespace, owner.kind, owner.name)


def test_a_part_has_the_same_ones() -> None:
    several = list(PODS)
    assert list(PODS[1:3]) == several[1:3]
    assert list(PODS.of([3, 0])) == [several[3], several[0]]
    assert list(PODS.of([])) == list(NO_PODS) == []


def test_pods_whose_series_have_the_same_numbers_share_them() -> None:
    one, other = counted_pods(
        picture(counted_pod("a", node="n1"), counted_pod("b", node="n2")),
        FixedUse({"n1": [last_use("a", 0.5, 8.0)], "n2": [last_use("b", 0.5, 8.0)]}),
        now=NOW,
    ).by_status
    assert one is other
