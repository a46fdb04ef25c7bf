import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.prometheus_answers import PrometheusSeries
from nemutator_controller.sizing.keys import ContainerKey, Requested
from nemutator_controller.sizing.sources.named_owners import (
    NamedOwners,
    owner_by_name,
    requests_of,
)


def told(value: float = 1.0, **labels: str) -> PrometheusSeries:
    return PrometheusSeries({"namespace": "shop", **labels}, [1.0], [value])


@pytest.mark.parametrize(
    ("pod", "owner"),
    [
        ("cart-7c9d8f5b6d-x2x9k", ("Deployment", "cart")),
        ("redis-master-0", ("StatefulSet", "redis-master")),
        ("kube-proxy-zx4kq", ("DaemonSet", "kube-proxy")),
        ("alone", ("Pod", "alone")),
        ("by-hand", ("Pod", "by-hand")),
    ],
)
def test_pods_are_called_after_what_makes_them(pod: str, owner: tuple[str, str]) -> None:
    assert owner_by_name(pod) == owner


@given(st.text(max_size=80))
def test_any_name_has_an_owner(pod: str) -> None:
    kind, name = owner_by_name(pod)
    assert pod.startswith(name)
    assert kind


def test_kube_state_metrics_knows_better_than_a_name() -> None:
    owners = NamedOwners()
    owners.learn_pods(
        [
            told(pod="odd", owner_kind="ReplicaSet", owner_name="web-old"),
            told(pod="cart-0", owner_kind="<none>", owner_name="<none>"),
            told(pod="", owner_kind="ReplicaSet", owner_name="x"),
            told(
                pod="kube-state-metrics-1",
                exported_pod="scraped",
                exported_namespace="other",
                owner_kind="StatefulSet",
                owner_name="db",
            ),
        ]
    )
    owners.learn_makers(
        "ReplicaSet",
        "replicaset",
        [told(replicaset="web-old", owner_kind="Deployment", owner_name="web")],
    )
    assert owners.of("shop", "odd", "app") == ContainerKey("shop", "Deployment", "web", "app")
    assert owners.of("shop", "cart-0", "app") == ContainerKey("shop", "Pod", "cart-0", "app")
    assert owners.of("other", "scraped", "x") == ContainerKey("other", "StatefulSet", "db", "x")


def test_a_replica_set_of_which_nothing_is_told_is_cut_at_its_hash() -> None:
    owners = NamedOwners()
    owners.learn_pods([told(pod="p", owner_kind="ReplicaSet", owner_name="web-7c9d8f5b6d")])
    owners.learn_pods([told(pod="q", owner_kind="ReplicaSet", owner_name="plain")])
    owners.learn_pods([told(pod="r", owner_kind="Job", owner_name="nightly-28000000")])
    assert owners.of("shop", "p", "a") == ContainerKey("shop", "Deployment", "web", "a")
    assert owners.of("shop", "q", "a") == ContainerKey("shop", "ReplicaSet", "plain", "a")
    assert owners.of("shop", "r", "a") == ContainerKey("shop", "CronJob", "nightly", "a")


def test_of_several_pods_the_largest_request_counts() -> None:
    found = requests_of(
        [
            told(0.25, pod="web-0", container="app", resource="cpu"),
            told(0.5, pod="web-1", container="app", resource="cpu"),
            told(1e8, pod="web-1", container="app", resource="memory"),
            told(-1.0, pod="bad-0", container="app", resource="cpu"),
            told(1.0, pod="web-1", resource="cpu"),
        ],
        NamedOwners(),
    )
    assert found == {
        ContainerKey("shop", "StatefulSet", "web", "app"): Requested(500, 100_000_000, 2)
    }
