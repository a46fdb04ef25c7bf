"""The console's responses to callers whom it refuses: JSON for the API, otherwise a page."""

from collections.abc import Callable
from dataclasses import dataclass
from html import escape

from aiohttp import web
from nemutator_common import names
from nemutator_common.meters import Meter

from nemutator_controller.access.browsers import HEADERS
from nemutator_controller.access.gates import AccessRefusedError
from nemutator_controller.access.permissions import API

SIGN_IN_PATH = "/sign-in"

STYLE = ("/style.css", "/icon.svg")
"""The files that these pages need; everybody may get them."""

_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>nemutator: {title}</title>
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/style.css">
</head>
<body>
<header class="top">
<img src="/icon.svg" alt="" width="28" height="28">
<span class="brand">nemutator</span>
</header>
<main class="refusal">
<h1>{title}</h1>
<p>{why}</p>
{way_in}
</main>
</body>
</html>
"""

_LINK = """\
<p>On the machine where nemutator runs, type <code>nemutator link</code> and open what it prints.
Each link works once.</p>"""

_FORM = """\
<form method="post" action="/sign-in">
<p><label for="token">A token of yours for this cluster</label></p>
<p><input id="token" name="token" type="password" autocomplete="off" required>
<button>Sign in</button></p>
</form>
<p><code>kubectl create token NAME</code> prints one of the service account NAME.</p>"""

_FORM_POLICY = HEADERS["Content-Security-Policy"].replace(
    "form-action 'none'", "form-action 'self'"
)


def link_needed(refused: AccessRefusedError) -> web.Response:
    return _page(refused, "This page needs a link", _LINK, {})


def sign_in_needed(refused: AccessRefusedError) -> web.Response:
    headers = {
        "Content-Security-Policy": _FORM_POLICY,
        # With `no-referrer` browsers send the form with `Origin: null`, as if from another site.
        "Referrer-Policy": "same-origin",
    }
    return _page(refused, "Sign in", _FORM, headers)


@dataclass(frozen=True, slots=True)
class ConsoleRefusals:
    """Answers and counts each refusal."""

    page: Callable[[AccessRefusedError], web.Response]
    """What a browser gets that sends no proof."""
    meter: Meter

    def refuse(self, request: web.Request, refused: AccessRefusedError) -> web.Response:
        self.meter.count(names.CONSOLE_REFUSED, reason=refused.reason)
        if request.path.startswith(API) or refused.reason not in ("session", "key"):
            return refused.as_json()
        return self.page(refused)


def _page(
    refused: AccessRefusedError, title: str, way_in: str, headers: dict[str, str]
) -> web.Response:
    why = f"{refused.what[:1].upper()}{refused.what[1:]}."
    return web.Response(
        text=_PAGE.format(title=title, why=escape(why), way_in=way_in),
        status=refused.status,
        content_type="text/html",
        headers={"Cache-Control": "no-store", **headers},
    )
