"""Create, update, patch, delete, evict: what is set, what is kept, what is refused."""

import pytest

from tests.fakes.kube import kinds
from tests.fakes.kube.conversation import Conversation, Json, pod
from tests.fakes.kube.server import FakeKube

NAMESPACE = "/api/v1/namespaces/default"
PODS = f"{NAMESPACE}/pods"
MERGE = {"Content-Type": "application/merge-patch+json"}
JSON = {"Content-Type": "application/json-patch+json"}


async def test_create_sets_what_the_server_sets(api: Conversation) -> None:
    first = await api.create(PODS, pod("a"))
    second = await api.create(PODS, {"metadata": {"generateName": "b-"}, "spec": {}})
    metadata = first["metadata"]
    assert (metadata["namespace"], metadata["generation"]) == ("default", 1)
    assert len(metadata["uid"]) == 36
    assert metadata["creationTimestamp"].endswith("Z")
    assert first["status"] == {"phase": "Pending"}
    assert second["metadata"]["name"].startswith("b-")
    assert int(second["metadata"]["resourceVersion"]) > int(metadata["resourceVersion"])


@pytest.mark.parametrize(
    ("path", "body", "code", "reason", "message"),
    [
        (PODS, pod("taken"), 409, "AlreadyExists", 'pods "taken" already exists'),
        ("/api/v1/namespaces/no/pods", pod("a"), 404, "NotFound", 'namespaces "no" not found'),
        (PODS, {"metadata": {}}, 422, "Invalid", "name or generateName is required"),
        (PODS, pod("Not_A_Name"), 422, "Invalid", "RFC 1123 subdomain"),
        (PODS, {**pod("a"), "kind": "Node"}, 400, "BadRequest", "cannot be handled as a Pod"),
        (PODS, {**pod("a"), "apiVersion": "v2"}, 400, "BadRequest", 'no kind "Pod" is registered'),
        (PODS, [], 400, "BadRequest", "must be of type Pod"),
        (
            PODS,
            {"metadata": {"name": "a", "namespace": "kube-system"}},
            400,
            "BadRequest",
            "the namespace of the provided object does not match",
        ),
    ],
)
async def test_a_bad_object_is_refused(
    api: Conversation, path: str, body: object, code: int, reason: str, message: str
) -> None:
    await api.create(PODS, pod("taken"))
    status, answer = await api.ask("POST", path, body)
    assert (status, answer["reason"]) == (code, reason)
    assert message in answer["message"]


async def test_update_needs_the_version_that_it_names(api: Conversation) -> None:
    old = await api.create(PODS, pod("a"))
    new = {**old, "metadata": {**old["metadata"], "labels": {"x": "1"}}}
    code, stored = await api.ask("PUT", f"{PODS}/a", new)
    assert code == 200
    code, status = await api.ask("PUT", f"{PODS}/a", new)
    assert (code, status["reason"]) == (409, "Conflict")
    assert status["message"].startswith(
        'Operation cannot be fulfilled on pods "a": the object has been modified'
    )
    code, again = await api.ask("PUT", f"{PODS}/a", stored)
    assert again["metadata"]["resourceVersion"] == stored["metadata"]["resourceVersion"]


async def test_generation_counts_changes_of_the_spec_and_status_is_separate(
    api: Conversation,
) -> None:
    path = "/apis/apps/v1/namespaces/default/deployments"
    body = {"metadata": {"name": "web"}, "spec": {"replicas": 1}, "status": {"replicas": 9}}
    manifest = await api.create(path, body)
    assert "status" not in manifest
    patch = {"status": {"replicas": 1}, "spec": {"replicas": 5}}
    _, manifest = await api.ask("PATCH", f"{path}/web/status", patch, headers=MERGE)
    assert (manifest["spec"], manifest["status"]) == ({"replicas": 1}, {"replicas": 1})
    assert manifest["metadata"]["generation"] == 1
    _, manifest = await api.ask("PATCH", f"{path}/web", patch, headers=MERGE)
    assert (manifest["spec"], manifest["status"]) == ({"replicas": 5}, {"replicas": 1})
    assert manifest["metadata"]["generation"] == 2


async def test_patches(api: Conversation) -> None:
    await api.create(PODS, pod("a", tier="web"))
    tests = [
        {"op": "test", "path": "/metadata/labels/tier", "value": "web"},
        {"op": "add", "path": "/metadata/labels/nemutator.io~1x", "value": "1"},
    ]
    code, manifest = await api.ask("PATCH", f"{PODS}/a", tests, headers=JSON)
    assert manifest["metadata"]["labels"] == {"tier": "web", "nemutator.io/x": "1"}
    tests[0]["value"] = "db"
    code, status = await api.ask("PATCH", f"{PODS}/a", tests, headers=JSON)
    assert (code, status["reason"]) == (422, "Invalid")
    gone = {"metadata": {"labels": {"tier": None}}}
    code, manifest = await api.ask("PATCH", f"{PODS}/a", gone, headers=MERGE)
    assert manifest["metadata"]["labels"] == {"nemutator.io/x": "1"}
    stale = {"metadata": {"resourceVersion": "1", "labels": {"y": "2"}}}
    code, status = await api.ask("PATCH", f"{PODS}/a", stale, headers=MERGE)
    assert (code, status["reason"]) == (409, "Conflict")
    other = {"metadata": {"uid": "another", "labels": {"y": "2"}}}
    code, status = await api.ask("PATCH", f"{PODS}/a", other, headers=MERGE)
    assert (code, "field is immutable" in status["message"]) == (422, True)
    strategic = {"Content-Type": "application/strategic-merge-patch+json"}
    code, status = await api.ask("PATCH", f"{PODS}/a", {}, headers=strategic)
    assert (code, status["reason"]) == (415, "UnsupportedMediaType")


async def test_dry_run_answers_and_changes_nothing(kube: FakeKube, api: Conversation) -> None:
    version = kube.store.version
    manifest = await api.create(PODS, pod("a"), dryRun="All")
    assert manifest["metadata"]["uid"]
    assert (kube.store.version, kube.store.all(kinds.PODS)) == (version, [])


async def test_delete_obeys_preconditions(api: Conversation) -> None:
    manifest = await api.create(PODS, pod("a"))
    code, status = await api.ask("DELETE", f"{PODS}/a", {"preconditions": {"uid": "x"}})
    assert (code, status["reason"]) == (409, "Conflict")
    assert "the UID in the precondition (x) does not match" in status["message"]
    wanted = {"preconditions": {"uid": manifest["metadata"]["uid"]}}
    assert (await api.ask("DELETE", f"{PODS}/a", wanted))[0] == 200
    assert (await api.ask("DELETE", f"{PODS}/a"))[0] == 404


async def test_finalizers_and_grace_keep_an_object_until_they_are_done(api: Conversation) -> None:
    held = {"metadata": {"name": "held", "finalizers": ["x.io/y"]}}
    await api.create(f"{NAMESPACE}/configmaps", held)
    _, manifest = await api.ask("DELETE", f"{NAMESPACE}/configmaps/held")
    assert manifest["metadata"]["deletionTimestamp"]
    free = {"metadata": {"finalizers": None}}
    await api.ask("PATCH", f"{NAMESPACE}/configmaps/held", free, headers=MERGE)
    assert (await api.ask("GET", f"{NAMESPACE}/configmaps/held"))[0] == 404

    await api.create(PODS, pod("a", node="one"))
    _, manifest = await api.ask("DELETE", f"{PODS}/a")
    assert manifest["metadata"]["deletionGracePeriodSeconds"] == 30
    assert (await api.ask("GET", f"{PODS}/a"))[0] == 200
    await api.ask("DELETE", f"{PODS}/a", {"gracePeriodSeconds": 0})
    assert (await api.ask("GET", f"{PODS}/a"))[0] == 404


async def test_delete_collection_takes_what_is_selected(api: Conversation) -> None:
    for name, tier in (("a", "web"), ("b", "db")):
        await api.create(PODS, pod(name, tier=tier))
    assert (await api.ask("DELETE", PODS, labelSelector="tier=web"))[0] == 200
    assert [item["metadata"]["name"] for item in (await api.get(PODS))["items"]] == ["b"]


async def evict(api: Conversation, name: str) -> tuple[int, Json]:
    body = {"kind": "Eviction", "apiVersion": "policy/v1", "metadata": {"name": name}}
    return await api.ask("POST", f"{PODS}/{name}/eviction", body)


async def test_an_eviction_honours_the_disruption_budget(kube: FakeKube, api: Conversation) -> None:
    for name in ("a", "b"):
        manifest = await api.create(PODS, pod(name, tier="web"))
        kube.store.put(kinds.PODS, {**manifest, "status": {"phase": "Running"}})
    budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
    selector = {"matchLabels": {"tier": "web"}}
    await api.create(budgets, {"metadata": {"name": "web"}, "spec": {"selector": selector}})
    code, status = await evict(api, "a")
    assert (code, status["details"]["retryAfterSeconds"]) == (429, 10)
    counted = {
        "observedGeneration": 1,
        "disruptionsAllowed": 1,
        "desiredHealthy": 1,
        "currentHealthy": 2,
    }
    await api.ask("PATCH", f"{budgets}/web/status", {"status": counted}, headers=MERGE)
    assert (await evict(api, "a"))[0] == 201
    code, status = await evict(api, "b")
    assert (code, status["reason"]) == (429, "TooManyRequests")
    assert status["message"] == "Cannot evict pod as it would violate the pod's disruption budget."
    assert status["details"]["causes"] == [
        {
            "reason": "DisruptionBudget",
            "message": "The disruption budget web needs 1 healthy pods and has 2 currently",
        }
    ]
    assert (await evict(api, "nobody"))[0] == 404


async def test_a_definition_adds_a_kind(api: Conversation) -> None:
    definition = {
        "metadata": {"name": "mutationpolicies.nemutator.io"},
        "spec": {
            "group": "nemutator.io",
            "scope": "Cluster",
            "names": {"kind": "MutationPolicy", "plural": "mutationpolicies"},
            "versions": [
                {
                    "name": "v1alpha1",
                    "served": True,
                    "storage": True,
                    "subresources": {"status": {}},
                }
            ],
        },
    }
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    made = await api.create(path, definition)
    established = {c["type"]: c["status"] for c in made["status"]["conditions"]}
    assert established["Established"] == "True"
    path = "/apis/nemutator.io/v1alpha1/mutationpolicies"
    body = {"apiVersion": "nemutator.io/v1alpha1", "kind": "MutationPolicy"}
    policy = await api.create(path, {**body, "metadata": {"name": "p"}, "spec": {"x": 1}})
    assert (policy["kind"], policy["apiVersion"]) == ("MutationPolicy", "nemutator.io/v1alpha1")
    listed = await api.get(path)
    assert listed["items"][0]["kind"] == "MutationPolicy"


async def test_deleting_a_namespace_deletes_what_is_in_it(api: Conversation) -> None:
    await api.create("/api/v1/namespaces", {"metadata": {"name": "team"}})
    await api.create("/api/v1/namespaces/team/pods", pod("a"))
    await api.ask("DELETE", "/api/v1/namespaces/team")
    assert (await api.get("/api/v1/pods"))["items"] == []
