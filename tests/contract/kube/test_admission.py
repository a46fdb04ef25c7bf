"""Webhooks, as kube-apiserver calls them: over TLS, with these requests, in this order."""

import base64
import json
from collections.abc import AsyncIterator

import pytest

from tests.contract.kube.places import Place
from tests.contract.kube.refusals import PODS, pod
from tests.contract.kube.variants import on_the_fake_alone
from tests.contract.kube.webhooks import Hook, Json, Which, configured, rule, serving
from tests.fakes.kube.conversation import Conversation
from tests.fakes.kube.server import FakeKube


@pytest.fixture
async def hook() -> AsyncIterator[Hook]:
    async with serving() as hook:
        yield hook


@pytest.fixture
def pods(place: Place) -> str:
    """The path of the test's pods."""
    return PODS.format(namespace=place.namespace)


def patch(*operations: Json) -> Json:
    encoded = base64.b64encode(json.dumps(operations).encode()).decode()
    return {"allowed": True, "patchType": "JSONPatch", "patch": encoded}


def label(name: str, value: str) -> Json:
    return patch({"op": "add", "path": "/metadata/labels", "value": {name: value}})


async def test_a_mutating_webhook_sees_the_request_and_its_patch_is_applied(
    place: Place, api: Conversation, hook: Hook, pods: str
) -> None:
    hook.answer = lambda _: label("nemutator.io/x", "1")
    async with configured(api, place, hook, [hook.entry()]):
        manifest = await api.create(pods, pod("a"))
    assert manifest["metadata"]["labels"] == {"nemutator.io/x": "1"}
    (asked,) = hook.asked
    assert asked["operation"] == "CREATE"
    assert asked["kind"] == asked["requestKind"] == {"group": "", "version": "v1", "kind": "Pod"}
    assert asked["resource"] == {"group": "", "version": "v1", "resource": "pods"}
    assert (asked["namespace"], asked["name"]) == (place.namespace, "a")
    assert asked["dryRun"] is False
    assert (asked["object"]["metadata"]["name"], asked["oldObject"]) == ("a", None)
    assert asked["options"]["kind"] == "CreateOptions"
    assert "system:masters" in asked["userInfo"]["groups"]


async def test_what_the_server_makes_up_is_not_known_to_a_mutating_webhook(
    place: Place, api: Conversation, hook: Hook, pods: str
) -> None:
    manifest = pod("a")
    manifest["metadata"] = {"generateName": "web-"}
    async with configured(api, place, hook, [hook.entry()]):
        await api.create(pods, manifest)
    (early,) = hook.asked
    assert "name" not in early
    assert {"name", "uid"}.isdisjoint(early["object"]["metadata"])
    hook.asked.clear()
    async with configured(api, place, hook, [hook.entry()], "validating"):
        made = await api.create(pods, manifest)
    (late,) = hook.asked
    assert late["name"] == late["object"]["metadata"]["name"] == made["metadata"]["name"]
    assert late["object"]["metadata"]["uid"] == made["metadata"]["uid"]
    assert late["object"]["status"]["phase"] == "Pending"


async def test_a_validating_webhook_denies_in_the_servers_words(
    place: Place, api: Conversation, hook: Hook, pods: str
) -> None:
    entry = hook.entry("deny.contract.nemutator.io")
    denied = 'admission webhook "deny.contract.nemutator.io" denied the request'
    async with configured(api, place, hook, [entry], "validating"):
        hook.answer = lambda _: {"allowed": False, "status": {"message": "no", "code": 403}}
        code, status = await api.ask("POST", pods, pod("a"))
        assert (code, status["message"]) == (403, f"{denied}: no")
        hook.answer = lambda _: {"allowed": False}
        code, status = await api.ask("POST", pods, pod("a"))
        assert (code, status["message"]) == (400, f"{denied} without explanation")
    assert (await api.get(pods))["items"] == []


async def test_a_validating_webhook_may_not_patch(
    place: Place, api: Conversation, hook: Hook, pods: str
) -> None:
    hook.answer = lambda _: label("x", "1")
    async with configured(api, place, hook, [hook.entry()], "validating"):
        code, status = await api.ask("POST", pods, pod("a"))
    assert (code, "may not return response.patch" in status["message"]) == (500, True)


async def test_warnings_become_headers(
    place: Place, api: Conversation, hook: Hook, pods: str
) -> None:
    hook.answer = lambda _: {"allowed": True, "warnings": ["left unchanged"]}
    async with configured(api, place, hook, [hook.entry()]):
        assert await api.warnings("POST", pods, pod("a")) == ['299 - "left unchanged"']


@pytest.mark.parametrize("disturbance", ["wrong uid", "wrong kind", "no response", "bad patch"])
async def test_an_unusable_answer_is_a_failed_call(
    place: Place, api: Conversation, hook: Hook, pods: str, disturbance: str
) -> None:
    if disturbance == "wrong uid":
        hook.answer = lambda _: {"allowed": True, "uid": "x"}
    elif disturbance == "wrong kind":
        hook.review = {"kind": "Pod"}
    elif disturbance == "no response":
        hook.review = {"response": None}
    else:
        hook.answer = lambda _: {"allowed": True, "patchType": "JSONPatch", "patch": "eA=="}
    async with configured(api, place, hook, [hook.entry(failurePolicy="Fail")]):
        code, status = await api.ask("POST", pods, pod("a"))
    assert (code, status["reason"]) == (500, "InternalError")
    called = 'Internal error occurred: failed calling webhook "pods.contract.nemutator.io": '
    assert status["message"].startswith(called)


async def test_a_webhook_that_is_not_there_is_ignored_or_fails_as_its_policy_says(
    place: Place, api: Conversation, hook: Hook, pods: str
) -> None:
    nowhere = {**hook.client(), "url": "https://127.0.0.1:1/mutate"}
    lenient = hook.entry(clientConfig=nowhere, failurePolicy="Ignore")
    async with configured(api, place, hook, [lenient]):
        await api.create(pods, pod("a"))
    async with configured(api, place, hook, [hook.entry(clientConfig=nowhere)], "validating"):
        code, status = await api.ask("POST", pods, pod("b"))
    assert (code, status["reason"]) == (500, "InternalError")
    missing = 'failed to call webhook: Post "https://127.0.0.1:1/mutate?timeout=10s": '
    assert missing in status["message"]


async def test_a_certificate_of_another_authority_fails_the_call(
    place: Place, api: Conversation, hook: Hook, pods: str
) -> None:
    bundle = base64.b64encode(place.ca_file.read_bytes()).decode()
    entry = hook.entry(clientConfig={**hook.client(), "caBundle": bundle})
    async with configured(api, place, hook, [entry]):
        code, status = await api.ask("POST", pods, pod("a"))
    assert (code, "certificate" in status["message"]) == (500, True)
    assert hook.asked == []


@pytest.mark.slow
async def test_a_silent_webhook_fails_after_its_timeout(
    place: Place, api: Conversation, hook: Hook, pods: str
) -> None:
    async with configured(api, place, hook, [hook.entry(timeoutSeconds=1)]):
        hook.silent = True
        code, status = await api.ask("POST", pods, pod("a"))
    assert (code, status["message"].endswith("context deadline exceeded")) == (500, True)


async def test_a_patch_that_does_not_apply_fails_even_with_ignore(
    place: Place, api: Conversation, hook: Hook, pods: str
) -> None:
    hook.answer = lambda _: patch({"op": "remove", "path": "/spec/nothing"})
    async with configured(api, place, hook, [hook.entry(failurePolicy="Ignore")]):
        code, status = await api.ask("POST", pods, pod("a"))
    assert (code, status["reason"]) == (500, "InternalError")


async def test_a_patch_that_makes_a_bad_object_is_an_invalid_object(
    place: Place, api: Conversation, hook: Hook, pods: str
) -> None:
    hook.answer = lambda _: label("a", "not a value")
    async with configured(api, place, hook, [hook.entry()]):
        code, status = await api.ask("POST", pods, pod("a"))
    assert (code, status["details"]["causes"][0]["field"]) == (422, "metadata.labels")


async def test_selectors_and_rules_choose_what_is_asked(
    place: Place, api: Conversation, hook: Hook, pods: str
) -> None:
    wanted = {"nemutator.io/inject": "enabled"}
    async with configured(api, place, hook, [hook.entry(objectSelector={"matchLabels": wanted})]):
        await api.create(pods, pod("plain"))
        elsewhere = PODS.format(namespace="default")
        await api.create(elsewhere, pod("elsewhere", labels=wanted), dryRun="All")
        maps = f"/api/v1/namespaces/{place.namespace}/configmaps"
        await api.create(maps, {"metadata": {"name": "a", "labels": wanted}})
        assert hook.asked == []
        await api.create(pods, pod("chosen", labels=wanted))
    assert [asked["name"] for asked in hook.asked] == ["chosen"]


async def test_a_dry_run_is_told_to_the_webhook(
    place: Place, api: Conversation, hook: Hook, pods: str
) -> None:
    hook.answer = lambda _: label("x", "1")
    async with configured(api, place, hook, [hook.entry(sideEffects="NoneOnDryRun")]):
        tried = await api.create(pods, pod("a"), dryRun="All")
    assert tried["metadata"]["labels"] == {"x": "1"}
    assert hook.asked[0]["dryRun"] is True
    assert (await api.get(pods))["items"] == []


async def test_an_earlier_webhook_is_asked_again_when_a_later_one_changed_something(
    place: Place, api: Conversation, hook: Hook, pods: str
) -> None:
    again = hook.entry("a.contract.nemutator.io", reinvocationPolicy="IfNeeded")
    once = hook.entry("b.contract.nemutator.io")
    counts = iter(range(9))
    hook.answer = lambda _: label("asked", str(next(counts)))
    async with configured(api, place, hook, [again, once]):
        manifest = await api.create(pods, pod("a"))
    assert (len(hook.asked), manifest["metadata"]["labels"]) == (3, {"asked": "2"})


async def test_updates_deletions_and_evictions_bring_what_they_are_about(
    place: Place, api: Conversation, hook: Hook, pods: str
) -> None:
    manifest = await api.create(pods, pod("a"))
    await api.create(pods, pod("b"))
    asks = rule(operations=["*"], resources=["pods", "pods/eviction"], scope="Namespaced")
    async with configured(api, place, hook, [hook.entry(rules=[asks])]):
        manifest["metadata"]["labels"] = {"x": "y"}
        assert (await api.ask("PUT", f"{pods}/a", manifest))[0] == 200
        assert (await api.ask("DELETE", f"{pods}/a"))[0] == 200
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "b"}}
        assert (await api.ask("POST", f"{pods}/b/eviction", body))[0] == 201
    told = [
        (a["operation"], a["kind"]["kind"], a["name"], bool(a["object"]), bool(a["oldObject"]))
        for a in hook.asked
    ]
    # A deletion may be asked about more than once; that of an evicted pod is not asked about.
    assert list(dict.fromkeys(told)) == [
        ("UPDATE", "Pod", "a", True, True),
        ("DELETE", "Pod", "a", False, True),
        ("CREATE", "Eviction", "b", True, False),
    ]


async def test_of_many_that_are_deleted_together_none_is_named(
    place: Place, api: Conversation, hook: Hook, pods: str
) -> None:
    for name in ("a", "b"):
        await api.create(pods, pod(name))
    asks = rule(operations=["DELETE"], resources=["pods"])
    async with configured(api, place, hook, [hook.entry(rules=[asks])], "validating"):
        assert (await api.ask("DELETE", pods))[0] == 200
    assert {asked.get("name") for asked in hook.asked} == {None}
    assert {asked["oldObject"]["metadata"]["name"] for asked in hook.asked} == {"a", "b"}


async def test_nobody_is_asked_about_webhook_configurations(
    place: Place, api: Conversation, hook: Hook
) -> None:
    group = "admissionregistration.k8s.io"
    asks = rule(operations=["*"], resources=["*"], group=group)
    async with configured(api, place, hook, [hook.entry(rules=[asks])]) as path:
        patch = {"metadata": {"labels": {"x": "y"}}}
        merge = {"Content-Type": "application/merge-patch+json"}
        assert (await api.ask("PATCH", path, patch, headers=merge))[0] == 200
        assert (await api.ask("DELETE", path))[0] == 200
    assert hook.asked == []


async def test_somebody_who_was_faster_than_the_webhook_is_a_conflict(
    place: Place, api: Conversation, hook: Hook, pods: str
) -> None:
    old = await api.create(pods, pod("a"))
    asks = rule(operations=["UPDATE"], resources=["pods"])

    async def somebody_else() -> None:
        await api.ask(
            "PUT",
            f"{pods}/a",
            {**old, "metadata": {**old["metadata"], "labels": {"faster": "yes"}}},
        )

    async with configured(api, place, hook, [hook.entry(rules=[asks])]):
        hook.meanwhile = somebody_else
        slower = {**old, "metadata": {**old["metadata"], "labels": {"slower": "yes"}}}
        code, status = await api.ask("PUT", f"{pods}/a", slower)
    assert (code, status["reason"]) == (409, "Conflict")
    assert (await api.get(f"{pods}/a"))["metadata"]["labels"] == {"faster": "yes"}


@pytest.mark.parametrize(("which", "more"), [("mutating", {"reinvocationPolicy": "Never"}),
                                             ("validating", {})])  # fmt: skip
async def test_a_configuration_is_completed(
    place: Place, api: Conversation, hook: Hook, which: Which, more: Json
) -> None:
    async with configured(api, place, hook, [hook.entry()], which) as path:
        (_, completed) = (await api.get(path))["webhooks"]
    given = {"failurePolicy": "Fail", "matchPolicy": "Equivalent", "objectSelector": {}, **more}
    added = {key: completed[key] for key in completed.keys() - hook.entry().keys()}
    assert added.pop("namespaceSelector")
    assert added == {**given, "timeoutSeconds": 10}


@on_the_fake_alone("no service of a cluster without a network leads to this process")
async def test_a_service_is_called_by_its_name(
    kube: FakeKube, place: Place, api: Conversation, hook: Hook, pods: str
) -> None:
    service = {"namespace": "nemutator", "name": "hook", "path": "/mutate"}
    bundle = hook.client()["caBundle"]
    entry = hook.entry(clientConfig={"service": service, "caBundle": bundle})
    async with configured(api, place, hook, [entry]):
        code, status = await api.ask("POST", pods, pod("a"))
        assert (code, 'service "hook" not found' in status["message"]) == (500, True)
        kube.webhooks.services["nemutator", "hook"] = ("127.0.0.1", hook.port)
        await api.create(pods, pod("a"))
    assert len(hook.asked) == 1
