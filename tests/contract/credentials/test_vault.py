"""What every Vault does: the fake ones, and with `make e2e` the real one and OpenBao, behind our adapter."""

import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from nemutator_agent.credentials.leases.kept_documents import asking, keeping, kept_document
from nemutator_agent.credentials.leases.leased_documents import LeasedDocument, RecoveredLease
from nemutator_agent.credentials.leases.states import LeaseHolding, granted
from nemutator_agent.credentials.ports import Vault
from nemutator_agent.credentials.vault.documents import Document, EngineMount, GivenLease
from nemutator_agent.credentials.vault.exchanges import VaultExchange
from nemutator_agent.credentials.vault.failures import (
    LoginRefusedError,
    SecretMissingError,
    TokenGoneError,
    UnsupportedSecretError,
    VaultDeniedError,
    VaultError,
    VaultUnavailableError,
)
from nemutator_common.secret import Secret

from tests.contract.credentials.places import FakePlace, Place, adapter, real_place
from tests.fakes.vaults import FakeVault, MemoryVault

KV2 = EngineMount("secret/", 2)
KV1 = EngineMount("kv1/", 1)


REAL = [pytest.param(name, marks=pytest.mark.e2e) for name in ("vault", "bao")]


@pytest.fixture(params=["memory", "fake", "fake of openbao", *REAL])
async def setup(request: pytest.FixtureRequest) -> AsyncIterator[tuple[Place, Vault]]:
    if request.param == "memory":
        memory = MemoryVault()
        yield FakePlace(memory.state), memory
        return
    with contextlib.ExitStack() as stack:
        place: Place
        if request.param.startswith("fake"):
            fake = stack.enter_context(FakeVault())
            fake.plain = request.param == "fake of openbao"
            place, url = FakePlace(fake), fake.url
        else:
            real, cluster = (request.getfixturevalue(name) for name in (request.param, "cluster"))
            place, url = stack.enter_context(real_place(real, cluster)), real.url
        yield place, stack.enter_context(adapter(url))


@pytest.fixture
def place(setup: tuple[Place, Vault]) -> Place:
    return setup[0]


@pytest.fixture
def asked(setup: tuple[Place, Vault]) -> Vault:
    return setup[1]


async def logged_in(vault: Vault, place: Place, *reads: str) -> Secret:
    role, jwt = place.account(reads=reads)
    return (await vault.login(role, jwt)).token


def gone_in(place: Place) -> type[VaultError]:
    return VaultDeniedError if place.plain else TokenGoneError


async def test_an_account_logs_in_and_gets_a_token_that_can_be_renewed(
    asked: Vault, place: Place
) -> None:
    role, jwt = place.account(reads=[])
    lease = await asked.login(role, jwt)
    assert lease.token.reveal().startswith(("hvs.", "s."))
    assert (lease.ttl_s, lease.renewable) == (3600, True)
    renewed = await asked.renew(lease.token)
    assert renewed.token == lease.token
    assert 3590 <= renewed.ttl_s <= 3600


async def test_a_role_that_is_not_there_is_named(asked: Vault, place: Place) -> None:
    _, jwt = place.account(reads=[])
    with pytest.raises(LoginRefusedError, match="invalid role name"):
        await asked.login("nobody.default", jwt)


async def test_a_strange_account_is_refused(asked: Vault, place: Place) -> None:
    role, jwt = place.account(reads=[])
    with pytest.raises(LoginRefusedError) as refused:
        await asked.login(role, Secret("e30.e30.c2ln"))
    assert jwt.reveal() not in str(refused.value)


async def test_the_newest_version_is_read(asked: Vault, place: Place) -> None:
    path = f"secret/{place.folder}/own"
    place.write(path, {"password": "first"})
    place.write(path, {"password": "second", "port": 5432})
    token = await logged_in(asked, place, path)
    mount = await asked.mount_of(token, path)
    assert mount == KV2
    document = await asked.read(token, mount, path)
    assert document.content.reveal() == '{"password":"second","port":5432}'
    assert document.version == 2


async def test_an_engine_of_one_version_is_read(asked: Vault, place: Place) -> None:
    path = f"kv1/{place.folder}"
    place.write(path, {"word": "old"})
    token = await logged_in(asked, place, path)
    mount = await asked.mount_of(token, path)
    assert mount == KV1
    document = await asked.read(token, mount, path)
    assert (document.content.reveal(), document.version) == ('{"word":"old"}', None)


async def test_what_no_policy_allows_is_denied(asked: Vault, place: Place) -> None:
    own, others = f"secret/{place.folder}/own", f"secret/{place.folder}/others"
    place.write(others, {"word": "hidden"})
    token = await logged_in(asked, place, own)
    assert await asked.mount_of(token, others) == KV2
    with pytest.raises(VaultDeniedError, match="permission denied"):
        await asked.read(token, KV2, others)


@pytest.mark.parametrize("path", ["kv1/other", "nowhere/at/all"])
async def test_a_mount_that_no_policy_reaches_is_denied_like_one_that_is_not_there(
    asked: Vault, place: Place, path: str
) -> None:
    token = await logged_in(asked, place, f"secret/{place.folder}/own")
    with pytest.raises(VaultDeniedError, match="no policy of the role reaches into this mount"):
        await asked.mount_of(token, path)


async def test_nothing_there_is_missing(asked: Vault, place: Place) -> None:
    path = f"secret/{place.folder}/none"
    token = await logged_in(asked, place, path)
    with pytest.raises(SecretMissingError):
        await asked.read(token, KV2, path)


async def test_a_deleted_version_is_missing(asked: Vault, place: Place) -> None:
    path = f"secret/{place.folder}/own"
    place.write(path, {"word": "gone"})
    place.delete(path)
    token = await logged_in(asked, place, path)
    with pytest.raises(SecretMissingError):
        await asked.read(token, KV2, path)


async def test_another_kind_of_engine_is_not_handed_out(asked: Vault, place: Place) -> None:
    path = "transit/keys/app"
    token = await logged_in(asked, place, path)
    mount = await asked.mount_of(token, path)
    assert mount == EngineMount("transit/", None, "transit")
    with pytest.raises(UnsupportedSecretError, match="transit/ is an engine of kind transit"):
        await asked.read(token, mount, path)


async def test_a_revoked_token_opens_nothing(asked: Vault, place: Place) -> None:
    path = f"secret/{place.folder}/own"
    place.write(path, {"word": "x"})
    token = await logged_in(asked, place, path)
    await asked.revoke(token)
    for call in (
        asked.mount_of(token, path),
        asked.read(token, KV2, path),
        asked.renew(token),
        asked.revoke(token),
    ):
        with pytest.raises(gone_in(place)):
            await call


async def test_a_token_looks_itself_up(asked: Vault, place: Place) -> None:
    token = await logged_in(asked, place, f"secret/{place.folder}/own")
    await asked.lookup(token)
    await asked.revoke(token)
    with pytest.raises(gone_in(place)):
        await asked.lookup(token)


async def test_it_is_well(asked: Vault, place: Place) -> None:
    await asked.health()
    place.seal()
    try:
        with pytest.raises(VaultUnavailableError, match="sealed"):
            await asked.health()
    finally:
        place.unseal()


async def test_a_batch_token_reads_and_cannot_be_ended(asked: Vault, place: Place) -> None:
    path = f"secret/{place.folder}/own"
    place.write(path, {"word": "x"})
    role, jwt = place.account(reads=[path], batch=True)
    lease = await asked.login(role, jwt)
    assert not lease.renewable
    assert (await asked.read(lease.token, KV2, path)).content.reveal() == '{"word":"x"}'
    for call in (asked.renew(lease.token), asked.revoke(lease.token)):
        with pytest.raises(VaultDeniedError, match="batch tokens cannot be"):
            await call


async def test_a_login_method_is_no_engine(asked: Vault, place: Place) -> None:
    token = await logged_in(asked, place, f"secret/{place.folder}/own")
    mount = await asked.mount_of(token, "auth/token/lookup-self")
    assert mount == EngineMount("auth/token/", None, "token")
    with pytest.raises(UnsupportedSecretError, match="of kind token"):
        await asked.read(token, mount, "auth/token/lookup-self")


async def test_a_pods_own_client_gets_vaults_own_answers(asked: Vault, place: Place) -> None:
    path = f"secret/{place.folder}/own"
    place.write(path, {"word": "x"})
    token = await logged_in(asked, place, path)

    async def status_of(method: str, path: str, **more: Any) -> tuple[int, dict[str, Any]]:
        answer = await asked.exchange(token, VaultExchange(method=method, path=path, **more))
        assert json.loads(answer.body.reveal() or "{}") == answer.document
        return answer.status, dict(answer.document)

    own = f"secret/data/{place.folder}/own"
    status, read = await status_of("GET", own)
    assert (status, read["data"]["data"]) == (200, {"word": "x"})
    status, denied = await status_of("GET", f"secret/data/{place.folder}/others")
    assert status == 403
    assert "permission denied" in denied["errors"][0]
    status, looked_up = await status_of("GET", "auth/token/lookup-self")
    assert (status, looked_up["data"]["id"]) == (200, token.reveal())
    place.delete(path)
    assert (await status_of("GET", own))[0] == 404
    await asked.revoke(token)
    if place.plain:
        assert await status_of("GET", own) == (403, {"errors": ["permission denied"]})
        return
    with pytest.raises(TokenGoneError):
        await status_of("GET", own)


async def test_what_is_kept_for_a_token_is_read_with_that_token_alone(
    asked: Vault, place: Place
) -> None:
    role, jwt = place.account(reads=[])
    token, other = [(await asked.login(role, jwt)).token for _ in range(2)]
    path = "database/creds/shop"
    given = GivenLease(f"{path}/abc", 60.0, renewable=True)
    document = Document.of({"username": "u", "password": "w", "port": 5432}, None, lease=given)
    holding = granted(LeaseHolding(), given, 0.0, roll=0.5)
    before = await asked.exchange(token, asking(path))
    assert (before.status, before.document.get("data")) == (404, None)
    keep = keeping(path, LeasedDocument(document, holding, 1))
    assert keep is not None
    assert (await asked.exchange(token, keep)).status == 204
    lease = RecoveredLease(path, holding, 1, 2)
    assert kept_document(await asked.exchange(token, asking(path)), lease) == document
    assert kept_document(await asked.exchange(other, asking(path)), lease) is None


async def test_a_sealed_vault_is_told_apart(asked: Vault, place: Place) -> None:
    path = f"secret/{place.folder}/own"
    role, jwt = place.account(reads=[path])
    token = (await asked.login(role, jwt)).token
    place.seal()
    try:
        exchange = VaultExchange(method="GET", path="secret/data/app")
        for call in (
            asked.login(role, jwt),
            asked.read(token, KV2, path),
            asked.renew(token),
            asked.exchange(token, exchange),
        ):
            with pytest.raises(VaultUnavailableError, match="sealed") as raised:
                await call
            assert raised.value.reason == "sealed"
    finally:
        place.unseal()
