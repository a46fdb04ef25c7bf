import pytest
import requests
from hvac import exceptions  # type: ignore[import-untyped]
from nemutator_agent.credentials.vault.failures import VaultError, VaultUnavailableError
from nemutator_agent.credentials.vault.hvac_failures import (
    LONGEST_WAIT_S,
    check_done,
    mapped,
    mapping,
    outage_of,
)

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
        (exceptions.UnexpectedError("required index state not present"), "down"),
        (requests.exceptions.ReadTimeout("slow"), "timeout"),
        (requests.exceptions.SSLError("CERTIFICATE_VERIFY_FAILED"), "tls"),
    ],
)
def test_an_outage_has_its_reason(error: Exception, reason: str) -> None:
    failure = raising(error)
    assert isinstance(failure, VaultUnavailableError)
    assert failure.reason == reason


@pytest.mark.parametrize(
    ("status", "body", "reason", "why"),
    [
        (429, b'{"errors": ["quota exceeded"]}', "busy", "quota exceeded"),
        (429, b"<html>", "busy", "the answer is 429"),
        (500, b'{"errors": ["one", "two", 3]}', "down", "one; two"),
        (501, b'{"errors": ["Vault is not initialized"]}', "sealed", "Vault is not initialized"),
        (503, b'{"errors": ["Vault is sealed"]}', "sealed", "Vault is sealed"),
        (503, b"<html>sealed</html>", "down", "the answer is 503"),
        (501, b"[]", "down", "the answer is 501"),
        (502, b'{"errors": 1}', "down", "the answer is 502"),
    ],
)
def test_some_answers_speak_of_vault_itself(
    status: int, body: bytes, reason: str, why: str
) -> None:
    outage = outage_of(status, {}, body)
    assert outage is not None
    assert (outage.reason, outage.why, outage.retry_after_s) == (reason, why, None)


@pytest.mark.parametrize("status", [200, 204, 307, 400, 403, 404, 412])
def test_others_speak_of_what_was_asked(status: int) -> None:
    assert outage_of(status, {}, b"{}") is None


@pytest.mark.parametrize(
    ("value", "wait_s"),
    [("0", 0), ("7", 7), ("99999", LONGEST_WAIT_S), ("-1", None), ("1e9", None), ("soon", None)],
)
def test_an_outage_says_when_to_ask_again(value: str, wait_s: float | None) -> None:
    outage = outage_of(429, {"Retry-After": value}, b"")
    assert outage is not None
    assert outage.retry_after_s == wait_s


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
