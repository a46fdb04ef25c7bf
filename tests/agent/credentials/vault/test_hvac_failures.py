import pytest
import requests
from hvac import exceptions  # type: ignore[import-untyped]
from nemutator_agent.credentials.vault.failures import VaultError, VaultUnavailableError
from nemutator_agent.credentials.vault.hvac_failures import check_done, mapped, mapping

OF_VAULT = {"errors": ["permission denied"]}


def raising(error: Exception) -> VaultError:
    def call() -> None:
        raise error

    with pytest.raises(VaultError) as raised:
        mapped(call)
    return raised.value


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (exceptions.Forbidden("permission denied", json=OF_VAULT), "denied"),
        (exceptions.Forbidden("* invalid token", json=OF_VAULT), "gone"),
        (exceptions.InvalidPath("", json={"errors": []}), "missing"),
        (exceptions.InvalidRequest("no", json=OF_VAULT), "denied"),
        (exceptions.Forbidden("<html>", json=None), "unavailable"),
        (exceptions.InternalServerError("oops"), "unavailable"),
        (requests.exceptions.ConnectionError("with a URL"), "unavailable"),
    ],
)
def test_each_exception_is_a_failure_of_ours(error: Exception, kind: str) -> None:
    assert raising(error).kind == kind


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (exceptions.RateLimitExceeded("quota"), "busy"),
        (exceptions.VaultDown("Vault is sealed"), "sealed"),
        (exceptions.VaultNotInitialized("not yet"), "sealed"),
        (exceptions.BadGateway("gone"), "down"),
        (requests.exceptions.ReadTimeout("slow"), "timeout"),
        (requests.exceptions.SSLError("CERTIFICATE_VERIFY_FAILED"), "tls"),
    ],
)
def test_an_outage_has_its_reason(error: Exception, reason: str) -> None:
    failure = raising(error)
    assert isinstance(failure, VaultUnavailableError)
    assert failure.reason == reason


def test_nothing_of_an_exception_is_kept() -> None:
    failure = raising(requests.exceptions.ConnectionError("https://vault/v1/secret/app"))
    assert "secret/app" not in str(failure)
    assert failure.__cause__ is None


@pytest.mark.parametrize("answer", [None, "text", ["list"], {"ok": True}])
def test_only_a_document_with_a_number_says_that_vault_has_done_it(answer: object) -> None:
    with pytest.raises(VaultUnavailableError, match="does not come from a Vault"):
        check_done(answer)
    check_done({"request_id": "1"})


def test_only_a_document_is_an_answer() -> None:
    assert mapping({"data": 1}) == {"data": 1}
    with pytest.raises(VaultUnavailableError, match="does not come from a Vault"):
        mapping("text")
