"""A store of profiles that is reached over HTTP. A `PushDestination`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from nemutator_common.secret import Secret
from nemutator_common.shipping.files import RereadFile
from nemutator_common.shipping.links import LinkUnavailableError

from nemutator_controller.posts_http import NotTakenError, post
from nemutator_controller.profiles.records import (
    ProfileRecord,
    PushRefusedError,
    PushUnavailableError,
)

_UNAUTHORISED = (401, 403)
_LATER = (408, 425, 429)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpPush:
    name: str
    url: str
    """All of it, with the path."""
    body: Callable[[ProfileRecord, bytes], bytes]
    headers: Mapping[str, str] = field(default_factory=dict)
    token: RereadFile | None = None
    ca: RereadFile | None = None
    """Who signs its certificate, where the machine's own authorities do not."""

    async def push(self, profile: ProfileRecord, pprof: bytes) -> None:
        try:
            token = None if self.token is None else Secret(self.token.text())
        except LinkUnavailableError as error:
            raise PushUnavailableError(str(error)) from error
        headers = {"Content-Type": "application/json", **self.headers}
        if token is not None:
            headers["Authorization"] = f"Bearer {token.reveal()}"
        secrets = () if token is None else (token,)
        try:
            await post(self.url, self.body(profile, pprof), headers, secrets=secrets, ca=self.ca)
        except NotTakenError as error:
            if error.status in _UNAUTHORISED and self.token is not None:
                self.token.invalidate()
                raise PushUnavailableError(str(error)) from None
            if error.status is None or error.status >= 500 or error.status in _LATER:
                raise PushUnavailableError(str(error)) from None
            raise PushRefusedError(str(error)) from None
