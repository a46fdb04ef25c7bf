"""What workloads do not want on their pods, for admission, on the uplink."""

from dataclasses import dataclass

from aiohttp import web
from nemutator_common.admission_snapshots import UNWANTED_PATH, UnwantedSnapshot

from nemutator_controller.access.routes import ProcessRoute, served_to
from nemutator_controller.answers import unavailable, unless_known
from nemutator_controller.pod_selection.watching import SelectorWatching


@dataclass(frozen=True, slots=True)
class UnwantedApi:
    watching: SelectorWatching | None
    """None: there is no cluster."""

    def routes(self) -> list[ProcessRoute]:
        route = web.get(UNWANTED_PATH, self._give, allow_head=False)
        return [served_to({"admission", "local"}, route)]

    async def _give(self, request: web.Request) -> web.Response:
        if self.watching is None:
            return unless_known(request, UnwantedSnapshot(()), tag="none")
        found = await self.watching.other_than({one.value for one in request.if_none_match or ()})
        if found is None:
            return unavailable("not all workloads are listed yet", "ask again in a moment")
        return unless_known(request, found.snapshot, tag=found.tag)
