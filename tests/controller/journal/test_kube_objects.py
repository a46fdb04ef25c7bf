import json
from dataclasses import replace
from typing import Any

import msgspec
import pytest
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
    UnauthorizedError,
    UnavailableError,
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


async def test_a_write_is_bound_to_the_object_and_to_the_values_that_were_seen() -> None:
    objects, transport = standing(body(), body("8"))
    live = await read(objects)
    after = await objects.write(live, [edit(TEAM, before="blue", after="red")], resize=False)
    assert after.version == "8"
    assert operations(transport)[:3] == [
        {"op": "test", "path": "/metadata/uid", "value": UID},
        {"op": "test", "path": "/metadata/labels/team", "value": "blue"},
        {"op": "replace", "path": "/metadata/labels/team", "value": "red"},
    ]


async def test_where_something_was_absent_the_version_is_tested_too() -> None:
    objects, transport = standing(body(), body("8"))
    await objects.write(await read(objects), [edit(NOTE, after="x")], resize=False)
    tested = [each["path"] for each in operations(transport) if each["op"] == "test"]
    assert tested == ["/metadata/uid", "/metadata/resourceVersion"]


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
