"""Asks the brain of a cluster over HTTPS, with the token of the person who asks.

The server must prove who it is before it sees the token, and its redirects are not followed.
"""

import http.client
import ssl
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.secret import Secret

from nemutator_ctl.api import Api, ApiResponse
from nemutator_ctl.exchanges import exchange, reason

LARGEST_TOKEN = 8 << 10
"""The brain does not take a longer one either."""

HOW_TO_SHOW_WHO = (
    "name a file with a token of yours: --brain-token-file <(kubectl create token NAME)"
)


class RemoteApi(Api):
    """The console at *url*; without *ca_file*, the authorities that this machine trusts vouch for it."""

    signing_in = "sign in there with a token"

    def __init__(
        self, url: str, *, token_file: Path | None, ca_file: Path | None, timeout_s: float
    ) -> None:
        parts = _address(url)
        self._host, self._port = str(parts.hostname), parts.port or 443
        self._trust = _trusting(ca_file)
        # Read once: it may be a pipe.
        self._token = token_in(token_file)
        self._timeout_s = timeout_s

    def _ask(self, method: str, target: str, body: bytes | None) -> ApiResponse:
        connection = http.client.HTTPSConnection(
            self._host, self._port, timeout=self._timeout_s, context=self._trust
        )
        try:
            return exchange(connection, method, target, body=body, token=self._token)
        except (OSError, http.client.HTTPException) as error:
            raise self._unreachable(error) from error
        finally:
            connection.close()

    def _unreachable(self, error: Exception) -> OperatorError:
        where = f"the brain at {self._host}:{self._port}"
        if isinstance(error, ssl.SSLCertVerificationError):
            return OperatorError(
                f"{where} does not prove who it is: {error.verify_message}",
                remedy="name who vouches for it with --brain-ca-file (`ca.crt` in the ConfigMap"
                " nemutator-ca), and call it by a name that is in its certificate (`server_names`)",
                code=ExitCode.UNREACHABLE,
            )
        return OperatorError(
            f"{where} does not answer: {reason(error)}",
            remedy="make it reachable from here: kubectl -n nemutator port-forward"
            " service/nemutator-brain 8420",
            code=ExitCode.UNREACHABLE,
        )


def _address(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        good = parts.scheme == "https" and parts.hostname and parts.port != 0
    except ValueError:
        parts, good = urlsplit(""), None
    if not good or parts.path not in ("", "/") or parts.query or parts.fragment or parts.username:
        raise OperatorError(
            # Without what stands before an @: it may be a password.
            f"{url.rpartition('@')[2]!r} is no address of a brain",
            remedy="write https://HOST:PORT: a token goes over TLS only",
            code=ExitCode.USAGE,
        )
    return parts


def _trusting(ca_file: Path | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca_file)
    except (OSError, ValueError) as error:
        raise OperatorError(
            f"{ca_file}: {reason(error)}",
            remedy="name a file of certificates (PEM) with --brain-ca-file",
            code=ExitCode.USAGE,
        ) from error


def token_in(file: Path | None) -> Secret:
    """The token in *file*, or an `OperatorError`."""
    if file is None:
        raise OperatorError(
            "the brain of a cluster must know who asks",
            remedy=HOW_TO_SHOW_WHO,
            code=ExitCode.USAGE,
        )
    try:
        with file.open("rb") as opened:
            content = opened.read(LARGEST_TOKEN + 1)
    except OSError as error:
        raise OperatorError(
            f"{file}: {reason(error)}", remedy=HOW_TO_SHOW_WHO, code=ExitCode.USAGE
        ) from error
    word = content.strip()
    # Only a token may get into a header: another file, such as a private key, must not be sent.
    if not word.isascii() or not word.decode().isprintable() or b" " in word or not word:
        raise OperatorError(
            f"{file}: there is no token in it", remedy=HOW_TO_SHOW_WHO, code=ExitCode.USAGE
        )
    if len(content) > LARGEST_TOKEN:
        raise OperatorError(
            f"{file}: too long for a token", remedy=HOW_TO_SHOW_WHO, code=ExitCode.USAGE
        )
    return Secret(word.decode())
