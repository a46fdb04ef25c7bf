"""Grants on their way from a node to the people who look, through a whole brain."""

import time
from pathlib import Path
from typing import Any

import msgspec
import pytest
from nemutator_common.audit_keys import installation_keys
from nemutator_common.errors import OperatorError
from nemutator_common.path_digests import path_digest
from nemutator_common.wire import Ack, Grant, StreamBatch

from tests.fakes.brains import StandingBrain, standing_brain
from tests.fakes.grants import grant

PATH = "/uplink/v1/streams/grants"


async def post(brain: StandingBrain, first: int, *grants: Grant, writer: str = "n1") -> Any:
    records = tuple(msgspec.to_builtins(one) for one in grants)
    body = msgspec.json.encode(StreamBatch(writer, "e", first, records))
    async with brain.local.post(PATH, data=body) as answer:
        return answer.status, await answer.json()


def acknowledged(seq: int) -> Any:
    return msgspec.to_builtins(Ack("e", seq))


async def get(brain: StandingBrain, path: str) -> Any:
    async with brain.local.get(path) as answer:
        assert answer.status == 200, await answer.text()
        return await answer.json()


async def test_grants_become_leases_and_neither_is_doubled_by_a_restart(tmp_path: Path) -> None:
    now = time.time()
    login = grant(at=now, expires_at=now + 3600)
    read = grant(at=now + 1, operation="read", secret="db", version=2, cached=True)
    denied = grant(at=now + 2, operation="read", secret="x", result="denied", namespace="bank")
    async with standing_brain(tmp_path / "data") as brain:
        assert await post(brain, 1, login, read) == (200, acknowledged(2))
    async with standing_brain(tmp_path / "data") as brain:
        position = f"{PATH}?writer=n1&epoch=e"
        assert await get(brain, position) == acknowledged(2)
        assert await post(brain, 1, login, read, denied) == (200, acknowledged(3))
        shown = await get(brain, "/api/v1/grants")
        assert [msgspec.convert(item, Grant) for item in shown["items"]] == [denied, read, login]
        [first] = (await get(brain, "/api/v1/grants?namespace=bank&limit=1"))["items"]
        assert first["result"] == "denied"
        leases = await get(brain, "/api/v1/leases?namespace=shop")
        assert leases["kind"] == "LeaseList"
        [lease] = leases["items"]
        assert (lease["pod"], lease["role"], lease["state"]) == ("web-1", "shop.web", "active")
        revoked = grant(at=now + 3, operation="revoke")
        await post(brain, 4, revoked)
        [lease] = (await get(brain, "/api/v1/leases"))["items"]
        assert lease["state"] == "revoked"


async def test_a_node_cannot_write_in_the_name_of_another(tmp_path: Path) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        status, said = await post(brain, 1, grant(node="n2"))
        assert (status, said["error"]) == (
            400,
            "a record is wrong: node: expected the writer's own name",
        )
        assert (await get(brain, "/api/v1/grants"))["items"] == []


async def test_an_unknown_stream_and_a_bad_limit_are_explained(tmp_path: Path) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        async with brain.local.post("/uplink/v1/streams/gossip", data=b"{}") as answer:
            assert (answer.status, (await answer.json())["error"]) == (404, "no such stream")
        for limit in ("0", "1001", "x", "-1"):
            async with brain.local.get(f"/api/v1/leases?limit={limit}") as answer:
                assert answer.status == 400


async def test_garbage_on_a_stream_is_refused_and_the_brain_lives(tmp_path: Path) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        for body in (b"", b"null", b"\xff\xfe", b"[" * 100_000, b'{"writer": 1}'):
            async with brain.local.post(PATH, data=body) as answer:
                assert answer.status == 400, body[:20]
        assert (await post(brain, 1, grant(at=time.time())))[0] == 200


async def test_who_read_a_path_is_answered_where_brain_and_agents_have_one_key(
    tmp_path: Path,
) -> None:
    key = tmp_path / "audit.key"
    key.write_text("0f" * 32 + "\n")
    digest = path_digest(installation_keys(str(key))[0], "secret/shop/db")
    read = grant(at=time.time(), operation="read", secret="db", path_digest=digest)
    other = grant(at=time.time(), operation="read", secret="x", path_digest="0" * 32)
    async with standing_brain(tmp_path / "data", audit_key_file=str(key)) as brain:
        assert (await post(brain, 1, read, other))[0] == 200
        found = await get(brain, "/api/v1/grants?path=secret/shop/db")
        assert [item["secret"] for item in found["items"]] == ["db"]
        # As Vault's own clients ask for it.
        same = await get(brain, "/api/v1/grants?path=secret/data/shop/db")
        assert same["items"] == found["items"]
        assert (await get(brain, "/api/v1/grants?path=secret/shop"))["items"] == []
        # Another key is in use now; what was written with the one before is still found.
        key.write_text("1e" * 32 + "\n" + "0f" * 32 + "\n")
    digest = path_digest(installation_keys(str(key))[0], "secret/shop/db")
    newer = grant(at=time.time(), operation="read", secret="db2", path_digest=digest)
    async with standing_brain(tmp_path / "data", audit_key_file=str(key)) as brain:
        assert (await post(brain, 3, newer))[0] == 200
        found = await get(brain, "/api/v1/grants?path=secret/shop/db")
        assert [item["secret"] for item in found["items"]] == ["db2", "db"]
        # Not all grants, which a script with an empty variable would take for those of its path.
        async with brain.local.get("/api/v1/grants?path=") as answer:
            assert (answer.status, (await answer.json())["error"]) == (
                400,
                "path: no secret has it",
            )
    async with (
        standing_brain(tmp_path / "data") as brain,
        brain.local.get("/api/v1/grants?path=secret/shop/db") as answer,
    ):
        assert answer.status == 400
        assert "audit_key_file" in (await answer.json())["remedy"]


@pytest.mark.parametrize(
    "content",
    [
        None,
        b"",
        b"short",
        b"x" * 257,
        b"\xff" * 32,
        (b"x" * 32 + b"\n") * 9,
        b"x" * 32 + b"\nshort",
    ],
)
def test_a_key_that_is_none_is_refused_with_its_remedy(
    tmp_path: Path, content: bytes | None
) -> None:
    if content is not None:
        (tmp_path / "key").write_bytes(content)
    with pytest.raises(OperatorError, match="audit key") as refused:
        installation_keys(str(tmp_path / "key"))
    assert "openssl rand -hex 32" in refused.value.remedy
    assert "xxx" not in str(refused.value)


async def test_secrets_are_asked_for_by_workload_and_those_of_nobody_are_none(
    tmp_path: Path,
) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        login = grant(at=time.time(), expires_at=time.time() + 3600)
        await post(brain, 1, login)
        for path in ("/api/v1/leases", "/api/v1/grants"):
            [item] = (await get(brain, path))["items"]
            assert (item["owner_kind"], item["owner"]) == ("", "")
            asked = f"{path}?namespace=shop&workload=Deployment/web"
            assert (await get(brain, asked))["items"] == []
            for bad in ("workload=Deployment/web", "namespace=shop&workload=web"):
                async with brain.local.get(f"{path}?{bad}") as answer:
                    assert answer.status == 400


async def test_what_was_refused_is_found_behind_whatever_was_granted_since(tmp_path: Path) -> None:
    now = time.time()
    denied = grant(at=now - 50, operation="read", secret="x", result="denied")
    older = grant(at=now - 5_000, operation="read", secret="y", result="denied")
    many = [grant(at=now, operation="read", secret=f"s{number}") for number in range(40)]
    async with standing_brain(tmp_path / "data") as brain:
        await post(brain, 1, older, denied, *many)
        found = await get(brain, f"/api/v1/grants?limit=5&refused=true&since={now - 3_600}")
        assert [one["secret"] for one in found["items"]] == ["x"]
        every = await get(brain, "/api/v1/grants?limit=5&refused=true")
        assert [one["secret"] for one in every["items"]] == ["x", "y"]
        for query in ("grants?refused=perhaps", "grants?since=nan", "leases?expired=1"):
            async with brain.local.get(f"/api/v1/{query}") as answer:
                assert answer.status == 400, query


async def test_a_login_that_has_expired_is_found_behind_those_that_are_renewed(
    tmp_path: Path,
) -> None:
    now = time.time()

    def login(uid: str, ends: float) -> Grant:
        return grant(at=now - 100, pod_uid=uid, expires_at=ends)

    renewed = [login(f"u{number}", now + 3_600) for number in range(40)]
    ended = grant(at=now - 50, pod_uid="gone", operation="revoke")
    async with standing_brain(tmp_path / "data") as brain:
        await post(brain, 1, login("late", now - 10), login("gone", now - 10), ended, *renewed)
        found = await get(brain, "/api/v1/leases?limit=5&expired=true")
        assert [(one["pod_uid"], one["state"]) for one in found["items"]] == [("late", "expired")]
