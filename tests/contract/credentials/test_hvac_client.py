"""Our adapter alone, where no real Vault can be made to answer like this."""

import asyncio
import ssl
from collections.abc import Awaitable, Iterator
from pathlib import Path
from typing import Literal

import pytest
import requests
from nemutator_agent.credentials.vault.authorities import Authorities
from nemutator_agent.credentials.vault.documents import EngineMount
from nemutator_agent.credentials.vault.exchanges import VaultExchange
from nemutator_agent.credentials.vault.failures import (
    UnsupportedSecretError,
    VaultDeniedError,
    VaultUnavailableError,
)
from nemutator_agent.credentials.vault.hvac_client import HvacVault
from nemutator_agent.credentials.vault.hvac_transport import LARGEST_ANSWER, VaultTransport
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.secret import Secret

from tests.certificates import Authority
from tests.contract.credentials.places import adapter, eventually
from tests.fakes.relays import relay_to
from tests.fakes.vaults import FakeVault

PATIENCE_S = 60.0
KV2 = EngineMount("secret/", 2)


@pytest.fixture
def fake() -> Iterator[FakeVault]:
    with FakeVault() as fake:
        yield fake


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
    with adapter(fake.url) as vault, pytest.raises(VaultUnavailableError) as raised:
        await vault.read(Secret("hvs.x"), KV2, "secret/app")
    assert raised.value.reason == reason
    assert ("leads to another address" in raised.value.why) == (status == 307)
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
    token = Secret("hvs.x")
    with adapter(fake.url) as vault:
        for call in (
            vault.login("app", Secret("jwt")),
            vault.renew(token),
            vault.revoke(token),
            vault.mount_of(token, "secret/app"),
            vault.read(token, KV2, "secret/app"),
            vault.exchange(token, VaultExchange(method="GET", path="secret/data/app")),
        ):
            with pytest.raises(VaultUnavailableError) as raised:
                await call
            assert raised.value.reason == "malformed"


NUMBERS = '{"a":1.10,"b":[0.00005,{"c":1E5,"d":-0.0,"e":12345678901234567890}],"f":7}'


async def test_numbers_are_given_as_vault_has_written_them(fake: FakeVault) -> None:
    """`vault kv get -field=a` prints 1.10."""
    fake.broken = 200, f'{{"data": {NUMBERS}}}'.encode(), {}
    with adapter(fake.url) as vault:
        document = await vault.read(Secret("hvs.x"), EngineMount("kv1/", 1), "kv1/app")
        assert document.content.reveal() == NUMBERS
        assert [document.values[key].reveal() for key in "af"] == ["1.10", "7"]
        fake.broken = (
            200,
            f'{{"data": {{"data": {NUMBERS}, "metadata": {{"version": 3}}}}}}'.encode(),
            {},
        )
        document = await vault.read(Secret("hvs.x"), KV2, "secret/app")
    assert (document.content.reveal(), document.version) == (NUMBERS, 3)


NESTED = b"[" * 20_000 + b"]" * 20_000


async def test_what_is_nested_too_deeply_is_not_handed_out_and_is_no_outage(
    fake: FakeVault,
) -> None:
    """OpenBao 2.7 keeps what pods write so; Vault 1.21 refuses it."""
    fake.broken = 200, b'{"data": {"data": {"a": %b}, "metadata": {"version": 1}}}' % NESTED, {}
    token = Secret("hvs.x")
    with adapter(fake.url) as vault:
        for call in (
            vault.read(token, KV2, "secret/app"),
            vault.exchange(token, VaultExchange(method="GET", path="secret/data/app")),
        ):
            with pytest.raises(UnsupportedSecretError, match="nested too deeply"):
                await call
        fake.broken = 200, b'{"auth": %b}' % NESTED, {}
        for other in (vault.login("app", Secret("jwt")), vault.revoke(token), vault.lookup(token)):
            assert await outage_in(other) == "malformed"
        fake.broken = 502, NESTED, {}
        assert await outage_in(vault.read(token, KV2, "secret/app")) == "down"


async def test_no_answer_in_time_is_an_outage(fake: FakeVault) -> None:
    fake.hold.clear()
    with adapter(fake.url, call_s=0.05) as vault:
        assert await outage_of_reading(vault) == "timeout"


async def outage_of_reading(vault: HvacVault) -> str:
    return await outage_in(vault.read(Secret("hvs.x"), KV2, "secret/app"))


async def outage_in(call: Awaitable[object]) -> str:
    with pytest.raises(VaultUnavailableError) as raised:
        await call
    return raised.value.reason


@pytest.mark.parametrize("part", ["head", "body"])
async def test_an_answer_in_drips_gives_its_thread_back(
    fake: FakeVault, part: Literal["head", "body"]
) -> None:
    fake.role("app", "jwt", ["secret/app"])
    fake.write("secret/app", {"a": "1"})
    async with asyncio.timeout(PATIENCE_S):
        with adapter(fake.url, call_s=0.2) as vault:
            fake.drips = part
            async with asyncio.TaskGroup() as tasks:
                reads = [tasks.create_task(outage_of_reading(vault)) for _ in range(3 * 8)]
            assert {read.result() for read in reads} == {"timeout"}
            fake.drips = None
        with adapter(fake.url) as vault:
            token = (await vault.login("app", Secret("jwt"))).token
            assert (await vault.read(token, KV2, "secret/app")).keys() == ("a",)


async def test_an_answer_without_end_is_not_read_to_its_end(fake: FakeVault) -> None:
    fake.broken = 200, b"x" * (LARGEST_ANSWER + 1), {}
    token = Secret("hvs.x")
    asked = VaultExchange(method="GET", path="secret/metadata/app", query=(("list", "true"),))
    with adapter(fake.url) as vault:
        with pytest.raises(VaultUnavailableError, match="the answer is larger than 2 MiB"):
            await vault.lookup(token)
        # What a pod has written says nothing of Vault.
        with pytest.raises(UnsupportedSecretError, match="larger than 256 KiB"):
            await vault.read(token, KV2, "secret/app")
        with pytest.raises(UnsupportedSecretError, match="larger than 320 KiB"):
            await vault.exchange(token, asked)


async def test_what_vault_says_of_when_to_ask_again_is_heard(fake: FakeVault) -> None:
    fake.broken = 429, b'{"errors": ["quota"]}', {"Retry-After": "7"}
    with adapter(fake.url) as vault, pytest.raises(VaultUnavailableError) as raised:
        await vault.read(Secret("hvs.x"), KV2, "secret/app")
    assert raised.value.retry_after_s == 7


async def test_slow_logins_take_no_thread_of_readings(fake: FakeVault) -> None:
    fake.role("app", "jwt", ["secret/app"])
    fake.write("secret/app", {"a": "1"})
    with adapter(fake.url) as vault:
        token = (await vault.login("app", Secret("jwt"))).token
        fake.hold_back("login")
        async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as tasks:
            logins = [tasks.create_task(vault.login("app", Secret("jwt"))) for _ in range(16)]
            assert (await vault.read(token, KV2, "secret/app")).keys() == ("a",)
            assert not any(login.done() for login in logins)
            fake.go_on("login")


async def test_a_login_that_ends_when_nobody_waits_any_more_leaves_no_token(
    fake: FakeVault,
) -> None:
    fake.role("app", "jwt", [])
    fake.hold_back("login")
    async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as tasks:
        with adapter(fake.url) as vault:
            login = tasks.create_task(vault.login("app", Secret("jwt")))
            await eventually(lambda: fake.tokens, "a token")
            login.cancel()
            await asyncio.wait([login])
        fake.go_on("login")
        await eventually(lambda: fake.revoked, "a revocation")
    assert fake.tokens == {}


async def test_connections_that_are_lost_cost_one_call_and_not_one_each(fake: FakeVault) -> None:
    fake.role("app", "jwt", ["secret/app"])
    fake.write("secret/app", {"a": "1"})
    async with relay_to(fake.url) as relay:
        with adapter(relay.url) as vault:
            token = (await vault.login("app", Secret("jwt"))).token
            fake.hold.clear()
            async with asyncio.TaskGroup() as tasks:
                for _ in range(4):
                    tasks.create_task(vault.read(token, KV2, "secret/app"))
                await eventually(lambda: relay.opened == 4, "four connections")
                fake.hold.set()
            relay.lose_all()
            assert await outage_in(vault.read(token, KV2, "secret/app")) == "down"
            for _ in range(4):
                await vault.read(token, KV2, "secret/app")


@pytest.mark.parametrize(("idle_s", "opened"), [(PATIENCE_S, 1), (0.0, 3)])
async def test_what_was_idle_for_too_long_is_opened_anew(
    fake: FakeVault, idle_s: float, opened: int
) -> None:
    async with relay_to(fake.url) as relay:
        with requests.Session() as session:
            transport = VaultTransport(Authorities(None), connections=4, idle_s=idle_s)
            session.mount("http://", transport)
            for _ in range(3):
                await asyncio.to_thread(
                    session.get, f"{relay.url}/v1/sys/health", timeout=PATIENCE_S
                )
        assert relay.opened == opened


async def test_nobody_there_is_an_outage() -> None:
    with FakeVault() as gone:
        url = gone.url
    with adapter(url) as vault, pytest.raises(VaultUnavailableError) as raised:
        await vault.login("app", Secret("jwt"))
    assert raised.value.reason == "down"


async def test_vault_is_known_by_its_own_authority_and_by_no_other(tmp_path: Path) -> None:
    ours, other = Authority("ours"), Authority("other")
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    (tmp_path / "leaf.pem").write_text(ours.server("127.0.0.1").both)
    tls.load_cert_chain(tmp_path / "leaf.pem")
    with FakeVault(tls=tls) as fake:
        fake.role("app", "jwt", [])
        (tmp_path / "ours.pem").write_text(ours.certificate)
        (tmp_path / "other.pem").write_text(other.certificate)
        with adapter(fake.url, ca_file=tmp_path / "ours.pem") as known:
            assert (await known.login("app", Secret("jwt"))).ttl_s == 3600
        for ca_file in (tmp_path / "other.pem", None):
            with (
                adapter(fake.url, ca_file=ca_file) as unknown,
                pytest.raises(VaultUnavailableError) as raised,
            ):
                await unknown.login("app", Secret("jwt"))
            assert raised.value.reason == "tls"


async def test_an_authority_that_takes_the_place_of_another_is_known_after_one_call(
    tmp_path: Path,
) -> None:
    before, after, bundle = Authority("before"), Authority("after"), tmp_path / "ca.pem"
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    (tmp_path / "leaf.pem").write_text(after.server("127.0.0.1").both)
    tls.load_cert_chain(tmp_path / "leaf.pem")
    bundle.write_text(before.certificate)
    with FakeVault(tls=tls) as fake, adapter(fake.url, ca_file=bundle) as vault:
        assert await outage_in(vault.login("app", Secret("jwt"))) == "tls"
        for unreadable in ("", "no certificate"):
            bundle.write_text(unreadable)
            assert await outage_in(vault.login("app", Secret("jwt"))) == "tls"
        # As kubelet brings a new one: another file by the same name.
        (tmp_path / "new.pem").write_text(after.certificate)
        (tmp_path / "new.pem").replace(bundle)
        assert await outage_in(vault.login("app", Secret("jwt"))) == "tls"
        fake.role("app", "jwt", [])
        assert (await vault.login("app", Secret("jwt"))).ttl_s == 3600


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_an_authority_that_cannot_be_read_is_a_setting_to_mend(
    tmp_path: Path, content: str | None
) -> None:
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_text(content)
    with (
        pytest.raises(OperatorError, match=r"ca\.pem") as raised,
        adapter("https://127.0.0.1:1", ca_file=path),
    ):
        pass
    assert raised.value.code is ExitCode.SETTINGS


async def test_no_two_identities_share_a_token(fake: FakeVault) -> None:
    """The session is shared, and hvac would keep a token in its client."""
    with adapter(fake.url) as vault:
        for name in ("one", "two"):
            fake.role(name, f"jwt-{name}", [f"secret/{name}"])
            fake.write(f"secret/{name}", {"of": name})
        tokens = {
            name: (await vault.login(name, Secret(f"jwt-{name}"))).token for name in ("one", "two")
        }
        assert all("X-Vault-Token" not in headers for headers in fake.headers)
        assert (
            await vault.read(tokens["one"], KV2, "secret/one")
        ).content.reveal() == '{"of":"one"}'
        with pytest.raises(VaultDeniedError):
            await vault.read(tokens["one"], KV2, "secret/two")


async def test_each_call_but_that_for_the_health_names_the_namespace(fake: FakeVault) -> None:
    fake.role("app", "jwt", ["secret/app"])
    fake.write("secret/app", {"a": "1"})
    with adapter(fake.url, namespace="team/one") as vault:
        token = (await vault.login("app", Secret("jwt"))).token
        await vault.mount_of(token, "secret/app")
        await vault.read(token, KV2, "secret/app")
        await vault.renew(token)
        await vault.lookup(token)
        await vault.revoke(token)
        await vault.health()
    named = [headers.get("X-Vault-Namespace") for headers in fake.headers]
    assert named == ["team/one"] * 6 + [None]


async def test_what_is_too_large_is_not_handed_out(fake: FakeVault) -> None:
    with adapter(fake.url) as vault:
        fake.role("app", "jwt", ["secret/big"])
        fake.write("secret/big", {"x": "y" * (256 << 10)})
        token = (await vault.login("app", Secret("jwt"))).token
        with pytest.raises(UnsupportedSecretError, match="256 KiB"):
            await vault.read(token, KV2, "secret/big")
