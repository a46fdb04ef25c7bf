"""`GET /api/v1/scalers`: the ForecastScalers, what they foresee, and what is in force; none where there is no cluster."""

from dataclasses import dataclass
from typing import Any

from aiohttp import web
from nemutator_common import names

from nemutator_controller.access.routes import AllowedRoute, allowed
from nemutator_controller.answers import answer
from nemutator_controller.scaling.documents import scaler_list
from nemutator_controller.scaling.raising import MinimumRaising
from nemutator_controller.scaling.sharing import SpareSharing

SCALERS_PATH = "/api/v1/scalers"


@dataclass(frozen=True, slots=True)
class ScalersApi:
    raising: MinimumRaising | None
    """None: there is no cluster."""
    sharing: SpareSharing | None

    def routes(self) -> list[AllowedRoute]:
        show = web.get(SCALERS_PATH, self._list, allow_head=False)
        return [allowed("get", "advice", show, narrows=True)]

    async def _list(self, request: web.Request) -> web.Response:
        items: list[dict[str, Any]] = []
        left_off = 0
        if self.raising is not None and self.sharing is not None:
            items, left_off = scaler_list(
                self.raising.states.values(),
                self.raising.scalers.faulty(),
                self.sharing.replicas,
                request.query.get("namespace"),
            )
        return answer(
            {
                "apiVersion": names.API_VERSION,
                "kind": "ScalerList",
                "items": items,
                "left_off": left_off,
            }
        )
