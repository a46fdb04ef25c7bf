"""What every Vault does: the fake ones, and with `make e2e` the real one, behind our adapter."""

import contextlib
import ssl
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from nemutator_agent.credentials.ports import Vault
from nemutator_agent.credentials.vault.documents import EngineMount
from nemutator_agent.credentials.vault.failures import (
    LoginRefusedError,
    SecretMissingError,
    TokenGoneError,
    UnsupportedSecretError,
    VaultDeniedError,
    VaultUnavailableError,
)
from nemutator_agent.credentials.vault.hvac_client import HvacVault
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.secret import Secret

from tests.certificates import Authority
from tests.contract.credentials.places import FakePlace, Place, real_place
from tests.fakes.vaults import FakeVault, MemoryVault

KV2 = EngineMount("secret/", 2)
KV1 = EngineMount("kv1/", 1)


def adapter(url: str, *, ca_file: Path | None = None, call_s: float = 10.0) -> HvacVault:
    return HvacVault(url, ca_file=ca_file, namespace="", auth_mount="kubernetes", call_s=call_s)


@pytest.fixture(params=["memory", "fake", pytest.param("real", marks=pytest.mark.e2e)])
async def setup(request: pytest.FixtureRequest) -> AsyncIterator[tuple[Place, Vault]]:
    if request.param == "memory":
        memory = MemoryVault()
        yield FakePlace(memory.state), memory
        return
    with contextlib.ExitStack() as stack:
        place: Place
        if request.param == "fake":
            fake = stack.enter_context(FakeVault())
            place, url = FakePlace(fake), fake.url
        else:
            real, cluster = (request.getfixturevalue(name) for name in ("vault", "cluster"))
            place, url = stack.enter_context(real_place(real, cluster)), real.url
        adapted = adapter(url)
        stack.callback(adapted.close)
        yield place, adapted


@pytest.fixture
def place(setup: tuple[Place, Vault]) -> Place:
    return setup[0]


@pytest.fixture
def asked(setup: tuple[Place, Vault]) -> Vault:
    return setup[1]


@pytest.fixture
def fake() -> Iterator[FakeVault]:
    with FakeVault() as fake:
        yield fake


async def logged_in(vault: Vault, place: Place, *reads: str) -> Secret:
    role, jwt = place.account(reads=reads)
    return (await vault.login(role, jwt)).token


# --- on all ------------------------------------------------------------------------------------
async def test_an_account_logs_in_and_gets_a_token_that_can_be_renewed(
    asked: Vault, place: Place
) -> None:
    role, jwt = place.account(reads=[])
    lease = await asked.login(role, jwt)
    assert lease.token.reveal().startswith("hvs.")
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
    with pytest.raises(UnsupportedSecretError, match="transit/ is an engine of kind transit"):
        await asked.mount_of(token, path)


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
        with pytest.raises(TokenGoneError):
            await call


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
    with pytest.raises(UnsupportedSecretError, match="of kind token"):
        await asked.mount_of(token, "auth/token/lookup-self")


async def test_a_sealed_vault_is_told_apart(asked: Vault, place: Place) -> None:
    path = f"secret/{place.folder}/own"
    role, jwt = place.account(reads=[path])
    token = (await asked.login(role, jwt)).token
    place.seal()
    try:
        for call in (asked.login(role, jwt), asked.read(token, KV2, path), asked.renew(token)):
            with pytest.raises(VaultUnavailableError, match="sealed") as raised:
                await call
            assert raised.value.reason == "sealed"
    finally:
        place.unseal()


# --- on the fake alone: no real one can be made to do this --------------------------------------
@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        (429, b'{"errors": ["request path rate limit quota exceeded"]}', "busy"),
        (500, b'{"errors": ["internal error"]}', "down"),
        (502, b"<html>bad gateway</html>", "down"),
        (501, b'{"errors": ["Vault is not initialized"]}', "sealed"),
        (412, b'{"errors": ["required index state not present"]}', "down"),
        (307, b"", "malformed"),
        (200, b"<html>welcome to the proxy</html>", "malformed"),
        (200, b"[]", "malformed"),
        (404, b"<html>no such page</html>", "malformed"),
        (403, b"<html>forbidden</html>", "malformed"),
        (400, b"[]", "malformed"),
        (200, b'{"data": {"data": "text"}}', "malformed"),
    ],
)
async def test_what_is_no_answer_of_vault_is_an_outage(
    fake: FakeVault, status: int, body: bytes, reason: str
) -> None:
    fake.broken = status, body, {"Location": f"{fake.url}/v1/elsewhere"} if status == 307 else {}
    vault = adapter(fake.url)
    with pytest.raises(VaultUnavailableError) as raised:
        await vault.read(Secret("hvs.x"), KV2, "secret/app")
    assert raised.value.reason == reason
    assert ("leads to another address" in raised.value.why) == (status == 307)
    vault.close()
    # Nobody followed the redirection: it would have taken the token along.
    assert len(fake.headers) == 1


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, b"<html>bad request</html>"),
        (403, b"<html>forbidden</html>"),
        (404, b"<html>no such page</html>"),
        (404, b'{"errors": [1]}'),
        (403, b'["forbidden"]'),
        (200, b"<html>welcome to the proxy</html>"),
        (200, b'{"ok": true}'),
        (307, b""),
    ],
)
async def test_what_stands_before_vault_speaks_for_no_call_of_it(
    fake: FakeVault, status: int, body: bytes
) -> None:
    fake.broken = status, body, {}
    vault = adapter(fake.url)
    token = Secret("hvs.x")
    for call in (
        vault.login("app", Secret("jwt")),
        vault.renew(token),
        vault.revoke(token),
        vault.mount_of(token, "secret/app"),
        vault.read(token, KV2, "secret/app"),
    ):
        with pytest.raises(VaultUnavailableError) as raised:
            await call
        assert raised.value.reason == "malformed"
    vault.close()


async def test_no_answer_in_time_is_an_outage(fake: FakeVault) -> None:
    fake.hold.clear()
    vault = adapter(fake.url, call_s=0.05)
    with pytest.raises(VaultUnavailableError) as raised:
        await vault.login("app", Secret("jwt"))
    assert raised.value.reason == "timeout"
    vault.close()


async def test_nobody_there_is_an_outage() -> None:
    with FakeVault() as gone:
        url = gone.url
    vault = adapter(url)
    with pytest.raises(VaultUnavailableError) as raised:
        await vault.login("app", Secret("jwt"))
    assert raised.value.reason == "down"
    vault.close()


async def test_vault_is_known_by_its_own_authority_and_by_no_other(tmp_path: Path) -> None:
    ours, other = Authority("ours"), Authority("other")
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    (tmp_path / "leaf.pem").write_text(ours.server("127.0.0.1").both)
    tls.load_cert_chain(tmp_path / "leaf.pem")
    with FakeVault(tls=tls) as fake:
        fake.role("app", "jwt", [])
        (tmp_path / "ours.pem").write_text(ours.certificate)
        (tmp_path / "other.pem").write_text(other.certificate)
        known = adapter(fake.url, ca_file=tmp_path / "ours.pem")
        assert (await known.login("app", Secret("jwt"))).ttl_s == 3600
        known.close()
        for ca_file in (tmp_path / "other.pem", None):
            unknown = adapter(fake.url, ca_file=ca_file)
            with pytest.raises(VaultUnavailableError) as raised:
                await unknown.login("app", Secret("jwt"))
            assert raised.value.reason == "tls"
            unknown.close()


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_an_authority_that_cannot_be_read_is_a_setting_to_mend(
    tmp_path: Path, content: str | None
) -> None:
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_text(content)
    with pytest.raises(OperatorError, match=r"ca\.pem") as raised:
        adapter("https://127.0.0.1:1", ca_file=path)
    assert raised.value.code is ExitCode.SETTINGS


async def test_no_two_identities_share_a_token(fake: FakeVault) -> None:
    """The session is shared, and hvac would keep a token in its client."""
    vault = adapter(fake.url)
    for name in ("one", "two"):
        fake.role(name, f"jwt-{name}", [f"secret/{name}"])
        fake.write(f"secret/{name}", {"of": name})
    tokens = {
        name: (await vault.login(name, Secret(f"jwt-{name}"))).token for name in ("one", "two")
    }
    assert all("X-Vault-Token" not in headers for headers in fake.headers)
    assert (await vault.read(tokens["one"], KV2, "secret/one")).content.reveal() == '{"of":"one"}'
    with pytest.raises(VaultDeniedError):
        await vault.read(tokens["one"], KV2, "secret/two")
    vault.close()


async def test_what_is_too_large_is_not_handed_out(fake: FakeVault) -> None:
    vault = adapter(fake.url)
    fake.role("app", "jwt", ["secret/big"])
    fake.write("secret/big", {"x": "y" * (256 << 10)})
    token = (await vault.login("app", Secret("jwt"))).token
    with pytest.raises(UnsupportedSecretError, match="256 KiB"):
        await vault.read(token, KV2, "secret/big")
    vault.close()
