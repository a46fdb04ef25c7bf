"""Paths of the API over HTTP, behind the gate of a cluster's console."""

import contextlib
from collections.abc import AsyncIterator, Sequence

from aiohttp import ClientSession, ClientTimeout, web
from nemutator_common.process import Process
from nemutator_controller.access.routes import AllowedRoute
from nemutator_controller.app.console import cluster_gate
from nemutator_controller.settings.brain import BrainSettings

from tests.fakes.reviews import MemoryReviews


@contextlib.asynccontextmanager
async def served(
    routes: Sequence[AllowedRoute], reviews: MemoryReviews, process: Process
) -> AsyncIterator[ClientSession]:
    """A client that is `anna`, if *reviews* knows her by `anna-token`."""
    gate, _ = cluster_gate(BrainSettings(), reviews, routes, process)
    application = web.Application(middlewares=[gate])
    application.add_routes(routes)
    runner = web.AppRunner(application)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        host, port = runner.addresses[0]
        async with ClientSession(
            f"http://{host}:{port}",
            headers={"Authorization": "Bearer anna-token"},
            timeout=ClientTimeout(60),
        ) as client:
            yield client
    finally:
        await runner.cleanup()
