"""Sends the requests of `refusals.py` to a place and notes what each gets, ready to be compared."""

import asyncio
import io
import json
import re
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

from tests.contract.kube.gadgets import define_gadgets, gadget
from tests.contract.kube.places import Place
from tests.contract.kube.refusals import (
    APPLY,
    CASES,
    DEPLOYMENTS,
    GADGETS,
    MAPS,
    MERGE,
    PODS,
    READS,
    Case,
    Who,
    pod,
    settings,
)
from tests.fakes.kube.conversation import Conversation

Json = dict[str, Any]

PATIENCE_S = 60.0
LONGEST_LINE = 1 << 20

UID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
VERSIONS = (
    re.compile(r"(?<=current: )\d+"),
    re.compile(r"(?<=too old resource version: 1 \()\d+"),
    re.compile(r"(?<=ResourceVersion in record \()\d+"),
)

RUNNING = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}


async def prepare(place: Place) -> None:
    """Put in place what the requests are about."""
    inside = {"namespace": place.namespace}
    merge, apply = {"Content-Type": MERGE}, {"Content-Type": APPLY}
    async with Conversation(place) as api:
        await define_gadgets(api)
        await api.create(GADGETS.format(**inside), gadget("taken"))
        for name in ("taken", "twice", "idle"):
            path = PODS.format(**inside)
            await api.create(path, pod(name, labels={"app": name}))
            code, answer = await api.ask("PATCH", f"{path}/{name}/status", RUNNING, headers=merge)
            assert code == 200, answer
        path = f"/apis/policy/v1/namespaces/{place.namespace}/poddisruptionbudgets"
        for name, app in (("one", "taken"), ("two", "twice"), ("three", "twice")):
            selector = {"matchLabels": {"app": app}}
            spec = {"minAvailable": 1, "selector": selector}
            await api.create(path, {"metadata": {"name": name}, "spec": spec})
        path = f"{MAPS.format(**inside)}/settings"
        for manager, data in (("one", {"a": "1", "b": "1"}), ("three", {"c": "1"})):
            code, answer = await api.ask(
                "PATCH", path, settings(**data), headers=apply, fieldManager=manager
            )
            assert code in (200, 201), answer
        code, answer = await api.ask(
            "PATCH", path, {"data": {"d": "1"}}, headers=merge, fieldManager="editor"
        )
        assert code == 200, answer
        deployment = {
            "metadata": {"name": "taken"},
            "spec": {
                "replicas": 0,
                "selector": {"matchLabels": {"app": "none"}},
                "template": {**pod("x", labels={"app": "none"})},
            },
        }
        await api.create(DEPLOYMENTS.format(**inside), deployment)
    for name in ("one", "two", "three"):
        await place.counted(name)


async def answers(place: Place) -> dict[str, Json]:
    """What each case gets, by its name; what differs from one time to the next is taken out."""
    tokens: dict[Who, str] = {
        "admin": place.token,
        "nobody": await place.somebody("nobody"),
        "anonymous": "",
        "stranger": "stranger",
    }
    context = ssl.create_default_context(cafile=str(place.ca_file))
    async with aiohttp.ClientSession(
        place.url,
        connector=aiohttp.TCPConnector(ssl=context),
        timeout=aiohttp.ClientTimeout(PATIENCE_S),
        read_bufsize=LONGEST_LINE,
    ) as session:

        async def answer(case: Case) -> Json:
            async with _asked(session, case, place.namespace, tokens[case.who]) as response:
                return await _noted(case, response, place.namespace)

        # Some reads wait for a second or three, and none of them changes anything.
        async with asyncio.TaskGroup() as group:
            reads = {case.name: group.create_task(answer(case)) for case in READS}
        found = {name: task.result() for name, task in reads.items()}
        for case in CASES:
            if case.name not in found:
                found[case.name] = await answer(case)
    return found


@asynccontextmanager
async def _asked(
    session: aiohttp.ClientSession, case: Case, namespace: str, token: str
) -> AsyncIterator[aiohttp.ClientResponse]:
    headers = {"Accept": case.accept}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    if case.method != "GET":
        headers["Content-Type"] = case.content_type
    path = case.path.replace("{namespace}", namespace)
    async with session.request(
        case.method,
        path,
        params=case.query,
        data=io.BytesIO(case.body) if case.body else None,
        headers=headers,
    ) as response:
        yield response


async def _noted(case: Case, response: aiohttp.ClientResponse, namespace: str) -> Json:
    watched = "watch" in case.query and response.status == 200
    body = await (response.content.readline() if watched else response.read())
    text = UID.sub("{uid}", body.decode().replace(namespace, "{namespace}"))
    for version in VERSIONS:
        text = version.sub("{version}", text)
    noted: Json = {"code": response.status}
    if after := response.headers.get("Retry-After"):
        noted["retry_after"] = after
    if not response.content_type.endswith("/json"):
        return {**noted, "text": text}
    answer: Json = json.loads(text or "{}")
    if causes := (answer.get("details") or {}).get("causes"):
        # Of an apply that meets several owners they come in any order.
        causes.sort(key=lambda cause: (cause.get("field", ""), cause["message"]))
    if answer.get("kind") == "Status" or answer.get("type") == "ERROR":
        return {**noted, "body": answer}
    # An object is not what this is about: only that it is given, and a review's verdict.
    kept = {key: answer[key] for key in ("kind", "type") if key in answer}
    verdict = {"status": answer["status"]} if str(kept.get("kind")).endswith("Review") else {}
    return {**noted, "body": {**kept, **verdict}}


def without_words(noted: Json) -> Json:
    """The same less its texts, where they are those of Go's parsers."""
    body = dict(noted.get("body", {}))
    body.pop("message", None)
    return {**noted, "body": body}
