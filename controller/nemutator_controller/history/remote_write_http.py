"""A receiver of Prometheus remote write, over HTTP. A `RemoteWriteReceiver`."""

import math
from dataclasses import dataclass
from pathlib import Path

from nemutator_common.shipping.files import RereadFile

from nemutator_controller.history.remote_write_messages import (
    RemoteWriteRefusedError,
    RemoteWriteUnavailableError,
)
from nemutator_controller.http_accounts import NOBODY, HttpAccount
from nemutator_controller.posts_http import NotTakenError, post

LONGEST_RETRY_S = 300.0
_HEADERS = {
    "Content-Type": "application/x-protobuf",
    "Content-Encoding": "snappy",
    "X-Prometheus-Remote-Write-Version": "0.1.0",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRemoteWrite:
    url: str
    account: HttpAccount = NOBODY
    ca: RereadFile | None = None
    """Who signs its certificate, where the machine's own authorities do not."""
    certificate: tuple[Path, Path] | None = None
    """Ours and its key, for receivers that ask for one."""

    async def write(self, body: bytes) -> None:
        try:
            await post(
                self.url,
                body,
                _HEADERS,
                account=self.account,
                ca=self.ca,
                certificate=self.certificate,
            )
        except NotTakenError as error:
            # The specification: 5xx is tried again, 429 may be, any other 4xx must not be.
            if error.status is None or error.status >= 500 or error.status == 429:
                asked_s = _seconds(error.retry_after)
                raise RemoteWriteUnavailableError(str(error), retry_after_s=asked_s) from None
            raise RemoteWriteRefusedError(str(error)) from None


def _seconds(text: str) -> float:
    """Of a Retry-After in seconds, up to a limit; a date there is not waited for."""
    try:
        value = float(text)
    except ValueError:
        return 0.0
    return min(max(value, 0.0), LONGEST_RETRY_S) if math.isfinite(value) else 0.0
