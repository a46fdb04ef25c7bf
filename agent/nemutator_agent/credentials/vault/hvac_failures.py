"""What hvac and requests raise, and what they return in vain, as the failures of a call to Vault."""

import json
import re
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, TypeVar

import requests
from hvac import exceptions  # type: ignore[import-untyped]

from nemutator_agent.credentials.vault.failures import (
    LargeAnswerError,
    Outage,
    SecretMissingError,
    TokenGoneError,
    UnsupportedSecretError,
    VaultDeniedError,
    VaultError,
    VaultUnavailableError,
)

T = TypeVar("T")

NOT_OF_VAULT = "the answer does not come from a Vault"

LONGEST_WAIT_S = 60.0
"""Nobody may keep the pods of a node from Vault for longer with one answer."""

_SECONDS = re.compile(r"[0-9]{1,9}")
_GONE = ("invalid token", "bad token")
_UNKNOWN_ISSUER = "the certificate of Vault was not accepted"

REFUSALS = (
    exceptions.InvalidRequest,
    exceptions.Unauthorized,
    exceptions.Forbidden,
    exceptions.InvalidPath,
)


def of_a_pod(call: Callable[[], T], *, most: int) -> T:
    """Run *call*, which reads what a pod may have written itself: what cannot be handed out of that says nothing
    of Vault, and takes it from nobody else."""
    try:
        return call()
    except LargeAnswerError:
        raise UnsupportedSecretError(f"it is larger than {most >> 10} KiB") from None
    except RecursionError:
        raise UnsupportedSecretError("it is nested too deeply") from None


def mapped(call: Callable[[], T]) -> T:
    """Run *call*; what hvac and requests raise becomes a VaultError, which keeps nothing of theirs."""
    try:
        return call()
    except VaultError:
        raise
    except requests.exceptions.Timeout:
        failure: VaultError = VaultUnavailableError("timeout", "no answer in time")
    except requests.exceptions.SSLError:
        failure = VaultUnavailableError("tls", _UNKNOWN_ISSUER)
    except requests.exceptions.RequestException as error:
        failure = VaultUnavailableError("down", f"no connection ({type(error).__name__})")
    except exceptions.VaultError as error:
        failure = _failure(error)
    except RecursionError:
        failure = VaultUnavailableError("malformed", NOT_OF_VAULT)
    raise failure


def _failure(error: exceptions.VaultError) -> VaultError:
    if isinstance(error, REFUSALS) and not _is_of_vault(error):
        return VaultUnavailableError("malformed", NOT_OF_VAULT)
    why = reason_of(error)
    match error:
        case exceptions.Forbidden() | exceptions.Unauthorized():
            return TokenGoneError(why) if is_gone(error) else VaultDeniedError(why)
        case exceptions.InvalidPath():
            return SecretMissingError("no version of a secret is there")
        case exceptions.InvalidRequest():
            return VaultDeniedError(why)
    return VaultUnavailableError("down", why)


def outage_of(status: int, headers: Mapping[str, str], body: bytes) -> VaultUnavailableError | None:
    """What an answer says of Vault's own state; None where it answers what was asked."""
    if status != HTTPStatus.TOO_MANY_REQUESTS and status < HTTPStatus.INTERNAL_SERVER_ERROR:
        return None
    why = "; ".join(_errors(body))
    outage: Outage = "down"
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        outage = "busy"
    elif why and (status == HTTPStatus.NOT_IMPLEMENTED or "sealed" in why.lower()):
        outage = "sealed"
    return VaultUnavailableError(
        outage, why or f"the answer is {status}", retry_after_s=_wait_s(headers)
    )


def _errors(body: bytes) -> list[str]:
    """As Vault gives them."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return []
    errors = document.get("errors") if isinstance(document, Mapping) else None
    return [error for error in errors if isinstance(error, str)] if isinstance(errors, list) else []


def _wait_s(headers: Mapping[str, str]) -> float | None:
    """Of `Retry-After` in seconds; Vault gives no dates."""
    value = headers.get("Retry-After", "")
    return min(float(value), LONGEST_WAIT_S) if _SECONDS.fullmatch(value) else None


def check_vault_says(no: exceptions.VaultError) -> None:
    """A proxy's own 403 or 404 says nothing of what Vault would answer."""
    if not _is_of_vault(no):
        raise VaultUnavailableError("malformed", NOT_OF_VAULT)


def _is_of_vault(no: exceptions.VaultError) -> bool:
    """Vault gives its errors as a list; for a deleted version it gives the metadata."""
    answer = no.json
    return isinstance(answer, Mapping) and ("errors" in answer or "data" in answer)


def check_done(answer: Any) -> None:
    """Vault answers what it has done with 204, or with a document that has a number of its own."""
    if isinstance(answer, requests.Response) and answer.status_code == HTTPStatus.NO_CONTENT:
        return
    if "request_id" not in mapping(answer):
        raise VaultUnavailableError("malformed", NOT_OF_VAULT)


def is_gone(error: Exception) -> bool:
    return any(word in reason_of(error).lower() for word in _GONE)


def reason_of(error: Exception) -> str:
    """Vault's own message, without the URL that hvac adds."""
    return str(error.args[0]) if error.args and error.args[0] else type(error).__name__


def mapping(answer: Any) -> Mapping[str, Any]:
    """The answer as a mapping; for a redirection, hvac returns the bare response."""
    if isinstance(answer, requests.Response) and answer.is_redirect:
        why = (
            "the answer leads to another address, as of a standby that cannot forward to its active"
        )
        raise VaultUnavailableError("malformed", f"{why} node; it is not followed with a token")
    if not isinstance(answer, Mapping):
        raise VaultUnavailableError("malformed", NOT_OF_VAULT)
    return answer
