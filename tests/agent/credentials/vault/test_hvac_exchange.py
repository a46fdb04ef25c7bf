from collections.abc import Iterator

import pytest
from nemutator_agent.credentials.vault.exchanges import VaultExchange
from nemutator_agent.credentials.vault.failures import (
    UnsupportedSecretError,
    VaultUnavailableError,
)
from nemutator_agent.credentials.vault.hvac_exchange import LARGEST_ANSWER
from nemutator_common.secret import Secret

from tests.contract.credentials.places import adapter
from tests.fakes.vaults import FakeVault


@pytest.fixture
def fake() -> Iterator[FakeVault]:
    with FakeVault() as fake:
        yield fake


@pytest.mark.parametrize("status", [400, 429, 500])
async def test_a_refusal_of_one_engine_is_an_answer_to_its_caller(
    fake: FakeVault, status: int
) -> None:
    fake.broken = status, b'{"errors": ["no such role"]}', {}
    asked = VaultExchange(method="PUT", path="database/creds/x", wrap_ttl="60s")
    with adapter(fake.url) as vault:
        answer = await vault.exchange(Secret("hvs.x"), asked)
    assert (answer.status, answer.document) == (status, {"errors": ["no such role"]})
    (headers,) = fake.headers
    assert headers["X-Vault-Wrap-TTL"] == "60s"


@pytest.mark.parametrize(("status", "reason"), [(502, "down"), (503, "down"), (504, "down")])
async def test_an_outage_is_one_for_a_pods_own_client_too(
    fake: FakeVault, status: int, reason: str
) -> None:
    fake.broken = status, b"<html>gateway</html>", {}
    asked = VaultExchange(method="GET", path="secret/data/app")
    with adapter(fake.url) as vault, pytest.raises(VaultUnavailableError) as raised:
        await vault.exchange(Secret("hvs.x"), asked)
    assert raised.value.reason == reason


async def test_how_vault_is_can_be_asked_while_it_is_sealed(fake: FakeVault) -> None:
    fake.broken = 503, b'{"initialized": true, "sealed": true}', {}
    with adapter(fake.url) as vault:
        answer = await vault.exchange(
            Secret("hvs.x"), VaultExchange(method="GET", path="sys/health")
        )
    assert answer.status == 503


async def test_an_answer_without_end_is_cut_off(fake: FakeVault) -> None:
    fake.broken = 200, b'{"data": "' + b"x" * LARGEST_ANSWER + b'"}', {}
    asked = VaultExchange(method="GET", path="secret/metadata/app")
    with adapter(fake.url) as vault, pytest.raises(UnsupportedSecretError, match="320 KiB"):
        await vault.exchange(Secret("hvs.x"), asked)
