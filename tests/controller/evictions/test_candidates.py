from nemutator_controller.evictions.candidates import candidates
from nemutator_controller.evictions.records import EvictablePod, OwningWorkload

WEB = OwningWorkload("shop", "Deployment", "web")


def pod(uid: str, *, is_ready: bool = True, workload: OwningWorkload | None = WEB) -> EvictablePod:
    return EvictablePod("shop", uid, uid, "n1", workload, is_ready)


def chosen(pods: list[EvictablePod], *wanted: EvictablePod) -> list[str]:
    return [one.uid for one in candidates(pods, set(wanted))]


def test_one_of_each_workload_goes_first() -> None:
    first, second = pod("a"), pod("b")
    other = pod("c", workload=OwningWorkload("shop", "Deployment", "other"))
    same_name = pod("d", workload=OwningWorkload("bank", "Deployment", "web"))
    several = [first, second, other, same_name]
    assert chosen(several, *several) == ["a", "c", "d"]


def test_nothing_changes_for_those_whose_secrets_have_not() -> None:
    assert chosen([pod("a"), pod("b")]) == []
    assert chosen([pod("a"), pod("b")], pod("b")) == ["b"]


def test_a_ready_pod_stays_while_another_of_its_workload_is_not_ready() -> None:
    outdated, starting = pod("a"), pod("b", is_ready=False)
    assert chosen([outdated, starting], outdated) == []


def test_a_pod_that_serves_nobody_comes_first() -> None:
    ready, waiting = pod("a"), pod("b", is_ready=False)
    assert chosen([ready, waiting], ready, waiting) == ["b"]


def test_a_pod_without_a_workload_is_never_one() -> None:
    alone = pod("a", workload=None)
    assert chosen([alone], alone) == []
