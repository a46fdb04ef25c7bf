"""Who gets past each of the two listeners."""

from collections.abc import Awaitable, Callable

from aiohttp import web
from nemutator_common import names
from nemutator_common.meters import Meter
from nemutator_common.serving.addresses import TcpAddress

from nemutator_controller.answers import refusal
from nemutator_controller.console.admitting import Doorkeeper
from nemutator_controller.console.browsers import HEADERS, distrust, hosts_of
from nemutator_controller.ingest.callers import Callers, CallersUnknownError
from nemutator_controller.ingest.endpoint import CALLER, RETRY_AFTER_S

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

Where = Callable[[], TcpAddress]
"""The console's address: with port 0 it is not known before the listener is bound."""

OPEN_PATH = "/open"

POD_REMEDY = "send a token of our service account, of this pod, for the audience brain.nemutator.io"
LINK_REMEDY = "send the link token that lies in the data directory"

SIGNED_OUT = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>nemutator: a link is needed</title>
<h1>This page needs a link</h1>
<p>{why}</p>
<p>On the machine where nemutator runs, type <code>nemutator link</code> and open what it prints.
Each link works once.</p>
"""

NO_SESSION = "This browser has no session, or it has ended."


class CallerGate:
    """For processes that call us: a bearer token, on every path."""

    def __init__(self, callers: Callers, *, remedy: str) -> None:
        """*remedy*: which token to send."""
        self._callers = callers
        self._remedy = remedy

    @web.middleware
    async def admit(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            caller = await self._callers.recognise(request.headers.get("Authorization"))
        except CallersUnknownError as unknown:
            response = refusal(503, f"nobody can tell who asks: {unknown}", "ask again later")
            response.headers["Retry-After"] = str(RETRY_AFTER_S)
            return response
        if caller is None:
            response = refusal(401, "this caller is not known", self._remedy)
            response.headers["WWW-Authenticate"] = "Bearer"
            return response
        if not caller.may_call(request.path):
            return refusal(403, "this path is no business of the caller", "see docs/reference.md")
        request[CALLER] = caller
        return await handler(request)


class BrowserGate:
    """For the console: the right host and origin, and a session on all but the opening path."""

    def __init__(self, doorkeeper: Doorkeeper, where: Where, *, meter: Meter) -> None:
        self._doorkeeper = doorkeeper
        self._where = where
        self._meter = meter

    @web.middleware
    async def admit(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            response = await self._judge(request, handler)
        except web.HTTPException as answer:
            answer.headers.update(HEADERS)
            raise
        # Who needs another policy has set it: a flame graph allows its own script, by digest.
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        return response

    async def _judge(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if (why := distrust(request.method, request.headers, hosts_of(self._where()))) is not None:
            self._meter.count(names.CONSOLE_REFUSED, reason=why)
            return refusal(403, f"wrong {why}", "open the link that `nemutator link` prints")
        is_opening = request.path == OPEN_PATH and request.method == "GET"
        if is_opening or self._doorkeeper.admits(request.cookies.get(cookie_name(self._where()))):
            return await handler(request)
        self._meter.count(names.CONSOLE_REFUSED, reason="session")
        if request.path.startswith("/api/"):
            return refusal(401, NO_SESSION, "open the link that `nemutator link` prints")
        return signed_out(401, NO_SESSION)


def cookie_name(address: TcpAddress) -> str:
    """Cookies ignore the port, so the name has it: two instances must not sign each other out."""
    return f"nemutator-{address.port}"


def signed_out(status: int, why: str) -> web.Response:
    return web.Response(
        text=SIGNED_OUT.format(why=why),
        status=status,
        content_type="text/html",
        headers={"Cache-Control": "no-store"},
    )
