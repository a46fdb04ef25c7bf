"""`/api/v1/units/{unit}/size`: gives a unit of systemd what is recommended, where there is no cluster."""

from dataclasses import dataclass

from aiohttp import web

from nemutator_controller.access.routes import AllowedRoute, allowed
from nemutator_controller.answers import answer, refusal, unavailable
from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.units.documents import sized_unit
from nemutator_controller.units.refusals import UnitRefusedError, UnitsUnavailableError
from nemutator_controller.units.unit_sizing import UnitSizing

UNIT_PATH = "/api/v1/units/{unit}/size"

_FLAGS = {None: False, "false": False, "true": True}


@dataclass(frozen=True, slots=True)
class UnitsApi:
    sizing: UnitSizing

    def routes(self) -> list[AllowedRoute]:
        return [allowed("update", "objects", web.post(UNIT_PATH, self._size))]

    async def _size(self, request: web.Request) -> web.Response:
        unit, only_plan = request.match_info["unit"], _FLAGS.get(request.query.get("plan"))
        if only_plan is None:
            return refusal(400, "plan: expected true or false", "leave it out for false")
        try:
            sized = await (self.sizing.plan(unit) if only_plan else self.sizing.give(unit))
        except UnitRefusedError as error:
            return refusal(409, str(error), error.remedy)
        except UnitsUnavailableError as error:
            return unavailable(str(error), error.remedy)
        except StoreUnavailableError as error:
            return unavailable(f"the database: {error}", error.remedy, full=error.full)
        return answer(sized_unit(sized))
