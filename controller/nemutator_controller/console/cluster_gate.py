"""The console's door in a cluster: a bearer token, or a browser that has shown one once."""

from aiohttp import web
from multidict import CIMultiDict
from nemutator_common import names
from nemutator_common.meters import Meter

from nemutator_controller.answers import refusal
from nemutator_controller.console.browsers import HEADERS, is_foreign
from nemutator_controller.console.gates import Handler
from nemutator_controller.console.people import People, PeopleUnknownError
from nemutator_controller.console.permissions import API, needed
from nemutator_controller.ingest.bearers import bearer

COOKIE = "__Host-nemutator"
"""The prefix makes browsers insist: over TLS, of this host alone, for all paths."""

SIGN_IN_PATH = "/sign-in"

SIGN_IN = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>nemutator: sign in</title>
<h1>Sign in</h1>
<p>{why}</p>
<form method="post" action="/sign-in">
<p><label>A token of yours for this cluster:
<input name="token" type="password" autocomplete="off" required></label>
<button>Sign in</button></p>
</form>
<p>One of a service account is printed by <code>kubectl create token NAME</code>.</p>
</html>
"""

NOBODY = ("nobody is signed in", "reload the page to sign in, or send a bearer token")
STRANGER = (
    "the cluster does not know this token",
    "take a new one, as `kubectl create token NAME` prints it",
)
"""What is wrong, and the remedy."""

_FORM_POLICY = HEADERS["Content-Security-Policy"].replace(
    "form-action 'none'", "form-action 'self'"
)


class ClusterGate:
    """Anonymous callers get the form and nothing else."""

    def __init__(self, people: People, *, session_s: float, meter: Meter) -> None:
        self._people = people
        self._session_s = session_s
        self._meter = meter

    def routes(self) -> list[web.RouteDef]:
        return [web.post(SIGN_IN_PATH, self._sign_in)]

    @web.middleware
    async def admit(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            response = await self._judge(request, handler)
        except web.HTTPException as raised:
            _protect(raised.headers)
            raise
        except PeopleUnknownError as unknown:
            response = refusal(503, f"nobody can tell who asks: {unknown}", "ask again later")
            response.headers["Retry-After"] = "5"
        _protect(response.headers)
        return response

    async def _judge(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        token = shown = bearer(request.headers.get("Authorization"))
        if shown is None:
            # Only what a browser adds by itself can be abused by another page in it.
            if is_foreign(request.method, request.headers):
                return self._refuse("origin", 403, "wrong origin", "open the console itself")
            if request.path == SIGN_IN_PATH and request.method == "POST":
                return await handler(request)
            token = self._people.token_of(request.cookies.get(COOKIE, ""))
        user = None if token is None else await self._people.user(token)
        if user is None:
            if request.path.startswith(API):
                return self._refuse("session", 401, *(NOBODY if shown is None else STRANGER))
            self._meter.count(names.CONSOLE_REFUSED, reason="session")
            return form(401, "This console is for people whom the cluster knows.")
        if request.path.startswith(API):
            permission = needed(request.method, request.path)
            if permission is None:
                return self._refuse("path", 404, "no such path", "see docs/reference.md")
            namespace = request.query.get("namespace", "") if permission.narrows else ""
            if not await self._people.may(user, permission, namespace=namespace):
                where = f" in namespace {namespace}" if namespace else ""
                return self._refuse(
                    "forbidden",
                    403,
                    f"{user.username} may not {permission}{where}",
                    "ask an administrator of the cluster to grant it by RBAC",
                )
        return await handler(request)

    async def _sign_in(self, request: web.Request) -> web.Response:
        given = (await request.post()).get("token", "")
        token = bearer(f"Bearer {given}") if isinstance(given, str) else None
        session = None if token is None else await self._people.sign_in(token)
        if session is None:
            self._meter.count(names.CONSOLE_REFUSED, reason="key")
            return form(403, "The cluster does not know this token.")
        response = web.Response(status=303, headers={"Location": "/", "Cache-Control": "no-store"})
        response.set_cookie(
            COOKIE,
            session.reveal(),
            max_age=int(self._session_s),
            path="/",
            secure=True,
            httponly=True,
            samesite="Strict",
        )
        return response

    def _refuse(self, reason: str, status: int, what: str, remedy: str) -> web.Response:
        self._meter.count(names.CONSOLE_REFUSED, reason=reason)
        response = refusal(status, what, remedy)
        if status == 401:
            response.headers["WWW-Authenticate"] = "Bearer"
        return response


def form(status: int, why: str) -> web.Response:
    headers = {
        "Cache-Control": "no-store",
        "Content-Security-Policy": _FORM_POLICY,
        # With `no-referrer` browsers send the form from nowhere (`Origin: null`), as a stranger's.
        "Referrer-Policy": "same-origin",
    }
    return web.Response(
        text=SIGN_IN.format(why=why), status=status, content_type="text/html", headers=headers
    )


def _protect(headers: CIMultiDict[str]) -> None:
    for name, value in HEADERS.items():
        headers.setdefault(name, value)
