"""Webhooks are called as kube-apiserver calls them; the webhook here is a real TLS server."""

import asyncio
import base64
import json
import tempfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from tests.fakes.kube import kinds
from tests.fakes.kube.certificates import Authority
from tests.fakes.kube.conversation import Conversation, Json, pod
from tests.fakes.kube.server import FakeKube

PODS = "/api/v1/namespaces/default/pods"
WEBHOOKS = "/apis/admissionregistration.k8s.io/v1"
MUTATING = f"{WEBHOOKS}/mutatingwebhookconfigurations"
VALIDATING = f"{WEBHOOKS}/validatingwebhookconfigurations"


class Hook:
    """Answers as the test says and keeps what it was asked."""

    def __init__(self, authority: Authority) -> None:
        self.asked: list[Json] = []
        self.answer: Callable[[Json], Json] = lambda request: {"allowed": True}
        self.review: Json = {}
        self.silent = False
        self._authority = authority
        self.port = 0

    async def serve(self, request: web.Request) -> web.Response:
        if self.silent:
            await asyncio.Event().wait()
        asked = (await request.json())["request"]
        self.asked.append(asked)
        answer = {"uid": asked["uid"], **self.answer(asked)}
        head = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}
        return web.json_response({**head, "response": answer, **self.review})

    def entry(self, name: str = "pods.nemutator.io", **more: Any) -> Json:
        """A webhook of a configuration that calls this server for each pod that is created."""
        rule = {
            "operations": ["CREATE"],
            "apiGroups": [""],
            "apiVersions": ["v1"],
            "resources": ["pods"],
        }
        bundle = base64.b64encode(self._authority.pem).decode()
        return {
            "name": name,
            "clientConfig": {"url": f"https://127.0.0.1:{self.port}/mutate", "caBundle": bundle},
            "rules": [rule],
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            **more,
        }


@pytest.fixture
async def hook() -> AsyncIterator[Hook]:
    with tempfile.TemporaryDirectory() as folder:
        authority = Authority(Path(folder), "webhook-ca")
        hook = Hook(authority)
        application = web.Application()
        application.router.add_post("/mutate", hook.serve)
        runner = web.AppRunner(application, handler_cancellation=True, shutdown_timeout=0.1)
        await runner.setup()
        context = authority.server_context("hook.nemutator.svc")
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
        hook.port = runner.addresses[0][1]
        yield hook
        await runner.cleanup()


async def configure(api: Conversation, *hooks: Json, path: str = MUTATING) -> None:
    await api.create(path, {"metadata": {"name": "nemutator"}, "webhooks": list(hooks)})


def patch(*operations: Json) -> Json:
    encoded = base64.b64encode(json.dumps(operations).encode()).decode()
    return {"allowed": True, "patchType": "JSONPatch", "patch": encoded}


def label(name: str, value: str) -> Json:
    return patch({"op": "add", "path": "/metadata/labels", "value": {name: value}})


async def test_a_mutating_webhook_sees_the_request_and_its_patch_is_applied(
    api: Conversation, hook: Hook
) -> None:
    await configure(api, hook.entry())
    hook.answer = lambda _: label("nemutator.io/x", "1")
    thing = await api.create(PODS, pod("a"))
    assert thing["metadata"]["labels"] == {"nemutator.io/x": "1"}
    (asked,) = hook.asked
    assert asked["operation"] == "CREATE"
    assert asked["kind"] == {"group": "", "version": "v1", "kind": "Pod"}
    assert asked["resource"] == {"group": "", "version": "v1", "resource": "pods"}
    assert (asked["namespace"], asked["name"], asked["dryRun"]) == ("default", "a", False)
    assert (asked["object"]["metadata"]["name"], asked["oldObject"]) == ("a", None)
    assert asked["userInfo"]["username"] == "admin"


async def test_a_validating_webhook_denies_in_the_servers_words(
    kube: FakeKube, api: Conversation, hook: Hook
) -> None:
    await configure(api, hook.entry("deny.io"), path=VALIDATING)
    hook.answer = lambda _: {"allowed": False, "status": {"message": "no", "code": 403}}
    code, status = await api.ask("POST", PODS, pod("a"))
    assert (code, status["message"]) == (
        403,
        'admission webhook "deny.io" denied the request: no',
    )
    hook.answer = lambda _: {"allowed": False}
    code, status = await api.ask("POST", PODS, pod("a"))
    assert (code, status["message"]) == (
        400,
        'admission webhook "deny.io" denied the request without explanation',
    )
    assert kube.store.all(kinds.PODS) == []


async def test_a_validating_webhook_may_not_patch(api: Conversation, hook: Hook) -> None:
    await configure(api, hook.entry(), path=VALIDATING)
    hook.answer = lambda _: label("x", "1")
    code, status = await api.ask("POST", PODS, pod("a"))
    assert (code, "may not return response.patch" in status["message"]) == (500, True)


async def test_warnings_become_headers(api: Conversation, hook: Hook) -> None:
    await configure(api, hook.entry())
    hook.answer = lambda _: {"allowed": True, "warnings": ["left unchanged"]}
    async with api._session.post(PODS, json=pod("a")) as response:
        assert response.headers["Warning"] == '299 - "left unchanged"'


@pytest.mark.parametrize("disturbance", ["wrong uid", "wrong kind", "no response", "bad patch"])
async def test_an_unusable_answer_is_a_failed_call(
    api: Conversation, hook: Hook, disturbance: str
) -> None:
    await configure(api, hook.entry(failurePolicy="Fail"))
    if disturbance == "wrong uid":
        hook.answer = lambda _: {"allowed": True, "uid": "x"}
    elif disturbance == "wrong kind":
        hook.review = {"kind": "Pod"}
    elif disturbance == "no response":
        hook.review = {"response": None}
    else:
        hook.answer = lambda _: {"allowed": True, "patchType": "JSONPatch", "patch": "eA=="}
    code, status = await api.ask("POST", PODS, pod("a"))
    assert (code, status["reason"]) == (500, "InternalError")
    begin = 'Internal error occurred: failed calling webhook "pods.nemutator.io": received '
    assert status["message"].startswith(begin)


async def test_a_webhook_that_is_not_there_is_ignored_or_fails_as_its_policy_says(
    api: Conversation, hook: Hook
) -> None:
    nowhere = {"url": "https://127.0.0.1:1/mutate"}
    await configure(api, hook.entry(clientConfig=nowhere, failurePolicy="Ignore"))
    await api.create(PODS, pod("a"))
    strict = hook.entry(clientConfig=nowhere)
    await configure(api, strict, path=VALIDATING)
    code, status = await api.ask("POST", PODS, pod("b"))
    assert (code, status["reason"]) == (500, "InternalError")
    assert 'failed to call webhook: Post "https://127.0.0.1:1/mutate"' in status["message"]


async def test_a_certificate_of_another_authority_fails_the_call(
    api: Conversation, hook: Hook, kube: FakeKube
) -> None:
    entry = hook.entry()
    entry["clientConfig"]["caBundle"] = base64.b64encode(kube.authority.pem).decode()
    await configure(api, entry)
    code, status = await api.ask("POST", PODS, pod("a"))
    assert (code, "certificate" in status["message"]) == (500, True)
    assert hook.asked == []


async def test_a_silent_webhook_fails_after_its_timeout(api: Conversation, hook: Hook) -> None:
    await configure(api, hook.entry(timeoutSeconds=0.05))
    hook.silent = True
    code, status = await api.ask("POST", PODS, pod("a"))
    assert (code, status["message"].endswith("context deadline exceeded")) == (500, True)


async def test_a_patch_that_does_not_apply_fails_even_with_ignore(
    api: Conversation, hook: Hook
) -> None:
    await configure(api, hook.entry(failurePolicy="Ignore"))
    hook.answer = lambda _: patch({"op": "remove", "path": "/spec/nothing"})
    code, status = await api.ask("POST", PODS, pod("a"))
    assert (code, status["reason"]) == (500, "InternalError")


async def test_selectors_and_rules_choose_what_is_asked(api: Conversation, hook: Hook) -> None:
    opted_in = {"matchLabels": {"nemutator.io/inject": "enabled"}}
    not_system = [
        {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-system"]}
    ]
    entry = hook.entry(objectSelector=opted_in, namespaceSelector={"matchExpressions": not_system})
    await configure(api, entry)
    wanted = {"nemutator.io/inject": "enabled"}
    await api.create(PODS, pod("plain"))
    await api.create("/api/v1/namespaces/kube-system/pods", pod("system", **wanted))
    await api.create("/api/v1/namespaces/default/configmaps", {"metadata": {"name": "a"}})
    assert hook.asked == []
    await api.create(PODS, pod("chosen", **wanted))
    assert [asked["name"] for asked in hook.asked] == ["chosen"]


async def test_dry_run_reaches_only_webhooks_without_side_effects(
    kube: FakeKube, api: Conversation, hook: Hook
) -> None:
    await configure(api, hook.entry())
    await api.create(PODS, pod("a"), dryRun="All")
    assert hook.asked[0]["dryRun"] is True
    await configure(api, hook.entry("effects.io", sideEffects="Some"), path=VALIDATING)
    code, status = await api.ask("POST", PODS, pod("a"), dryRun="All")
    assert code == 400
    assert status["message"] == 'admission webhook "effects.io" does not support dry run'
    assert kube.store.all(kinds.PODS) == []


async def test_an_earlier_webhook_is_asked_again_when_a_later_one_changed_something(
    api: Conversation, hook: Hook
) -> None:
    again, once = hook.entry("a.io", reinvocationPolicy="IfNeeded"), hook.entry("b.io")
    await configure(api, again, once)
    counts = iter(range(9))
    hook.answer = lambda _: label("asked", str(next(counts)))
    thing = await api.create(PODS, pod("a"))
    assert (len(hook.asked), thing["metadata"]["labels"]) == (3, {"asked": "2"})


async def test_a_service_is_called_by_its_name(
    kube: FakeKube, api: Conversation, hook: Hook
) -> None:
    entry = hook.entry()
    service = {"namespace": "nemutator", "name": "hook", "path": "/mutate"}
    bundle = entry["clientConfig"]["caBundle"]
    entry["clientConfig"] = {"service": service, "caBundle": bundle}
    await configure(api, entry)
    code, status = await api.ask("POST", PODS, pod("a"))
    assert (code, 'service "hook" not found' in status["message"]) == (500, True)
    kube.webhooks.services["nemutator", "hook"] = ("127.0.0.1", hook.port)
    await api.create(PODS, pod("a"))
    assert len(hook.asked) == 1


async def test_updates_and_deletes_bring_the_old_object(api: Conversation, hook: Hook) -> None:
    rule = {"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"]}
    thing = await api.create(PODS, pod("a"))
    await configure(api, hook.entry(rules=[rule]))
    thing["metadata"]["labels"] = {"x": "y"}
    await api.ask("PUT", f"{PODS}/a", thing)
    await api.ask("DELETE", f"{PODS}/a")
    told = [(a["operation"], bool(a["object"]), bool(a["oldObject"])) for a in hook.asked]
    assert told == [("UPDATE", True, True), ("DELETE", False, True)]


async def test_nobody_is_asked_about_webhook_configurations(api: Conversation, hook: Hook) -> None:
    rule = {"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"]}
    await configure(api, hook.entry(rules=[rule]))
    await api.ask("DELETE", f"{MUTATING}/nemutator")
    assert hook.asked == []


async def test_somebody_who_was_faster_than_the_webhook_is_a_conflict(
    kube: FakeKube, api: Conversation, hook: Hook
) -> None:
    rule = {"operations": ["UPDATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["*"]}
    old = await api.create(PODS, pod("a"))
    await configure(api, hook.entry(rules=[rule]))

    def meanwhile(_: Json) -> Json:
        kube.store.put(kinds.PODS, {**old, "spec": {"nodeName": "one"}})
        return {"allowed": True}

    hook.answer = meanwhile
    code, status = await api.ask("PUT", f"{PODS}/a", old)
    assert (code, status["reason"]) == (409, "Conflict")
