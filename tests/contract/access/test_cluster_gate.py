"""The console's door in a cluster, over HTTP: who gets which answer."""

import contextlib
from collections.abc import AsyncIterator

import pytest
from aiohttp import ClientSession, ClientTimeout, DummyCookieJar, web
from nemutator_common import names
from nemutator_controller.access.gates import CLUSTER_COOKIE
from nemutator_controller.access.people import FRESH_S
from nemutator_controller.access.routes import allowed
from nemutator_controller.app.console import cluster_gate
from nemutator_controller.kube.failures import UnavailableError
from nemutator_controller.settings.brain import BrainSettings

from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.fakes.reviews import MemoryReviews

SETTINGS = BrainSettings(session_s=600)
ANNA = {"Authorization": "Bearer anna-token"}


async def see(request: web.Request) -> web.StreamResponse:
    return web.json_response({"seen": request.path})


ROUTES = [
    allowed("get", "topology", web.get("/api/v1/topology", see)),
    allowed("get", "leases", web.get("/api/v1/leases", see), narrows=True),
    allowed("get", "mutations", web.get("/api/v1/mutations/{id}", see)),
    allowed("create", "profiles", web.post("/api/v1/profiles", see)),
]


class House:
    def __init__(self) -> None:
        self.reviews, self.clock, self.meter = MemoryReviews(), ManualClock(), MemoryMeter()
        self.reviews.knows("anna-token", "anna")
        self.reviews.allowed.add(("anna", "get", "leases", "shop"))
        self.reviews.allowed.add(("anna", "get", "topology", ""))
        self.process = fake_process(clock=self.clock, meter=self.meter)

    @contextlib.asynccontextmanager
    async def standing(self) -> AsyncIterator[ClientSession]:
        middleware, own = cluster_gate(SETTINGS, self.reviews, ROUTES, self.process)
        application = web.Application(middlewares=[middleware])
        application.add_routes([*ROUTES, *own, web.get("/", see), web.get("/style.css", see)])
        runner = web.AppRunner(application)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            host, port = runner.addresses[0]
            async with ClientSession(
                f"http://{host}:{port}", cookie_jar=DummyCookieJar(), timeout=ClientTimeout(60)
            ) as client:
                yield client
        finally:
            await runner.cleanup()


async def status(client: ClientSession, path: str, method: str = "GET", **headers: str) -> int:
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    async with client.request(method, path, headers=given, allow_redirects=False) as answer:
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        return answer.status


async def test_anonymous_gets_the_form_and_nothing_else() -> None:
    house = House()
    async with house.standing() as client:
        assert await status(client, "/api/v1/topology") == 401
        assert await status(client, "/api/v1/nothing") == 401
        async with client.get("/app.js") as answer:
            assert answer.status == 401
            assert "form-action 'self'" in answer.headers["Content-Security-Policy"]
            text = await answer.text()
            assert "seen" not in text
            assert 'href="/style.css"' in text
        async with client.get("/style.css") as answer:
            assert (answer.status, await answer.json()) == (200, {"seen": "/style.css"})
    assert house.meter.value(names.CONSOLE_REFUSED, reason="session") == 3


@pytest.mark.parametrize(
    ("path", "method", "expected"),
    [
        ("/api/v1/topology", "GET", 200),
        ("/api/v1/topology", "POST", 404),
        ("/api/v1/leases?namespace=shop", "GET", 200),
        ("/api/v1/leases?namespace=bank", "GET", 403),
        ("/api/v1/leases?namespace=bank&namespace=shop", "GET", 403),
        ("/api/v1/leases", "GET", 403),
        ("/api/v1/leases?namespace=", "GET", 403),
        ("/api/v1/mutations/x?namespace=shop", "GET", 403),
        ("/api/v1/profiles", "POST", 403),
        ("/api/v1/unknown", "GET", 404),
        ("/api/v1/console-links", "POST", 404),
        ("/api/v1/leases/../topology", "GET", 200),
        ("/api/v1/%6ceases", "GET", 403),
        ("/", "GET", 200),
    ],
)
async def test_a_bearer_may_what_is_granted(path: str, method: str, expected: int) -> None:
    async with House().standing() as client:
        assert await status(client, path, method, **ANNA) == expected


async def test_a_path_that_is_not_there_has_a_remedy_that_helps() -> None:
    async with (
        House().standing() as client,
        client.get("/api/v1/unknown", headers=ANNA) as answer,
    ):
        remedy = (await answer.json())["remedy"]
    assert "`nemutator --help`" in remedy


@pytest.mark.parametrize(
    "header", ["Bearer nobody", "Bearer", "Basic anna-token", "anna-token", "Bearer " + "x" * 7_000]
)
async def test_a_token_of_nobody_opens_nothing(header: str) -> None:
    async with House().standing() as client:
        assert await status(client, "/api/v1/topology", Authorization=header) == 401


async def test_a_browser_signs_in_once_and_its_cookie_is_no_token() -> None:
    house = House()
    async with house.standing() as client:
        async with client.post(
            "/sign-in", data={"token": "anna-token"}, allow_redirects=False
        ) as answer:
            assert (answer.status, answer.headers["Location"]) == (303, "/")
            cookie = answer.headers["Set-Cookie"]
        for word in ("HttpOnly", "Secure", "SameSite=Strict", "Path=/"):
            assert word in cookie
        assert "anna-token" not in cookie
        signed_in = cookie.split(";")[0]
        assert await status(client, "/api/v1/topology", Cookie=signed_in) == 200
        assert await status(client, "/api/v1/leases", Cookie=signed_in) == 403
        foreign = {"Cookie": signed_in, "Origin": "https://evil.example.com"}
        assert await status(client, "/api/v1/topology", "POST", **foreign) == 403
        assert await status(client, "/", Cookie=f"{CLUSTER_COOKIE}=guess") == 401
        async with client.post("/sign-in", data={"token": "nobody"}) as answer:
            assert answer.status == 403
        async with client.post("/sign-in", data=b"\xff\xfe") as answer:
            assert answer.status == 403
        # What is taken back in the cluster is taken back here.
        house.reviews.tokens.clear()
        await house.clock.advance(FRESH_S)
        assert await status(client, "/api/v1/topology", Cookie=signed_in) == 401


async def test_without_an_answer_of_the_cluster_nobody_is_let_in() -> None:
    house = House()
    house.reviews.broken = UnavailableError("create tokenreviews", "gone")
    async with (
        house.standing() as client,
        client.get("/api/v1/topology", headers=ANNA) as answer,
    ):
        assert (answer.status, answer.headers["Retry-After"]) == (503, "5")
