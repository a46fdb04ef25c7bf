import pytest
from nemutator_agent.credentials.vault.failures import (
    LONGEST,
    STALE_FOR,
    LoginRefusedError,
    VaultDeniedError,
    VaultUnavailableError,
)


def test_foreign_words_are_shortened_and_made_one_line() -> None:
    error = VaultDeniedError("1 error occurred:\n\t* permission denied\n\n\x1b[2J" + "x" * 1000)
    assert error.why.startswith("1 error occurred: * permission denied [2J")
    assert len(error.why) <= LONGEST
    assert error.why.isprintable()


@pytest.mark.parametrize("reason", ["tls", "malformed"])
def test_while_somebody_else_answers_nothing_old_counts(reason: str) -> None:
    assert reason not in STALE_FOR


def test_an_outage_has_its_reason() -> None:
    assert VaultUnavailableError("sealed", "Vault is sealed").reason == "sealed"


@pytest.mark.parametrize(
    ("why", "without_reason"),
    [
        ("permission denied", True),
        ("1 error occurred:\n\t* permission denied\n\n", True),
        ("error validating token: fetching keys oidc: get keys failed", True),
        ("service account name not authorized", False),
        ('invalid role name "shop.api"', False),
        ("permission denied: service account", False),
    ],
)
def test_a_login_may_be_refused_without_a_reason(why: str, without_reason: bool) -> None:
    assert LoginRefusedError(why).without_reason is without_reason
