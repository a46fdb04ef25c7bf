"""Vault's own API on the socket of a pod, as its clients ask it."""

import json
from pathlib import Path
from typing import Any

import pytest
from nemutator_common import names

from tests.fakes.brokers import FRESH_S
from tests.fakes.pod_sockets import Node, call
from tests.fakes.vault_states import Engine

CLIENT = {"X-Vault-Request": "true"}
DB = {"password": "hunter2", "port": 5432}


@pytest.fixture
def node(tmp_path: Path) -> Node:
    made = Node(tmp_path)
    state = made.setup.vault.state
    state.write("secret/app/db", dict(DB))
    state.write("kv1/word", {"word": "old"})
    state.engines["database/"] = Engine(
        None,
        answers={
            "creds/shop": {
                "request_id": "1",
                "lease_id": "database/creds/shop/abc",
                "lease_duration": 60,
                "renewable": True,
                "data": {"username": "u", "password": "p"},
            }
        },
    )
    made.setup.allow("secret/app/db", "secret/app/none", "kv1/word", "database/creds/shop")
    return made


async def ask(socket: Path, path: str, **more: Any) -> tuple[int, Any]:
    return await call(socket, path, **CLIENT, **more)


async def test_a_document_is_read_as_from_vault_and_from_memory(node: Node) -> None:
    async with node.running():
        socket = await node.publish("v1")
        for _ in range(3):
            status, document = await ask(socket, "/v1/secret/data/app/db")
            assert status == 200
            assert document["data"]["data"] == DB
            assert document["data"]["metadata"]["version"] == 1
            assert (document["lease_id"], document["mount_type"]) == ("", "kv")
            assert (await ask(socket, "/v1/kv1/word"))[1]["data"] == {"word": "old"}
        assert node.setup.calls == {"login": 1, "mount": 2, "read": 2}
        # Native calls and those of Vault's clients share one cache.
        await node.setup.clock.advance(FRESH_S)
        node.setup.vault.outage = "sealed"
        assert (await ask(socket, "/v1/secret/data/app/db"))[0] == 200


async def test_the_command_kv_finds_its_engine_without_asking_vault_again(node: Node) -> None:
    async with node.running():
        socket = await node.publish("v1")
        for _ in range(2):
            status, document = await ask(socket, "/v1/sys/internal/ui/mounts/secret/app/db")
            assert status == 200
            data = {"path": "secret/", "type": "kv", "options": {"version": "2"}}
            assert document["data"] == data
        assert node.setup.calls["mount"] == 1


async def test_native_names_and_a_mount_of_the_same_name_are_told_apart(node: Node) -> None:
    state = node.setup.vault.state
    state.engines["secret/"] = Engine(1)
    state.write("secret/db", {"of": "Vault"})
    node.setup.allow("secret/db", "secret/other")
    async with node.running():
        socket = await node.publish("v1", declared={"secret.db": "secret/db#of"})
        assert (await call(socket, "/v1/secret/db"))[1]["name"] == "db"
        assert (await ask(socket, "/v1/secret/db"))[1]["data"] == {"of": "Vault"}
        status, document = await call(socket, "/v1/secret/data/app")
        assert (status, document["step"]) == (404, "path")


async def test_a_pod_lists_writes_and_deletes_where_its_policy_allows(node: Node) -> None:
    async with node.running():
        socket = await node.publish("v1")
        path = "/v1/secret/data/app/db"
        assert (await ask(socket, "/v1/secret/metadata/app?list=true"))[1]["data"] == {
            "keys": ["db"]
        }
        await ask(socket, path)
        new = {"data": {"password": "second"}}
        assert (await ask(socket, path, method="POST", json=new))[0] == 200
        # What was in memory is not given any more.
        assert (await ask(socket, path))[1]["data"]["data"] == new["data"]
        assert (await ask(socket, path, method="DELETE"))[0] == 204
        status, document = await ask(socket, path)
        assert (status, document["data"]["data"]) == (404, None)
        assert document["data"]["metadata"]["deletion_time"] == "2026-01-01T00:00:00Z"
        assert await ask(socket, "/v1/secret/data/app/none") == (404, {"errors": []})
        status, document = await ask(socket, "/v1/secret/data/other", method="PUT", json=new)
        assert (status, document) == (
            403,
            {"errors": ["1 error occurred:\n\t* permission denied\n\n"]},
        )
    assert node.setup.grants.of("write") == ["granted", "denied"]
    assert node.setup.grants.of("delete") == ["granted"]
    assert node.setup.grants.of("list") == ["granted"]


async def test_refusals_are_in_vaults_shape_and_name_the_remedy(node: Node) -> None:
    async with node.running():
        socket = await node.publish("v1")
        status, document = await ask(socket, "/v1/secret/data/others")
        assert status == 403
        (why,) = document["errors"]
        assert "Vault denies secret/others to role 'shop.api'" in why
        assert "permission denied; give the role a policy" in why
        node.setup.vault.outage = "sealed"
        status, document = await ask(socket, "/v1/secret/data/app/db")
        assert status == 503
        assert "unseal" in document["errors"][0]


async def test_the_pods_token_is_described_and_never_shown(node: Node) -> None:
    async with node.running():
        socket = await node.publish("v1")
        status, document = await ask(socket, "/v1/auth/token/lookup-self")
        assert (status, document["data"]["policies"]) == (200, ["default"])
        assert document["data"].keys() & {"id", "accessor"} == set()
        status, renewed = await ask(socket, "/v1/auth/token/renew-self", method="POST")
        auth = renewed["auth"]
        assert (auth["client_token"], auth["accessor"]) == ("", "")
        assert (auth["lease_duration"], auth["renewable"]) == (3600, True)
        (token,) = node.setup.vault.state.tokens
        assert token not in json.dumps([document, renewed])
        assert "renew" not in node.setup.calls


async def test_an_answer_that_shows_the_pods_token_is_not_passed_on(node: Node) -> None:
    async with node.running():
        socket = await node.publish("v1")
        await ask(socket, "/v1/auth/token/lookup-self")
        (token,) = node.setup.vault.state.tokens
        engine = node.setup.vault.state.engines["database/"]
        engine.answers["creds/shop"] = {"data": {"seen": [token]}}
        status, document = await ask(socket, "/v1/database/creds/shop")
        assert status == 502
        assert token not in json.dumps(document)


async def test_a_pod_handles_its_own_leases_and_no_others(node: Node) -> None:
    async with node.running():
        socket = await node.publish("v1")
        status, document = await ask(socket, "/v1/database/creds/shop")
        assert (status, document["lease_id"]) == (200, "database/creds/shop/abc")
        given = {"lease_id": "database/creds/shop/abc", "prefix": "database/"}
        for action in ("lookup", "renew", "revoke"):
            assert (await on_lease(socket, action, given))[0] == 200
        # The first is over, and the second was never this pod's.
        for lease in ("database/creds/shop/abc", "database/creds/x/1", ["list"], None):
            status, document = await on_lease(socket, "revoke", {"lease_id": lease})
            assert status == 403
            assert "this is no lease of this pod" in document["errors"][0]
    own = {"lease_id": "database/creds/shop/abc"}
    assert node.setup.vault.state.asked == [
        (f"sys/leases/{action}", own) for action in ("lookup", "renew", "revoke")
    ]


async def on_lease(socket: Path, action: str, given: object) -> tuple[int, Any]:
    return await ask(socket, f"/v1/sys/leases/{action}", method="PUT", json=given)


async def test_what_is_lent_is_the_same_for_all_who_ask_and_kept_by_the_node(node: Node) -> None:
    path = "database/creds/shop"
    node.setup.vault.state.lease_s[path] = 90
    async with node.running():
        socket = await node.publish("v1", declared={"secret.user": f"{path}#username"})
        _, first = await ask(socket, f"/v1/{path}")
        assert (first["lease_duration"], first["renewable"]) == (90, True)
        await node.setup.clock.advance(30)
        status, again = await ask(socket, f"/v1/{path}")
        assert (status, again["data"], again["lease_id"]) == (
            200, first["data"], first["lease_id"],
        )  # fmt: skip
        assert again["lease_duration"] == 60
        # The native API has the same, and the pod may handle what it was lent.
        assert (await call(socket, "/v1/secret/user"))[1]["value"] == first["data"]["username"]
        given = {"lease_id": first["lease_id"]}
        assert (await on_lease(socket, "revoke", given))[0] == 200
        _, other = await ask(socket, f"/v1/{path}")
        assert other["lease_id"] != first["lease_id"]


async def test_a_wrapping_token_is_what_is_asked_about_and_never_who_asks(node: Node) -> None:
    async with node.running():
        socket = await node.publish("v1")
        path = "/v1/sys/wrapping/unwrap"
        for sent in (
            {"json": {"token": "hvs.wrapped"}},
            {"json": {"token": "hvs.wrapped"}, "X-Vault-Token": "hvs.mine"},
            {"X-Vault-Token": "hvs.wrapped"},
        ):
            assert (await ask(socket, path, method="PUT", **sent))[0] == 200
        assert (await ask(socket, path, method="PUT"))[0] == 400
    assert node.setup.vault.state.asked == [("sys/wrapping/unwrap", {"token": "hvs.wrapped"})] * 3
    assert node.setup.grants.of("unwrap") == ["granted"] * 3 + ["denied"]


async def test_a_pod_asks_for_its_own_capabilities_alone(node: Node) -> None:
    async with node.running():
        socket = await node.publish("v1")
        given = {"paths": ["secret/data/app/db"], "token": "hvs.others"}
        await ask(socket, "/v1/sys/capabilities-self", method="POST", json=given)
    own = {"paths": ["secret/data/app/db"]}
    assert node.setup.vault.state.asked == [("sys/capabilities-self", own)]


async def test_what_an_answer_wraps_is_not_read_from_memory(node: Node) -> None:
    async with node.running():
        socket = await node.publish("v1")
        await ask(socket, "/v1/secret/data/app/db")
        wrap = {"X-Vault-Wrap-TTL": "60s"}
        assert (await ask(socket, "/v1/secret/data/app/db", **wrap))[0] == 200
        assert node.setup.calls["read"] == 2
        for path in ("/v1/auth/token/lookup-self", "/v1/sys/internal/ui/mounts/secret/x"):
            status, document = await ask(socket, path, **wrap)
            assert status == 400
            assert "not wrapped here" in document["errors"][0]


@pytest.mark.parametrize(("asked", "status"), [("", 200), ("team-a/", 200), ("team-b", 403)])
async def test_only_the_namespace_of_the_setting_is_served(
    node: Node, asked: str, status: int
) -> None:
    async with node.running():
        socket = await node.publish("v1")
        more = {"X-Vault-Namespace": asked}
        assert (await ask(socket, "/v1/secret/data/app/db", **more))[0] == status


async def test_each_request_is_a_record_whatever_becomes_of_it(node: Node) -> None:
    async with node.running():
        socket = await node.publish("v1")
        for path in ("secret/data/app/db", "sys/seal", "secret/data/a;b", "sys/health"):
            await ask(socket, f"/v1/{path}")
    made = [one for one in node.setup.grants.all if one.operation not in ("login", "revoke")]
    assert [(one.operation, one.result, one.reason) for one in made] == [
        ("read", "granted", ""),
        ("read", "denied", "allow list"),
        ("read", "denied", "path"),
        ("lookup", "granted", ""),
    ]
    assert all(one.path_digest for one in made)
    assert len({one.path_digest for one in made}) == 4
    assert node.setup.meter.value(names.CREDENTIAL_READS, result="fetched") == 1
