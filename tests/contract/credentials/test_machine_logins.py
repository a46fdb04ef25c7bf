"""How a machine without Kubernetes logs in: to the fake Vaults, and with `make e2e` to the real one and
to OpenBao."""

import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from typing import Protocol

import pytest
from nemutator_agent.credentials.ports import Vault
from nemutator_agent.credentials.vault.documents import EngineMount
from nemutator_agent.credentials.vault.failures import (
    LoginRefusedError,
    TokenGoneError,
    VaultDeniedError,
)
from nemutator_agent.credentials.vault.login_proofs import AppRole, GivenToken
from nemutator_common.secret import Secret

from tests.contract.credentials.places import adapter
from tests.fakes.vault_states import VaultState
from tests.fakes.vaults import FakeVault, MemoryVault
from tests.testbed.parts import vault as testbed

PATH = "secret/machine/db"
MADE_AT = "auth/approle/role/machine/secret-id"


class Place(Protocol):
    def app_role(self) -> AppRole:
        """One that may read PATH."""
        ...

    def wrapped(self) -> AppRole: ...

    def token(self) -> Secret:
        """An operator's own, which may read PATH and lives for half an hour."""
        ...


@dataclass
class FakePlace:
    state: VaultState

    def __post_init__(self) -> None:
        self.state.write(PATH, {"password": "x"})
        self.state.role("machine", "no-jwt", [PATH], ttl_s=1800)
        self.state.app_roles["the-role"] = ("machine", {"one", "two"})

    def app_role(self) -> AppRole:
        return AppRole(role_id=Secret("the-role"), secret_id=Secret("one"))

    def wrapped(self) -> AppRole:
        self.state.wrapped["a-wrap"] = (MADE_AT, "two")
        return AppRole(
            role_id=Secret("the-role"), secret_id=Secret("a-wrap"), wrapping_path=MADE_AT
        )

    def token(self) -> Secret:
        self.state.give("hvs.operator", "machine")
        return Secret("hvs.operator")


@dataclass
class RealPlace:
    vault: testbed.Vault

    def __post_init__(self) -> None:
        if "approle/" not in self.vault.call("GET", "sys/auth")["data"]:
            self.vault.call("POST", "sys/auth/approle", {"type": "approle"})
        self.vault.call("POST", "secret/data/machine/db", {"data": {"password": "x"}})
        self.vault.policy("machine", 'path "secret/data/machine/db" { capabilities = ["read"] }')
        self.vault.call(
            "POST",
            "auth/approle/role/machine",
            {"token_policies": ["machine"], "token_ttl": "30m", "secret_id_num_uses": 1},
        )

    @property
    def _role_id(self) -> Secret:
        answer = self.vault.call("GET", "auth/approle/role/machine/role-id")
        return Secret(answer["data"]["role_id"])

    def app_role(self) -> AppRole:
        answer = self.vault.call("POST", MADE_AT, {})
        return AppRole(role_id=self._role_id, secret_id=Secret(answer["data"]["secret_id"]))

    def wrapped(self) -> AppRole:
        answer = self.vault.call("POST", MADE_AT, {}, wrap_ttl="60s")
        token = Secret(answer["wrap_info"]["token"])
        return AppRole(role_id=self._role_id, secret_id=token, wrapping_path=MADE_AT)

    def token(self) -> Secret:
        body = {"policies": ["machine"], "ttl": "30m"}
        return Secret(self.vault.call("POST", "auth/token/create", body)["auth"]["client_token"])


REAL = [pytest.param(name, marks=pytest.mark.e2e) for name in ("vault", "bao")]


@pytest.fixture(params=["memory", "fake", *REAL])
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
            real = request.getfixturevalue(request.param)
            place, url = RealPlace(real), real.url
        yield place, stack.enter_context(adapter(url, auth_mount="approle"))


@pytest.fixture
def place(setup: tuple[Place, Vault]) -> Place:
    return setup[0]


@pytest.fixture
def asked(setup: tuple[Place, Vault]) -> Vault:
    return setup[1]


async def reads(asked: Vault, token: Secret) -> bool:
    document = await asked.read(token, EngineMount("secret/", 2), PATH)
    return document.value("password") == Secret("x")


async def test_an_app_role_gets_a_token_that_is_ours(asked: Vault, place: Place) -> None:
    lease = await asked.login("", place.app_role())
    assert (lease.ttl_s, lease.renewable, lease.ours) == (1800, True, True)
    assert await reads(asked, lease.token)
    await asked.revoke(lease.token)
    # OpenBao says of such a token what it says of a denial.
    with pytest.raises((TokenGoneError, VaultDeniedError)):
        await reads(asked, lease.token)


GUESS = Secret("1234-guess")


@pytest.mark.parametrize(
    "guessed",
    [lambda right: replace(right, role_id=GUESS), lambda right: replace(right, secret_id=GUESS)],
)
async def test_a_wrong_part_of_an_app_role_is_refused_and_not_shown(
    asked: Vault, place: Place, guessed: Callable[[AppRole], AppRole]
) -> None:
    with pytest.raises(LoginRefusedError, match=r"invalid (role|role or secret) ID") as refused:
        await asked.login("", guessed(place.app_role()))
    assert "guess" not in str(refused.value)


async def test_a_token_of_the_operators_is_used_and_renewed_and_not_ours(
    asked: Vault, place: Place
) -> None:
    token = place.token()
    lease = await asked.login("", GivenToken(token))
    assert (lease.token, lease.renewable, lease.ours) == (token, True, False)
    assert 1700 < lease.ttl_s <= 1800
    assert await reads(asked, token)
    assert (await asked.renew(token)).ttl_s == 1800


async def test_a_token_that_is_gone_is_refused(asked: Vault, place: Place) -> None:
    token = place.token()
    await asked.revoke(token)
    with pytest.raises(LoginRefusedError, match="auth/token/lookup-self: ") as refused:
        await asked.login("", GivenToken(token))
    assert not refused.value.without_reason
    assert token.reveal() not in str(refused.value)


class TestWrapped:
    @pytest.fixture(params=["fake", pytest.param("real", marks=pytest.mark.e2e)])
    async def setup(self, request: pytest.FixtureRequest) -> AsyncIterator[tuple[Place, Vault]]:
        with contextlib.ExitStack() as stack:
            place: Place
            if request.param == "fake":
                fake = stack.enter_context(FakeVault())
                place, url = FakePlace(fake), fake.url
            else:
                real = request.getfixturevalue("vault")
                place, url = RealPlace(real), real.url
            yield place, stack.enter_context(adapter(url, auth_mount="approle"))

    async def test_a_wrapped_secret_id_is_unwrapped_once(self, asked: Vault, place: Place) -> None:
        wrapped = place.wrapped()
        assert await reads(asked, (await asked.login("", wrapped)).token)

    async def test_one_that_was_made_elsewhere_stays_wrapped(
        self, asked: Vault, place: Place
    ) -> None:
        wrapped = place.wrapped()
        elsewhere = replace(wrapped, wrapping_path="auth/approle/role/other/secret-id")
        with pytest.raises(LoginRefusedError, match=f"was made at {MADE_AT}"):
            await asked.login("", elsewhere)
        assert await reads(asked, (await asked.login("", wrapped)).token)

    async def test_one_that_was_unwrapped_before_is_refused(
        self, asked: Vault, place: Place
    ) -> None:
        gone = replace(place.wrapped(), secret_id=Secret("hvs.gone"))
        with pytest.raises(LoginRefusedError, match="the wrapped secret id: wrapping token is not"):
            await asked.login("", gone)
