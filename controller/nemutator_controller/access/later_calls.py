"""The gate of what processes ask without the HTTP parser: the same proof, the same permission."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from urllib.parse import parse_qsl

from aiohttp import web
from nemutator_common.serving.token_requests import TokenRequest

from nemutator_controller.access.gates import (
    AccessRefusedError,
    ProcessRule,
    permit_path,
    refused_now,
)
from nemutator_controller.access.routes import AnswerLater, LaterCall, ProcessRoute
from nemutator_controller.access.token_reviews import UnknownNowError

AroundCalls = Callable[[LaterCall, AnswerLater], Awaitable[web.Response]]
"""What a listener does with each call, as its middlewares do behind their gate."""


class LaterCalls:
    """A `LaterHandler`, for those of *routes* that answer later."""

    def __init__(
        self, rule: ProcessRule, routes: Iterable[ProcessRoute], around: AroundCalls
    ) -> None:
        self._rule = rule
        self._routes: Mapping[tuple[str, str], tuple[ProcessRoute, AnswerLater]] = {
            (one.route.method, one.route.path): (one, one.later)
            for one in routes
            if one.later is not None
        }
        self._around = around

    def __call__(self, request: TokenRequest) -> Awaitable[web.Response] | None:
        found = self._routes.get((request.head.method, request.head.path))
        return None if found is None else self._answer(request, *found)

    async def _answer(
        self, request: TokenRequest, route: ProcessRoute, later: AnswerLater
    ) -> web.Response:
        head = request.head
        try:
            who = await self._rule.prove_by(head.authorization.reveal(), source=request.remote)
            permit_path(who, route)
        except UnknownNowError as unknown:
            return refused_now(unknown).as_json()
        except AccessRefusedError as refused:
            return refused.as_json()
        query: dict[str, str] = {}
        for name, value in parse_qsl(head.query, keep_blank_values=True):
            query.setdefault(name, value)
        return await self._around(LaterCall(who, query, head.content_type, request.body), later)
