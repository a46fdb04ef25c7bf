"""`/api/v1/seasons` for people, and what admission must know of seasons."""

import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import msgspec
from aiohttp import web
from nemutator_common.admission_snapshots import SEASONS_PATH

from nemutator_controller.access.routes import AllowedRoute, ProcessRoute, allowed, served_to
from nemutator_controller.answers import answer, refusal, unavailable, unless_known
from nemutator_controller.database.failures import AGAIN, StoreUnavailableError
from nemutator_controller.queries import limit_in
from nemutator_controller.seasons.day_book import CLUSTER
from nemutator_controller.seasons.documents import (
    season_item,
    season_list,
    snapshot_of,
    switch_items,
)
from nemutator_controller.seasons.finding import SeasonFinding
from nemutator_controller.seasons.ports import SwitchStore
from nemutator_controller.seasons.switching import SeasonSwitching

PATH = "/api/v1/seasons"
USUAL_ITEMS = 200
MOST_ITEMS = 10_000


@dataclass(frozen=True, slots=True)
class SeasonsApi:
    finding: SeasonFinding
    switching: SeasonSwitching
    zone: str

    def routes(self) -> list[AllowedRoute]:
        show = web.get(PATH, self._list, allow_head=False)
        return [allowed("get", "advice", show, narrows=True)]

    async def _list(self, request: web.Request) -> web.Response:
        limit = limit_in(request.query.get("limit"), usual=USUAL_ITEMS, most=MOST_ITEMS)
        if limit is None:
            return refusal(400, f"limit: expected a number from 1 to {MOST_ITEMS}", "ask for 200")
        namespace, name = (request.query.get(word) or None for word in ("namespace", "name"))
        book = self.finding.book
        calendar, found = book.calendar, dict(self.finding.found)
        chosen = sorted(
            scope
            for scope in found
            if scope != CLUSTER
            and namespace in (None, scope[0])
            and (name is None or name.casefold() == scope[2].casefold())
        )
        # Those with a season first: of ten thousand jobs nobody wants to read.
        chosen.sort(key=lambda scope: found[scope].plan is None)
        drawn = name is not None
        items = [
            season_item(
                scope,
                found[scope],
                calendar,
                lead=self.finding.lead_of(scope),
                starts=self.finding.starts.count(scope),
                used=book.today_of(book.numbers[scope])
                if drawn and scope in book.numbers
                else None,
            )
            for scope in chosen[:limit]
        ]
        cluster = None
        if namespace is None and name is None and (whole := found.get(CLUSTER)) is not None:
            cluster = season_item(
                CLUSTER,
                whole,
                calendar,
                lead=self.finding.lead_of(CLUSTER),
                starts=self.finding.starts.count(CLUSTER),
                used=book.today_of(0),
            )
        return answer(
            season_list(
                items,
                cluster,
                # Policies are the cluster's: who sees one namespace sees which season they are in.
                switch_items(self.switching.switches.values()),
                calendar,
                zone=self.zone,
                left_off=len(chosen) - len(items),
                counts=Counter(found[scope].state.season for scope in chosen),
            )
        )


@dataclass(frozen=True, slots=True)
class NoSeasonsApi:
    """Where seasons are not found, which says so."""

    def routes(self) -> list[AllowedRoute]:
        return [
            allowed("get", "advice", web.get(PATH, self._refuse, allow_head=False), narrows=True)
        ]

    async def _refuse(self, request: web.Request) -> web.Response:
        return refusal(
            409,
            "off clusters, brains that share a PostgreSQL find no seasons: policies are files of each",
            "they are where the brain keeps its SQLite file (docs/seasons.md, Limits)",
        )


@dataclass(frozen=True, slots=True)
class InSeasonApi:
    """For admission, on the uplink; any brain answers it from the database."""

    store: SwitchStore
    holds_resizes: Callable[[frozenset[str]], bool]
    """Whether one of the SeasonPolicies of these names holds resizes back."""

    def routes(self) -> list[ProcessRoute]:
        route = web.get(SEASONS_PATH, self._give, allow_head=False)
        return [served_to({"admission", "local"}, route)]

    async def _give(self, request: web.Request) -> web.Response:
        try:
            switches = await self.store.all()
        except StoreUnavailableError as error:
            return unavailable(f"the database: {error}", AGAIN)
        document = snapshot_of(switches, self.holds_resizes)
        tag = hashlib.blake2b(msgspec.json.encode(document), digest_size=16).hexdigest()
        return unless_known(request, document, tag=tag)
