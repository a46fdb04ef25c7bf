from collections.abc import Mapping
from dataclasses import replace

from nemutator_common.wire import ProcessUsage, Workload
from nemutator_controller.cluster.nodes import ReportedNode
from nemutator_controller.cluster.pods import NoRunningPods, PodLookup, PodOwner, RunningPod
from nemutator_controller.profiles.offered_targets import (
    OfferedTarget,
    enumerated,
    listed,
    named,
    offered,
)

from tests.fakes.batches import busy_report, process, workload
from tests.fakes.profiles import NOW, POD

SHOP = "/system.slice/shop.service"
CART = "/kubepods/pod1"
APP = f"{CART}/app"


class PlacedPods:
    """A `PodLookup` of one pod."""

    def of(self, node: str, pod_uid: str | None, container_id: str | None) -> RunningPod | None:
        if pod_uid != POD.uid:
            return None
        container = "app" if container_id else None
        return RunningPod("shop", "cart-1", POD.uid, container, PodOwner("Deployment", "cart"))

    def namespace_of(self, node: str, pod_uid: str) -> str | None:
        return "shop" if pod_uid == POD.uid else None


def node(*processes: ProcessUsage, pods: Mapping[str, str] | None = None) -> ReportedNode:
    pod = replace(workload(CART), kind="pod", pod_uid=POD.uid, name=POD.uid, cpu_cores=0.9)
    container = replace(pod, path=APP, kind="container", container_id="c1", name="c1")
    root = replace(workload("/"), kind="root")
    groups: tuple[Workload, ...] = (root, workload(SHOP), pod, container)
    report = replace(busy_report(), workloads=groups, processes=processes)
    return ReportedNode.of("n1", "e1", 1, NOW, report)


def one(pid: int, command: str, of: str = SHOP, **changed: object) -> ProcessUsage:
    return replace(process(pid, of=of), command=command, **changed)  # type: ignore[arg-type]


PYTHON = one(9, "python3", runtime="python", script="/srv/sell.py", cpu_cores=3.0)


def targets(*processes: ProcessUsage, pods: PodLookup | None = None) -> list[OfferedTarget]:
    return offered(node(*processes), pods or NoRunningPods())


def test_go_comes_first_and_then_what_is_busy() -> None:
    found = targets(
        PYTHON, one(7, "shop"), one(8, "till", cpu_cores=2.0), one(6, "odd", cpu_cores=None)
    )
    assert [each.target for each in listed(found, "")] == [
        "pid:8", f"cgroup:{SHOP}", "pid:7", "pid:6", "pid:9",
    ]  # fmt: skip


def test_what_has_just_started_comes_last_however_busy_it_is() -> None:
    (old,) = targets(one(7, "shop", "/"))
    started_at = NOW - old.age_s
    brief = one(8, "sh", "/", cpu_cores=4.0, started_at=started_at + old.age_s - 5)
    found = targets(one(7, "shop", "/", runtime=None), brief)
    assert [each.target for each in listed(found, "")] == ["pid:7", "pid:8"]


def test_a_process_says_where_it_is_and_how_old() -> None:
    (process_, _) = targets(one(7, "shop"))
    assert (process_.name, process_.within, process_.age_s) == ("shop", "shop.service", 100)
    (alone,) = targets(one(7, "init", "/"))
    assert alone.within == ""


def test_a_pod_is_offered_by_the_name_that_the_cluster_knows() -> None:
    found = targets(one(7, "cart", APP), one(8, "pause", CART, runtime=None), pods=PlacedPods())
    pod = next(each for each in found if each.kind == "pod")
    assert (pod.target, pod.runtime, pod.cpu_cores, pod.processes) == ("shop/cart-1", "go", 0.9, 2)
    assert found[0].within == "shop/cart-1 app"
    nameless = targets(one(7, "cart", APP))
    assert [each.target for each in nameless] == ["pid:7", f"pod:{POD.uid}"]


def test_a_unit_of_one_process_is_left_to_that_process() -> None:
    assert [each.target for each in listed(targets(one(7, "shop")), "")] == ["pid:7"]


def test_every_word_of_a_search_must_be_somewhere() -> None:
    found = targets(PYTHON, one(7, "shop"))
    assert [each.target for each in listed(found, "SELL python")] == ["pid:9"]
    assert [each.target for each in listed(found, "shop.service go pid:")] == ["pid:7"]
    assert listed(found, "shop nothing") == []


def test_a_name_is_that_of_a_process_a_unit_a_pod_or_its_owner() -> None:
    everything = targets(PYTHON, one(7, "till"), one(8, "cart", APP), pods=PlacedPods())

    def found(name: str, *, units: bool = False) -> list[str]:
        return [each.target for each in named(everything, name, units=units)]

    assert found("till") == ["pid:7"]
    assert found("sell.py") == ["pid:9"]
    assert found("shop") == found("shop.service") == [f"cgroup:{SHOP}"]
    assert found("cart-1") == found("shop/cart-1") == ["shop/cart-1"]
    # The process of that name is in the pod of that owner.
    assert found("cart") == ["shop/cart-1"]
    assert found("till", units=True) == []
    assert found("shop", units=True) == [f"cgroup:{SHOP}"]
    assert found("sho") == []


def test_what_is_in_a_group_of_that_name_is_profiled_with_it() -> None:
    found = named(targets(one(7, "shop"), one(8, "shop"), one(9, "shop", "/")), "shop", units=False)
    assert [each.target for each in found] == ["pid:9", f"cgroup:{SHOP}"]


def test_a_few_of_many_are_named() -> None:
    many = targets(*(one(pid, "shop", "/") for pid in range(1, 8)))
    assert enumerated(many[:2]) == "pid:1 on n1, pid:2 on n1"
    assert enumerated(many).endswith("pid:5 on n1 and 2 more")
