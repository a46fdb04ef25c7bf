import pytest
from nemutator_agent.credentials.leases.answers import document_of, lease_of
from nemutator_agent.credentials.vault.documents import EngineMount, GivenLease
from nemutator_agent.credentials.vault.exchanges import VaultAnswer
from nemutator_agent.credentials.vault.failures import (
    SecretMissingError,
    UnsupportedSecretError,
    VaultDeniedError,
    VaultError,
    VaultUnavailableError,
)
from nemutator_common.secret import Secret

DATABASE = EngineMount("database/", None, "database")


def answer(status: int, **document: object) -> VaultAnswer:
    return VaultAnswer(status=status, body=Secret(""), document=document)


def test_what_is_lent_has_its_lease() -> None:
    given = answer(
        200,
        lease_id="database/creds/shop/abc",
        lease_duration=60,
        renewable=True,
        data={"username": "u", "ttl": 60},
    )
    document = document_of(given, DATABASE)
    assert document.lease == GivenLease("database/creds/shop/abc", 60.0, True)
    assert document.content.reveal() == '{"username":"u","ttl":60}'
    assert document.version is None


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"lease_id": "", "lease_duration": 0},
        {"lease_id": "x", "lease_duration": 0},
        {"lease_id": "x", "lease_duration": "1h"},
        {"lease_id": ["x"], "lease_duration": 60},
    ],
)
def test_what_is_not_lent_has_none(document: dict[str, object]) -> None:
    assert lease_of(document) is None
    assert document_of(answer(200, data={}, **document), DATABASE).lease is None


@pytest.mark.parametrize(
    ("status", "failure"),
    [
        (200, UnsupportedSecretError),
        (400, VaultDeniedError),
        (403, VaultDeniedError),
        (404, SecretMissingError),
        (405, UnsupportedSecretError),
        (429, VaultUnavailableError),
        (500, VaultUnavailableError),
    ],
)
def test_a_refusal_is_the_failure_that_it_means(status: int, failure: type[VaultError]) -> None:
    with pytest.raises(failure):
        document_of(answer(status, errors=["unsupported operation"]), DATABASE)
