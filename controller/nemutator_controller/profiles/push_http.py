"""A store of profiles that is reached over HTTP. A `PushDestination`."""

import io
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import aiohttp
from nemutator_common import names
from nemutator_common.secret import MASK, Secret
from nemutator_common.shipping.files import RereadFile
from nemutator_common.shipping.links import LinkUnavailableError

from nemutator_controller.profiles.records import (
    ProfileRecord,
    PushRefusedError,
    PushUnavailableError,
)

LONGEST_ANSWER = 16 << 10
LONGEST_WHY = 200
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
            context = self._context()
        except LinkUnavailableError as error:
            raise PushUnavailableError(str(error)) from error
        headers = {"Content-Type": "application/json", "User-Agent": names.PREFIX, **self.headers}
        if token is not None:
            headers["Authorization"] = f"Bearer {token.reveal()}"
        try:
            async with (
                # Profiles are few: a connection for each costs less than one that is kept for hours.
                aiohttp.ClientSession(
                    cookie_jar=aiohttp.DummyCookieJar(), trust_env=False
                ) as session,
                session.post(
                    self.url,
                    data=io.BytesIO(self.body(profile, pprof)),
                    headers=headers,
                    ssl=context or True,
                    # A redirect would send our token to somebody else.
                    allow_redirects=False,
                    timeout=aiohttp.ClientTimeout(total=None),
                ) as response,
            ):
                if response.status // 100 != 2:
                    await self._fail(response, token)
        except (aiohttp.ClientError, OSError) as error:
            if self.ca is not None:
                self.ca.invalidate()
            # Of some errors the text has the headers that were sent.
            why = f"{self.url} does not answer: {type(error).__name__}"
            raise PushUnavailableError(why) from None

    async def _fail(self, response: aiohttp.ClientResponse, token: Secret | None) -> None:
        answer = (await response.content.read(LONGEST_ANSWER)).decode(errors="replace")
        if token is not None and token.reveal():
            answer = answer.replace(token.reveal(), MASK)
        shown = "".join(one if one.isprintable() else " " for one in answer[:LONGEST_WHY]).strip()
        why = f"{self.url} answers {response.status}: {shown}"
        if response.status in _UNAUTHORISED and self.token is not None:
            self.token.invalidate()
            raise PushUnavailableError(why)
        if response.status >= 500 or response.status in _LATER:
            raise PushUnavailableError(why)
        raise PushRefusedError(why)

    def _context(self) -> ssl.SSLContext | None:
        if self.ca is None:
            return None
        try:
            return ssl.create_default_context(cadata=self.ca.text())
        except (ssl.SSLError, ValueError) as error:
            self.ca.invalidate()
            raise PushUnavailableError("the CA file has no certificate") from error
