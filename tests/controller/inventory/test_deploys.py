from nemutator_controller.inventory.deploys import Deploy, deploys
from nemutator_controller.kube.objects import Metadata, Object, Owner

WHOLE = {"namespace": None, "workload": None, "since": 0.0, "limit": 10}


def replica_set(name: str, made: str, *, namespace: str = "shop", owner: str = "api") -> Object:
    owners = (Owner("Deployment", owner, "u", True),) if owner else ()
    return Object(Metadata(name, namespace, name, creation_timestamp=made, owner_references=owners))


FIRST = replica_set("api-1", "2026-01-01T00:00:00Z")
SECOND = replica_set("api-2", "2026-01-02T00:00:00Z")
OTHER = replica_set("web-1", "2026-01-01T12:00:00Z", owner="web", namespace="front")
ALL = [SECOND, OTHER, FIRST]


def names(found: list[Deploy]) -> list[str]:
    return [one.replica_set for one in found]


def test_the_newest_version_comes_first_with_its_deployment() -> None:
    newest, *_ = found = deploys(ALL, **WHOLE)  # type: ignore[arg-type]
    assert names(found) == ["api-2", "web-1", "api-1"]
    assert newest == Deploy(
        at=1767312000.0, namespace="shop", kind="Deployment", name="api", replica_set="api-2"
    )


def test_they_are_narrowed_by_namespace_workload_time_and_number() -> None:
    def narrowed(**how: object) -> list[str]:
        return names(deploys(ALL, **{**WHOLE, **how}))  # type: ignore[arg-type]

    assert narrowed(namespace="front") == ["web-1"]
    assert narrowed(workload=("Deployment", "api")) == ["api-2", "api-1"]
    assert narrowed(workload=("StatefulSet", "api")) == []
    assert narrowed(since=1767312000.0) == ["api-2"]
    assert narrowed(limit=1) == ["api-2"]


def test_who_made_it_by_hand_has_deployed_nothing_and_an_unreadable_moment_is_left_out() -> None:
    odd = [replica_set("alone", "2026-01-03T00:00:00Z", owner=""), replica_set("odd", "soon")]
    assert deploys(odd, **WHOLE) == []  # type: ignore[arg-type]
