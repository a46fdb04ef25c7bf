"""`GET /api/v1/buffers`: how much room is kept free, and why."""

from dataclasses import dataclass

from aiohttp import web
from nemutator_common.process import Process

from nemutator_controller.access.routes import AllowedRoute, allowed
from nemutator_controller.answers import answer, refusal
from nemutator_controller.buffers.documents import buffer_document
from nemutator_controller.buffers.keeping import BufferKeeping

PATH = "/api/v1/buffers"


@dataclass(frozen=True, slots=True)
class BuffersApi:
    keeping: BufferKeeping | None
    """None: none is kept."""
    why_not: str
    remedy: str
    process: Process
    status: int = 409
    """Of the refusal: 404 where there is no cluster, as for all that needs one."""

    def routes(self) -> list[AllowedRoute]:
        return [allowed("get", "placements", web.get(PATH, self._show, allow_head=False))]

    async def _show(self, request: web.Request) -> web.Response:
        if self.keeping is None:
            return refusal(self.status, self.why_not, self.remedy)
        state, now = self.keeping.state, self.process.clock.now()
        return answer(buffer_document(state, most=self.keeping.most, now=now))
