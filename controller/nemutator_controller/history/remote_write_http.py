"""A receiver of Prometheus remote write, over HTTP. A `RemoteWriteReceiver`."""

import base64
import math
from dataclasses import dataclass
from pathlib import Path

from nemutator_common.secret import Secret
from nemutator_common.shipping.files import RereadFile
from nemutator_common.shipping.links import LinkUnavailableError

from nemutator_controller.history.remote_write_messages import (
    RemoteWriteRefusedError,
    RemoteWriteUnavailableError,
)
from nemutator_controller.posts_http import NotTakenError, post

LONGEST_RETRY_S = 300.0
_UNAUTHORISED = (401, 403)
_HEADERS = {
    "Content-Type": "application/x-protobuf",
    "Content-Encoding": "snappy",
    "X-Prometheus-Remote-Write-Version": "0.1.0",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRemoteWrite:
    url: str
    user: str = ""
    """With it, *secret* is a password; without, a bearer token."""
    secret: RereadFile | None = None
    tenant: str = ""
    ca: RereadFile | None = None
    """Who signs its certificate, where the machine's own authorities do not."""
    certificate: tuple[Path, Path] | None = None
    """Ours and its key, for receivers that ask for one."""

    async def write(self, body: bytes) -> None:
        try:
            secret = None if self.secret is None else Secret(self.secret.text())
        except LinkUnavailableError as error:
            raise RemoteWriteUnavailableError(str(error)) from error
        credentials = self._credentials(secret)
        try:
            await post(
                self.url,
                body,
                _HEADERS | self._further_headers(credentials),
                secrets=[one for one in (secret, credentials) if one is not None],
                ca=self.ca,
                certificate=self.certificate,
            )
        except NotTakenError as error:
            if error.status in _UNAUTHORISED and self.secret is not None:
                self.secret.invalidate()
            # The specification: 5xx is tried again, 429 may be, any other 4xx must not be.
            if error.status is None or error.status >= 500 or error.status == 429:
                asked_s = _seconds(error.retry_after)
                raise RemoteWriteUnavailableError(str(error), retry_after_s=asked_s) from None
            raise RemoteWriteRefusedError(str(error)) from None

    def _credentials(self, secret: Secret | None) -> Secret | None:
        """What follows the scheme in the header; whoever reads it there knows the password, too."""
        if not self.user:
            return secret
        pair = f"{self.user}:{'' if secret is None else secret.reveal()}"
        return Secret(base64.b64encode(pair.encode()).decode())

    def _further_headers(self, credentials: Secret | None) -> dict[str, str]:
        found = {"X-Scope-OrgID": self.tenant} if self.tenant else {}
        if credentials is not None:
            scheme = "Basic" if self.user else "Bearer"
            found["Authorization"] = f"{scheme} {credentials.reveal()}"
        return found


def _seconds(text: str) -> float:
    """Of a Retry-After in seconds, up to a limit; a date there is not waited for."""
    try:
        value = float(text)
    except ValueError:
        return 0.0
    return min(max(value, 0.0), LONGEST_RETRY_S) if math.isfinite(value) else 0.0
