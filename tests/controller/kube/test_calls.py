from nemutator_controller.kube import calls
from nemutator_controller.kube.calls import Selection
from nemutator_controller.kube.resources import NAMESPACES, PODS, REPLICA_SETS


def test_what_is_asked_is_named_as_a_permission() -> None:
    assert calls.asked("list", PODS, "team") == "list pods in namespace team"
    assert calls.asked("list", PODS, "") == "list pods in all namespaces"
    assert calls.asked("watch", NAMESPACES, "") == "watch namespaces"
    assert calls.asked("patch", REPLICA_SETS, "a", "status") == (
        "patch replicasets.apps/status in namespace a"
    )


def test_a_list_asks_for_gzip_and_a_watch_does_not() -> None:
    everything = Selection()
    assert calls.listing(PODS, everything, limit=5).compressed
    assert not calls.watching(PODS, everything, resource_version="1", timeout_s=9).compressed


def test_selectors_go_into_lists_and_watches() -> None:
    chosen = Selection(namespace="team", labels="app=web", fields="spec.nodeName=n1")
    query = calls.listing(PODS, chosen, limit=5, after="token").query
    assert query == {
        "limit": "5",
        "continue": "token",
        "labelSelector": "app=web",
        "fieldSelector": "spec.nodeName=n1",
    }
    watch = calls.watching(PODS, chosen, resource_version="7", timeout_s=300.5)
    assert watch.path == "/api/v1/namespaces/team/pods"
    assert watch.query["resourceVersion"] == "7"
    assert watch.query["timeoutSeconds"] == "300"
    assert "sendInitialEvents" not in watch.query


def test_metadata_only_resources_are_asked_for_as_such() -> None:
    accept = calls.listing(REPLICA_SETS, Selection(), limit=1).accept
    assert "as=PartialObjectMetadataList" in accept


def test_writes_are_under_our_name() -> None:
    call = calls.patching(
        PODS, "team", "web", b"{}", content_type=calls.MERGE_PATCH, subresource="status",
        force=True,
    )  # fmt: skip
    assert call.query == {"fieldManager": "nemutator", "force": "true"}
    assert call.path.endswith("/pods/web/status")
    assert calls.getting(PODS, "team", "web").asked == "get pods in namespace team (web)"


def test_a_body_is_never_shown() -> None:
    assert "s3cret" not in repr(calls.creating(PODS, "team", b"s3cret"))
