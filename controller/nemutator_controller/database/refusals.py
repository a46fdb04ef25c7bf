"""What people are answered while the database does not answer."""

from collections.abc import Awaitable, Callable

from aiohttp import web

from nemutator_controller.answers import unavailable
from nemutator_controller.database.failures import StoreUnavailableError

Handler = Callable[[web.Request], Awaitable[web.Response]]


def explained(handler: Handler) -> Handler:
    """*handler*, whose response says so when the database does not answer."""

    async def explaining(request: web.Request) -> web.Response:
        try:
            return await handler(request)
        except StoreUnavailableError as failure:
            return unavailable(f"the database: {failure}", failure.remedy, full=failure.full)

    return explaining
