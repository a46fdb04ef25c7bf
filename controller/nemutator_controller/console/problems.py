"""Problems of the brain, shown on each response of its API as API servers warn kubectl.

A full disk stops no reading, so people who only read would not notice it.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from aiohttp import web
from nemutator_common.readiness import Readiness

from nemutator_controller.access.permissions import API

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True)
class Problems:
    readiness: Readiness

    @web.middleware
    async def warn(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        response = await handler(request)
        if request.path.startswith(API) and (text := in_one_line(self.readiness)):
            # RFC 7234: 299 is a persistent warning that is to be shown to a person.
            response.headers["Warning"] = f'299 nemutator "{text}"'
        return response


def in_one_line(readiness: Readiness) -> str:
    """All problems in one line that fits into a header."""
    text = "; ".join(f"{part}: {why}" for part, why in readiness.problems().items())
    return "".join(c if " " <= c <= "~" and c not in '"\\' else "?" for c in text)
