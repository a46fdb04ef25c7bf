"""Get, list and discovery, as the Kubernetes API concepts page and kube-apiserver 1.36 have them."""

from tests.fakes.kube import kinds
from tests.fakes.kube.conversation import Conversation, pod
from tests.fakes.kube.server import FakeKube

PODS = "/api/v1/namespaces/default/pods"


async def test_discovery_names_groups_and_resources(api: Conversation) -> None:
    assert (await api.get("/version"))["minor"] == "36"
    assert (await api.get("/api"))["versions"] == ["v1"]
    groups = {group["name"] for group in (await api.get("/apis"))["groups"]}
    assert {"apps", "policy", "coordination.k8s.io"} <= groups
    resources = await api.get("/apis/apps/v1")
    assert resources["groupVersion"] == "apps/v1"
    assert "deployments/status" in {entry["name"] for entry in resources["resources"]}


async def test_an_unknown_path_is_answered_in_plain_text_as_by_gos_mux(kube: FakeKube) -> None:
    async with Conversation(kube) as api:
        response = await api._session.get("/apis/nobody.io/v1/things")
        assert (response.status, await response.text()) == (404, "404 page not found\n")


async def test_a_missing_object_is_a_status(api: Conversation) -> None:
    assert await api.ask("GET", f"{PODS}/web") == (
        404,
        {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": 'pods "web" not found',
            "reason": "NotFound",
            "details": {"name": "web", "kind": "pods"},
            "code": 404,
        },
    )
    _, status = await api.ask("GET", "/apis/apps/v1/namespaces/default/deployments/web")
    assert status["message"] == 'deployments.apps "web" not found'
    assert status["details"] == {"name": "web", "group": "apps", "kind": "deployments"}


async def test_an_expired_continue_token_is_410_with_a_token_for_the_rest(
    kube: FakeKube, api: Conversation
) -> None:
    for number in range(3):
        await api.create(PODS, pod(f"pod-{number}"))
    token = (await api.get(PODS, limit="1"))["metadata"]["continue"]
    await api.create(PODS, pod("pod-9"))
    kube.controls.compact()
    code, status = await api.ask("GET", PODS, limit="1", continue_=token)
    assert (code, status["reason"]) == (410, "Expired")
    rest = await api.get(PODS, continue_=status["metadata"]["continue"])
    assert [item["metadata"]["name"] for item in rest["items"]] == ["pod-1", "pod-2", "pod-9"]


async def test_what_resource_version_means_for_a_list(kube: FakeKube, api: Conversation) -> None:
    old = (await api.create(PODS, pod("a")))["metadata"]["resourceVersion"]
    new = (await api.create(PODS, pod("b")))["metadata"]["resourceVersion"]

    async def names(**query: str) -> tuple[list[str], str]:
        answer = await api.get(PODS, **query)
        found = [item["metadata"]["name"] for item in answer["items"]]
        return found, answer["metadata"]["resourceVersion"]

    assert await names() == (["a", "b"], new)
    assert await names(resourceVersion="0", limit="1") == (["a", "b"], new)
    assert await names(resourceVersion=old) == (["a", "b"], new)
    assert await names(resourceVersion=old, resourceVersionMatch="NotOlderThan") == (
        ["a", "b"],
        new,
    )
    assert await names(resourceVersion=old, resourceVersionMatch="Exact") == (["a"], old)
    assert await names(resourceVersion=old, limit="5") == (["a"], old)
    kube.controls.compact()
    code, status = await api.ask("GET", PODS, resourceVersion=old, resourceVersionMatch="Exact")
    assert (code, status["reason"]) == (410, "Expired")
    code, status = await api.ask("GET", PODS, resourceVersion="999")
    assert (code, status["reason"]) == (504, "Timeout")
    assert status["details"]["causes"][0]["reason"] == "ResourceVersionTooLarge"
    code, status = await api.ask("GET", PODS, resourceVersionMatch="Exact")
    assert (code, status["reason"]) == (422, "Invalid")


async def test_selectors_by_label_and_field(api: Conversation) -> None:
    await api.create(PODS, pod("a", node="one", tier="web"))
    await api.create(PODS, pod("b", node="two", tier="db"))
    await api.create("/api/v1/namespaces/kube-system/pods", pod("c", node="one"))

    async def names(**query: str) -> list[str]:
        answer = await api.get("/api/v1/pods", **query)
        return [item["metadata"]["name"] for item in answer["items"]]

    assert await names(labelSelector="tier in (web,db)") == ["a", "b"]
    assert await names(fieldSelector="spec.nodeName=one") == ["a", "c"]
    assert await names(fieldSelector="spec.nodeName=one,metadata.namespace!=default") == ["c"]
    assert await names(fieldSelector="status.phase=Running") == []
    code, status = await api.ask("GET", PODS, fieldSelector="spec.x=1")
    assert code == 400
    assert status["message"].endswith("field label not supported: spec.x")
    code, _ = await api.ask("GET", PODS, labelSelector="a in")
    assert code == 400


async def test_large_lists_are_compressed_when_asked_for(kube: FakeKube, api: Conversation) -> None:
    big = {"metadata": {"name": "big", "namespace": "default"}, "data": {"x": "y" * 200_000}}
    kube.store.put(kinds.CONFIG_MAPS, big)
    path = "/api/v1/configmaps"
    async with api._session.get(path, headers={"Accept-Encoding": "gzip"}) as response:
        assert response.headers["Content-Encoding"] == "gzip"
        assert (await response.json())["items"][0]["data"] == big["data"]
    async with api._session.get(path, headers={"Accept-Encoding": "identity"}) as response:
        assert "Content-Encoding" not in response.headers
