import json
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from nemutator_common import names
from nemutator_controller.journal.kube_objects import KubeObjects
from nemutator_controller.journal.live_objects import (
    ChangedError,
    LiveObject,
    ObjectRefusedError,
    UnreachableError,
)
from nemutator_controller.kube.budget import WriteBudget
from nemutator_controller.kube.failures import (
    ConflictError,
    ForbiddenError,
    InvalidError,
    KubeError,
    NotFoundError,
    UnauthorizedError,
    UnavailableError,
    UntrustedError,
)
from nemutator_controller.kube.reading import Reader
from nemutator_controller.kube.writing import Writer

from tests.fakes.decisions import CPU, POD, TEAM, changed_pod, edit
from tests.fakes.scripted_kube import EagerClock, Said, ScriptedTransport

UID = "0d0d0d0d-0000-0000-0000-000000000000"
NOTE = "metadata.annotations[note]"


def body(version: str = "7", uid: str = UID) -> bytes:
    pod = changed_pod()
    pod["metadata"] |= {"uid": uid, "resourceVersion": version}
    return msgspec.json.encode(pod)


def standing(*script: Said) -> tuple[KubeObjects, ScriptedTransport]:
    transport, clock = ScriptedTransport(*script), EagerClock()
    return KubeObjects(Reader(transport), Writer(transport, WriteBudget(clock), clock)), transport


async def read(objects: KubeObjects) -> LiveObject:
    live = await objects.get(POD)
    assert live is not None
    return live


def operations(transport: ScriptedTransport) -> list[dict[str, Any]]:
    sent: list[dict[str, Any]] = json.loads(transport.calls[-1].body)
    return sent


async def test_a_write_is_bound_to_the_object_as_it_was_seen() -> None:
    objects, transport = standing(body(), body("8"))
    live = await read(objects)
    after = await objects.write(live, [edit(TEAM, before="blue", after="red")], resize=False)
    assert after.version == "8"
    assert operations(transport)[:4] == [
        {"op": "test", "path": "/metadata/uid", "value": UID},
        {"op": "test", "path": "/metadata/resourceVersion", "value": "7"},
        {"op": "test", "path": "/metadata/labels/team", "value": "blue"},
        {"op": "replace", "path": "/metadata/labels/team", "value": "red"},
    ]


async def test_resources_go_to_the_resize() -> None:
    objects, transport = standing(body(), body("8"))
    await objects.write(await read(objects), [edit(CPU, before="250m", after="1")], resize=True)
    assert transport.calls[-1].path == "/api/v1/namespaces/team/pods/web-1/resize"


async def test_another_uid_is_another_object() -> None:
    objects, _ = standing(body(uid="other"))
    assert await objects.get(replace(POD, uid=UID)) is None


@pytest.mark.parametrize(
    ("error", "now", "kind"),
    [
        (InvalidError, "7", ObjectRefusedError),
        (InvalidError, "8", ChangedError),
        (ConflictError, "", ChangedError),
        (ForbiddenError, "", ObjectRefusedError),
        (UnavailableError, "", UnreachableError),
        (UnauthorizedError, "", UnreachableError),
    ],
)
async def test_each_refusal_says_what_to_do_next(
    error: type[KubeError], now: str, kind: type[Exception]
) -> None:
    script: list[Said] = [body(), error("patch pods", "no"), *([body(now)] if now else [])]
    objects, _ = standing(*script)
    with pytest.raises(kind, match="patch pods: no"):
        await objects.write(await read(objects), [edit(TEAM, before="blue")], resize=False)


@pytest.mark.parametrize("answer", [b"", b"[]", b'{"metadata": {}}', b'{"metadata": 3}', b"\xff"])
async def test_an_answer_that_is_no_object_is_no_answer(answer: bytes) -> None:
    objects, _ = standing(answer)
    with pytest.raises(UnreachableError, match="is not an object"):
        await objects.get(POD)


FAILURES = [
    (ForbiddenError, ObjectRefusedError),
    (UnavailableError, UnreachableError),
    (UnauthorizedError, UnreachableError),
    (UntrustedError, UnreachableError),
]


@pytest.mark.parametrize(("error", "kind"), FAILURES)
async def test_a_failed_read_says_whether_to_ask_again(
    error: type[KubeError], kind: type[Exception]
) -> None:
    objects, _ = standing(error("get pods", "no"), error("list pods", "no"))
    with pytest.raises(kind, match="get pods: no"):
        await objects.get(POD)
    with pytest.raises(kind, match="list pods: no"):
        await objects.find(replace(POD, name="", generate_name="web-"), "d1")


@pytest.mark.parametrize(("error", "kind"), [*FAILURES, (ConflictError, ChangedError)])
async def test_a_failed_eviction_says_whether_to_ask_again(
    error: type[KubeError], kind: type[Exception]
) -> None:
    objects, _ = standing(body(), error("create pods/eviction", "no"))
    with pytest.raises(kind, match="create pods/eviction: no"):
        await objects.evict(await read(objects))


async def test_what_is_gone_is_neither_found_nor_evicted() -> None:
    gone = NotFoundError("pods", "not found")
    objects, transport = standing(gone, body(), gone)
    assert await objects.get(POD) is None
    await objects.evict(await read(objects))
    assert transport.calls[-1].path == "/api/v1/namespaces/team/pods/web-1/eviction"
    assert UID in transport.calls[-1].body.decode()


def listed(*pods: dict[str, Any]) -> bytes:
    return msgspec.json.encode(
        {"kind": "PodList", "metadata": {"resourceVersion": "9"}, "items": pods}
    )


def stamped(name: str, decision: str) -> dict[str, Any]:
    stamp = msgspec.json.encode({"id": decision}).decode()
    annotations = {str(names.MUTATION): stamp}
    return {
        "metadata": {"name": name, "uid": name, "annotations": annotations},
        "spec": {"containers": []},
    }


async def test_a_pod_is_found_by_its_stamp_among_those_that_may_carry_it() -> None:
    pods = stamped("other-1", "d1"), stamped("web-1", "d2"), stamped("web-2", "d1")
    objects, transport = standing(listed(*pods), body())
    unnamed = replace(POD, name="", uid="", generate_name="web-")
    live = await objects.find(unnamed, "d1")
    assert live is not None
    assert transport.calls[-1].path == "/api/v1/namespaces/team/pods/web-2"
    objects, _ = standing(listed(*pods[:2]))
    assert await objects.find(unnamed, "d1") is None


async def test_a_kind_that_is_not_taken_back_is_named() -> None:
    objects, _ = standing()
    with pytest.raises(
        ObjectRefusedError, match=r"ReplicaSet: only Pod, Deployment, .* are taken back"
    ):
        await objects.get(replace(POD, kind="ReplicaSet"))
