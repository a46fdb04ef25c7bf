"""`/api/v1/profile-targets`: what can be profiled, to choose from."""

from dataclasses import dataclass

import msgspec
from aiohttp import web
from nemutator_common import names

from nemutator_controller.access.routes import AllowedRoute, allowed
from nemutator_controller.answers import answer, refusal
from nemutator_controller.profiles.offered_targets import OfferedTarget, listed
from nemutator_controller.profiles.target_offers import TargetOffers
from nemutator_controller.queries import limit_in

TARGETS_PATH = "/api/v1/profile-targets"

DEFAULT_LISTED = 50
MOST_LISTED = 500
LONGEST_SEARCH = 200


@dataclass(frozen=True, slots=True)
class TargetsApi:
    listing: TargetOffers

    def routes(self) -> list[AllowedRoute]:
        # It shows no more than the topology does.
        return [allowed("get", "topology", web.get(TARGETS_PATH, self._list))]

    async def _list(self, request: web.Request) -> web.Response:
        limit = limit_in(request.query.get("limit"), usual=DEFAULT_LISTED, most=MOST_LISTED)
        search = request.query.get("search", "")
        if limit is None:
            remedy = f"leave it out for {DEFAULT_LISTED}"
            return refusal(400, f"limit: expected 1 to {MOST_LISTED}", remedy)
        if len(search) > LONGEST_SEARCH:
            what = f"search: more than {LONGEST_SEARCH} characters"
            return refusal(400, what, "send a part of the name")
        offer = await self.listing.offer(request.query.get("node") or None)
        found = listed(offer.targets, search)
        return answer(
            {
                "apiVersion": names.API_VERSION,
                "kind": "ProfileTargetList",
                "items": [_document(one) for one in found[:limit]],
                "left": max(0, len(found) - limit),
                "nodes_left": offer.nodes_left,
            }
        )


def _document(offered: OfferedTarget) -> dict[str, object]:
    shown: dict[str, object] = msgspec.to_builtins(offered)
    return shown | {"target": offered.target}
