"""The gate of the uplink, over HTTP: which process may call which path."""

import contextlib
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from aiohttp import ClientSession, ClientTimeout, web
from nemutator_common.data_directory import DataDirectory
from nemutator_common.secret import Secret
from nemutator_common.serving.token_requests import TokenHead, TokenRequest
from nemutator_controller.access.callers import LOCAL, Caller, CallerKind
from nemutator_controller.access.gates import CALLER, Gate, ProcessRule
from nemutator_controller.access.later_calls import LaterCalls
from nemutator_controller.access.routes import (
    AnswerLater,
    DeclaredRoutes,
    LaterCall,
    ProcessRoute,
    served_to,
)
from nemutator_controller.access.token_reviews import UnknownNowError
from nemutator_controller.app.brain import brain_parts
from nemutator_controller.app.context import BrainContext
from nemutator_controller.settings.brain import BrainSettings

from tests.fakes.databases import opened
from tests.fakes.process import fake_process

CALLERS = {
    "agent": Caller("agent", "n1"),
    "admission": Caller("admission", "admission-1"),
    "local": LOCAL,
}

UPLINK: dict[tuple[str, str], set[CallerKind]] = {
    ("GET", "/uplink/v1/advice"): {"admission", "local"},
    ("GET", "/uplink/v1/tombstones"): {"admission", "local"},
    ("GET", "/uplink/v1/tokens"): {"admission", "local"},
    ("GET", "/uplink/v1/unwanted-labels"): {"admission", "local"},
    ("GET", "/uplink/v1/seasons"): {"admission", "local"},
    ("GET", "/uplink/v1/talkers"): {"admission", "local"},
    ("GET", "/uplink/v1/images"): {"admission", "local"},
    ("POST", "/uplink/v1/images"): {"admission", "local"},
    ("GET", "/uplink/v1/profile-requests"): {"agent", "local"},
    ("POST", "/uplink/v1/profiles"): {"agent", "local"},
    ("POST", "/uplink/v1/window-pods"): {"agent", "local"},
    ("GET", "/uplink/v1/reports"): {"agent", "local"},
    ("POST", "/uplink/v1/reports"): {"agent", "local"},
    ("GET", "/uplink/v1/streams/{stream}"): {"agent", "admission", "local"},
    ("POST", "/uplink/v1/streams/{stream}"): {"agent", "admission", "local"},
}
"""It stands here once more, so that a path is never opened to others by mistake."""


class NamedCallers:
    """A `Callers` that believes everybody's own word."""

    async def recognise(self, authorization: str | None, *, source: str) -> Caller | None:
        return CALLERS.get(authorization or "")


async def see(request: web.Request) -> web.StreamResponse:
    return web.json_response({"name": request[CALLER].name})


@contextlib.asynccontextmanager
async def serving(
    routes: list[ProcessRoute], *undeclared: web.RouteDef
) -> AsyncIterator[ClientSession]:
    rule = ProcessRule(NamedCallers(), DeclaredRoutes(routes), "say who you are")
    gate = Gate(rule=rule, refuse=lambda _, refused: refused.as_json())
    application = web.Application(middlewares=[gate.admit])
    application.add_routes([*routes, *undeclared])
    runner = web.AppRunner(application)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        host, port = runner.addresses[0]
        async with ClientSession(f"http://{host}:{port}", timeout=ClientTimeout(60)) as client:
            yield client
    finally:
        await runner.cleanup()


async def status(client: ClientSession, caller: str, method: str, path: str) -> int:
    async with client.request(method, path, headers={"Authorization": caller}) as answer:
        return answer.status


@pytest.fixture
def uplink(tmp_path: Path) -> Iterator[list[ProcessRoute]]:
    """What the brain serves on its uplink."""
    with opened(tmp_path / "x.db") as database:
        context = BrainContext(
            settings=BrainSettings(data_dir=tmp_path),
            process=fake_process(directory=DataDirectory(tmp_path)),
            database=database,
            cluster=None,
        )
        yield [route for part in brain_parts(context, lambda: "") for route in part.uplink]


async def test_each_route_of_the_uplink_refuses_the_wrong_callers(
    uplink: list[ProcessRoute],
) -> None:
    assert {(one.route.method, one.route.path): one.callers for one in uplink} == UPLINK
    routes = [
        served_to(one.callers, web.route(one.route.method, one.route.path, see)) for one in uplink
    ]
    async with serving(routes) as client:
        for (method, path), callers in UPLINK.items():
            for caller in CALLERS:
                expected = 200 if caller in callers else 403
                asked = path.replace("{stream}", "grants")
                assert await status(client, caller, method, asked) == expected, (caller, path)
            assert await status(client, "stranger", method, path) == 401


async def test_what_is_answered_without_the_parser_is_refused_to_the_same_callers(
    uplink: list[ProcessRoute],
) -> None:
    async def around(call: LaterCall, _: AnswerLater) -> web.Response:
        return web.json_response({"name": call.caller.name, "query": call.query})

    rule = ProcessRule(NamedCallers(), DeclaredRoutes(uplink), "say who you are")
    calls = LaterCalls(rule, uplink, around)
    later = {("POST", "/uplink/v1/reports"), ("GET", "/uplink/v1/profile-requests")}
    for (method, path), callers in UPLINK.items():
        for caller in (*CALLERS, "stranger"):
            head = TokenHead(method, path, "node=n1&x=&x=2", Secret(caller), "", 0, 0)
            answering = calls(TokenRequest(head, b"", "::1"))
            assert (answering is not None) == ((method, path) in later)
            if answering is None:
                continue
            answer = await answering
            if caller in callers:
                assert answer.status == 200
                assert json.loads(answer.text or "")["query"] == {"node": "n1", "x": ""}
            else:
                assert answer.status == (401 if caller == "stranger" else 403)


async def test_who_cannot_be_identified_now_hears_so_without_the_parser(
    uplink: list[ProcessRoute],
) -> None:
    class Nobody:
        async def recognise(self, authorization: str | None, *, source: str) -> Caller | None:
            raise UnknownNowError("the API server is away")

    async def around(call: LaterCall, _: AnswerLater) -> web.Response:
        raise AssertionError(call)

    calls = LaterCalls(ProcessRule(Nobody(), DeclaredRoutes(uplink), ""), uplink, around)
    head = TokenHead("POST", "/uplink/v1/reports", "", Secret("Bearer x"), "", 0, 0)
    answering = calls(TokenRequest(head, b"", "::1"))
    assert answering is not None
    answer = await answering
    assert (answer.status, answer.headers["Retry-After"]) == (503, "5")


async def test_a_path_that_is_not_there_is_shown_to_local_processes_alone() -> None:
    async with serving([served_to({"agent", "local"}, web.get("/here", see))]) as client:
        for method, path, to_local in (("GET", "/nothing", 404), ("POST", "/here", 405)):
            assert await status(client, "local", method, path) == to_local
            assert await status(client, "agent", method, path) == 403


async def test_a_route_without_a_declaration_is_refused_to_all() -> None:
    async with serving([], web.get("/undeclared", see)) as client:
        for caller in CALLERS:
            assert await status(client, caller, "GET", "/undeclared") == 403


async def test_the_head_of_a_route_is_for_those_who_may_get_it() -> None:
    async with serving([served_to({"local"}, web.get("/here", see))]) as client:
        assert await status(client, "local", "HEAD", "/here") == 200
        assert await status(client, "agent", "HEAD", "/here") == 403
