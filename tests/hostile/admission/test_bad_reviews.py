"""Strangers' bytes at the webhook: a valid answer or a 400, and the next question is answered."""

import asyncio
import contextlib
import copy
import io
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common import names
from nemutator_common.addresses import TcpAddress
from nemutator_common.serving.limits import Limits
from nemutator_common.serving.server import HttpServer
from nemutator_common.supervising import Supervisor
from nemutator_common.system_clock import SystemClock
from nemutator_controller.admission.endpoint import Webhook
from nemutator_controller.admission.node_statuses import NodeStatusHandler
from nemutator_controller.admission.outcomes import Rules
from nemutator_controller.admission.reviews import LARGEST, ReviewError, decode, encode
from nemutator_controller.admission.webhook_handler import WebhookHandler
from nemutator_controller.mutations.injection import Injector
from nemutator_controller.mutations.patches import apply_patch
from nemutator_controller.oversell.amplification import node_change

from tests.controller.policies.test_verbs import SAMPLES
from tests.fakes.admission import MemoryRecords, MemoryWorld
from tests.fakes.admission_reviews import UID, review, verified
from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process

TEAM = {
    "mode": "Apply",
    "mutations": [
        {"labels": {"set": {"team": "a"}}},
        {"resources": {"requests": {"cpu": {"ratio": 0.5}}, "limits": {"cpu": {"value": "1"}}}},
    ],
}


def samples(at: int) -> list[Any]:
    """A part of them, because a policy has a most of mutations; a pod has no selectors."""
    return [
        {verb: each[at]} for verb, each in SAMPLES.items() if verb != "selectors" and at < len(each)
    ]


POLICIES = {
    "team": TEAM,
    "first": {"mode": "Apply", "mutations": samples(0)},
    "second": {"mode": "Apply", "mutations": samples(1)},
    "templates": {"mode": "Apply", "mutations": samples(0), "applyTo": "template"},
}
POD = {"metadata": {}, "spec": {"containers": [{"name": "app"}]}}
GOOD = msgspec.json.encode(review(POD))


def answerer(meter: MemoryMeter) -> WebhookHandler:
    rules = Rules(own_namespace="nemutator", injector=Injector("agent:1"), strict=False)
    return WebhookHandler(MemoryWorld(**POLICIES), MemoryRecords(), rules, fresh=lambda: "d", process=fake_process(clock=ManualClock(), meter=meter))  # fmt: skip


@contextlib.asynccontextmanager
async def standing(meter: MemoryMeter) -> AsyncIterator[str]:
    """A webhook on a port; TLS is the listener's business, and proven with it."""
    process = fake_process(meter=meter)
    nodes = NodeStatusHandler(node_change, process)
    webhook = Webhook(answerer(meter), process=process, nodes=nodes)
    server = HttpServer(
        process=fake_process(clock=SystemClock(), meter=meter),
        name="webhook",
        address=TcpAddress("127.0.0.1", 0),
        routes=webhook.routes(),
        posts=webhook.at_once,
        limits=Limits(body_bytes=LARGEST),
    )
    await server.bind()
    stop = asyncio.Event()
    supervisor = Supervisor()
    supervisor.add("http", server.run)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(supervisor.run(stop))
        try:
            yield f"http://{server.address}"
        finally:
            stop.set()


def nested(depth: int, inner: bytes = b"1") -> bytes:
    return b'{"a":' * depth + inner + b"}" * depth


def with_object(manifest: bytes) -> bytes:
    return GOOD.replace(msgspec.json.encode(POD), manifest)


REFUSED = {
    "nothing": b"",
    "binary": bytes(range(256)) * 10,
    "truncated": GOOD[:-20],
    "trailing": GOOD + b"x",
    "a list": b"[]",
    "null": b"null",
    "another version": GOOD.replace(b"admission.k8s.io/v1", b"admission.k8s.io/v9"),
    "another kind": GOOD.replace(b'"AdmissionReview"', b'"Review"'),
    "no request": b'{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}',
    "an answer": b'{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{}}',
    "no uid": GOOD.replace(b'"uid"', b'"uit"'),
    "a uid that is a number": GOOD.replace(f'"{UID}"'.encode(), b"7"),
    "a uid with control characters": GOOD.replace(UID.encode(), b"\\u001b[2J"),
    "an operation that is a list": GOOD.replace(b'"CREATE"', b"[]"),
    "a namespace that is a number": GOOD.replace(b'"default"', b"7"),
    "deep arrays": b"[" * 200_000,
}

ANSWERED = {
    "garbage for UTF-8": b'{"metadata":{"name":"\xff\xfe"}}',
    "garbage for UTF-8 deep inside": b'{"spec":{"containers":[{"name":"\xff\xfe"}]}}',
    "null": b"null",
    "text": b'"pod"',
    "a list": b"[1,2]",
    "nothing in it": b"{}",
    "metadata that is text": b'{"metadata":"x"}',
    "labels that are a list": b'{"metadata":{"labels":[]}}',
    "annotations that are numbers": b'{"metadata":{"annotations":{"nemutator.io/skip":7}}}',
    "no spec": b'{"metadata":{"labels":{"nemutator.io/inject":"enabled"}}}',
    "containers that are null": b'{"spec":{"containers":null}}',
    "a container that is null": b'{"spec":{"containers":[null]}}',
    "containers of anything": b'{"spec":{"containers":[null,1,"x",{},{"name":3}]}}',
    "amounts that are none": (
        b'{"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":[]},"limits":7}}]}}'
    ),
    "a huge amount": (
        b'{"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"1e999999999"}}}]}}'
    ),
    "a long number": b'{"metadata":{"generation":' + b"9" * 4000 + b"}}",
    "deep": b'{"metadata":{"labels":{"nemutator.io/inject":"enabled"}},"x":' + nested(300) + b"}",
    "many containers": (
        b'{"spec":{"containers":['
        + b",".join(b'{"name":"c%d"}' % number for number in range(20_000))
        + b"]}}"
    ),
    "names with brackets": (
        b'{"spec":{"containers":[{"name":"a]=[\\"","resources":{"requests":{"cpu":"1"}}}]}}'
    ),
    "a stamp that lies": (
        b'{"metadata":{"annotations":{"nemutator.io/mutation":'
        b'"{\\"id\\":\\"x\\",\\"edits\\":[[\\"metadata\\",[3],[{}],\\"\\",\\"\\"]]}"}}}'
    ),
}


async def test_what_is_no_review_is_refused_with_a_reason_and_counted() -> None:
    meter = MemoryMeter()
    async with standing(meter) as url, aiohttp.ClientSession(url) as session:
        for what, body in REFUSED.items():
            async with session.post("/mutate", data=body) as answer:
                assert answer.status == 400, what
                assert (await answer.json())["error"].startswith(("expected", "request.uid")), what
        assert meter.value(names.ADMISSION_FAILURES, reason="review") == len(REFUSED)
        async with session.post("/mutate", data=GOOD) as answer:
            assert verified(await answer.read()).patch


async def test_an_object_that_no_stack_holds_changes_nothing() -> None:
    async with standing(MemoryMeter()) as url, aiohttp.ClientSession(url) as session:
        async with session.post("/mutate", data=with_object(nested(100_000))) as answer:
            body = await answer.read()
            # Python 3.14 passes over it where earlier ones give up, and then no plan is made.
            assert answer.status == 400 or not verified(body).patch
        async with session.post("/mutate", data=GOOD) as answer:
            assert verified(await answer.read()).patch


@pytest.mark.slow
async def test_any_object_gets_an_answer_that_the_server_takes() -> None:
    meter = MemoryMeter()
    async with standing(meter) as url, aiohttp.ClientSession(url) as session:
        for what, manifest in ANSWERED.items():
            for path in ("/mutate", "/mutate/namespaces"):
                async with session.post(path, data=with_object(manifest)) as answer:
                    assert answer.status == 200, (what, await answer.text())
                    taken = verified(await answer.read())
                    assert taken.allowed, what
                    assert meter.value(names.ADMISSION_FAILURES, reason="internal") == 0, what
                    assert not (taken.patch and what.startswith("garbage"))
                    if taken.patch:
                        apply_patch(msgspec.json.decode(manifest), taken.patch)


NODE = {
    "metadata": {
        "name": "n",
        "labels": {"nemutator.io/oversell": "enabled"},
        "annotations": {"nemutator.io/oversell-ratio": "1.50"},
    },
    "status": {"capacity": {"cpu": "4"}, "allocatable": {"cpu": "4"}},
}
STATUS = {
    "operation": "UPDATE",
    "name": "n",
    "subResource": "status",
    "resource": {"group": "", "version": "v1", "resource": "nodes"},
    "userInfo": {"username": "system:node:n"},
    "oldObject": NODE,
}


async def test_any_status_of_a_node_is_let_in_and_a_sound_one_amplified_on_both_ways() -> None:
    sound = msgspec.json.encode(review(NODE, **STATUS))
    meter = MemoryMeter()
    async with standing(meter) as url, aiohttp.ClientSession(url) as session:
        for what, manifest in ANSWERED.items():
            body = msgspec.json.encode(review(UID, **STATUS)).replace(
                f'"object":"{UID}"'.encode(), b'"object":' + manifest
            )
            async with session.post("/mutate/nodes", data=body) as answer:
                assert answer.status == 200, what
                taken = verified(await answer.read())
                assert (taken.allowed, taken.patch) == (True, []), what
        assert meter.value(names.NODE_STATUSES, result="bad_object") == len(ANSWERED)
        # A body of unknown length is read by the HTTP parser, and not by the short way.
        for data in (sound, io.BytesIO(sound)):
            async with session.post("/mutate/nodes", data=data) as answer:
                patched: Any = apply_patch(NODE, verified(await answer.read()).patch)
                assert patched["status"]["allocatable"]["cpu"] == "6"
        async with session.post("/mutate/nodes", data=b"{}") as answer:
            assert answer.status == 400
        async with session.post("/mutate", data=sound) as answer:
            assert verified(await answer.read()).patch == []


async def test_a_body_without_end_is_cut_off() -> None:
    async with standing(MemoryMeter()) as url, aiohttp.ClientSession(url) as session:
        with contextlib.suppress(aiohttp.ClientError):
            async with session.post("/mutate", data=io.BytesIO(b" " * (LARGEST + 1))) as answer:
                assert answer.status == 413
        async with session.post("/mutate", data=GOOD) as answer:
            assert answer.status == 200


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PLACES = [
    ("metadata",),
    ("metadata", "labels"),
    ("metadata", "annotations"),
    ("metadata", "ownerReferences"),
    ("spec",),
    ("spec", "containers"),
    ("spec", "initContainers"),
    ("spec", "volumes"),
    ("spec", "securityContext"),
    ("spec", "containers", 0, "resources"),
    ("spec", "containers", 0, "volumeMounts"),
    ("spec", "containers", 0, "securityContext"),
    ("spec", "containers", 0, "env"),
    ("spec", "containers", 0, "env", 0),
    ("spec", "containers", 0, "image"),
    ("spec", "containers", 0, "resources", "requests"),
    ("spec", "nodeSelector"),
    ("spec", "os"),
    ("spec", "runtimeClassName"),
    ("spec", "tolerations"),
    ("spec", "tolerations", 0),
    ("spec", "tolerations", 0, "key"),
    ("spec", "imagePullSecrets"),
    ("spec", "topologySpreadConstraints"),
    ("spec", "topologySpreadConstraints", 0, "topologyKey"),
    ("spec", "affinity"),
    ("spec", "affinity", "nodeAffinity"),
    ("spec", "affinity", "nodeAffinity", REQUIRED, "nodeSelectorTerms"),
    ("spec", "affinity", "nodeAffinity", REQUIRED, "nodeSelectorTerms", 0, "matchExpressions"),
    ("spec", "volumes", 0),
    ("spec", "volumes", 0, "name"),
    ("spec", "volumes", 0, "emptyDir"),
    ("spec", "dnsConfig"),
    ("spec", "dnsConfig", "options"),
    ("spec", "containers", 0, "envFrom"),
    ("spec", "enableServiceLinks"),
    ("metadata", "annotations", "nemutator.io/mutation"),
    ("metadata", "name"),
]
AROUND: list[tuple[Any, ...]] = [
    ("metadata",),
    ("metadata", "annotations"),
    ("metadata", "annotations", "nemutator.io/mutation"),
    ("metadata", "ownerReferences"),
    ("spec",),
    ("spec", "selector"),
    ("spec", "selector", "matchLabels"),
    ("spec", "selector", "matchLabels", "app"),
    ("spec", "selector", "matchExpressions"),
    ("spec", "selector", "matchExpressions", 0),
    ("spec", "template"),
    *(("spec", "template", *place) for place in PLACES),
]
"""In a Deployment."""

REQUIRED_TERMS: Any = {"nodeSelectorTerms": [{"matchExpressions": []}]}


def pod() -> Any:
    return {
        "metadata": {"labels": {"nemutator.io/inject": "enabled", "app": "a"}, "annotations": {}},
        "spec": {
            "containers": [{"name": "app", "resources": {}, "env": [{"name": "LOG"}]}],
            "volumes": [{"name": "tmp"}],
            "dnsConfig": {},
            "tolerations": [{}],
            "topologySpreadConstraints": [{}],
            "affinity": {"nodeAffinity": {REQUIRED: copy.deepcopy(REQUIRED_TERMS)}},
        },
    }


def with_value(manifest: Any, place: tuple[Any, ...], value: Any) -> Any:
    around = manifest
    for step in place[:-1]:
        around = around[step]
    around[place[-1]] = value
    return manifest


async def let_in(manifest: Any, **request: Any) -> None:
    asked = decode(msgspec.json.encode(review(manifest, **request)))
    meter = MemoryMeter()
    answer = await answerer(meter).answer(asked)
    taken = verified(encode(asked.uid, answer))
    assert taken.allowed
    # Nothing that a stranger writes is a defect of ours.
    assert meter.value(names.ADMISSION_FAILURES, reason="internal") == 0
    if taken.patch:
        apply_patch(manifest, taken.patch)


@pytest.mark.slow
@given(st.sampled_from(PLACES), json_values)
async def test_anything_anywhere_is_let_in(place: tuple[Any, ...], value: Any) -> None:
    await let_in(with_value(pod(), place, value))


@pytest.mark.slow
@given(st.sampled_from(AROUND), json_values, st.booleans(), st.booleans())
async def test_so_is_anything_anywhere_in_a_workload(
    place: tuple[Any, ...], value: Any, in_the_old: bool, is_new: bool
) -> None:
    def workload() -> Any:
        selector = {"matchLabels": {"app": "a"}, "matchExpressions": [{"key": "b"}]}
        return {
            "metadata": {"name": "web", "annotations": {}},
            "spec": {"selector": selector, "template": pod()},
        }

    odd, plain = with_value(workload(), place, value), workload()
    plain["spec"]["template"]["spec"]["hostname"] = "other"
    asked = {"resource": {"group": "apps", "version": "v1", "resource": "deployments"}}
    if is_new:
        await let_in(odd, **asked)
    else:
        new, old = (plain, odd) if in_the_old else (odd, plain)
        await let_in(new, oldObject=old, operation="UPDATE", **asked)


@given(st.binary(max_size=200))
def test_no_bytes_are_too_strange_to_be_refused(body: bytes) -> None:
    with contextlib.suppress(ReviewError):
        decode(body)
