from nemutator_controller.kube.resources import NAMESPACES, PODS, REPLICA_SETS


def test_paths_are_those_of_the_api_server() -> None:
    assert PODS.path() == "/api/v1/pods"
    assert PODS.path("team", "web", "eviction") == "/api/v1/namespaces/team/pods/web/eviction"
    assert NAMESPACES.path("ignored", "n1") == "/api/v1/namespaces/n1"
    assert REPLICA_SETS.path("team") == "/apis/apps/v1/namespaces/team/replicasets"


def test_names_cannot_leave_their_place_in_the_path() -> None:
    assert PODS.path("a/../b", "../x") == "/api/v1/namespaces/a%2F..%2Fb/pods/..%2Fx"


def test_only_metadata_is_read_of_replica_sets() -> None:
    assert REPLICA_SETS.metadata_only
    assert not PODS.metadata_only
