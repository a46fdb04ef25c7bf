"""A store of profiles that is reached over HTTP. A `PushDestination`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from nemutator_common.shipping.files import RereadFile

from nemutator_controller.http_accounts import NOBODY, HttpAccount
from nemutator_controller.posts_http import UNAUTHORISED, NotTakenError, post
from nemutator_controller.profiles.records import (
    ProfileRecord,
    PushRefusedError,
    PushUnavailableError,
)

_LATER = (408, 425, 429)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpPush:
    name: str
    url: str
    """All of it, with the path."""
    body: Callable[[ProfileRecord, bytes], bytes]
    headers: Mapping[str, str] = field(default_factory=dict)
    account: HttpAccount = NOBODY
    ca: RereadFile | None = None
    """Who signs its certificate, where the machine's own authorities do not."""

    async def push(self, profile: ProfileRecord, pprof: bytes) -> None:
        headers = {"Content-Type": "application/json", **self.headers}
        body = self.body(profile, pprof)
        try:
            await post(self.url, body, headers, account=self.account, ca=self.ca)
        except NotTakenError as error:
            if error.status in UNAUTHORISED and self.account.secret is not None:
                raise PushUnavailableError(str(error)) from None
            if error.status is None or error.status >= 500 or error.status in _LATER:
                raise PushUnavailableError(str(error)) from None
            raise PushRefusedError(str(error)) from None
