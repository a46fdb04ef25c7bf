"""`/api/v1/tokens`: shows tokens and changes one; and all of them for admission."""

from dataclasses import dataclass

import msgspec
from aiohttp import web
from nemutator_common.admission_snapshots import TOKENS_PATH, TokenSnapshot

from nemutator_controller.access.routes import AllowedRoute, ProcessRoute, allowed, served_to
from nemutator_controller.answers import answer, refusal, unavailable, unless_known
from nemutator_controller.mutations.known_tokens import LONGEST_KEY, LONGEST_VALUE
from nemutator_controller.queries import limit_in
from nemutator_controller.tokens.documents import NO_STORE, document_of, listed
from nemutator_controller.tokens.model import (
    MOST,
    TokenSourceError,
    is_key,
    is_value,
)
from nemutator_controller.tokens.reading import TokenReading

TOKENS_API_PATH = "/api/v1/tokens"
LISTED = 1_000

NO_TOKENS = TokenSnapshot("", False, {})
_REMEDY = "set brain.tokens_file or brain.tokens_redis (docs/mutations.md)"


class TokenBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    key: str
    value: str | None
    """None: the token is removed."""


@dataclass(frozen=True, slots=True)
class TokensApi:
    reading: TokenReading | None
    """None: there is no token store."""

    def routes(self) -> list[AllowedRoute]:
        return [
            allowed("get", "tokens", web.get(TOKENS_API_PATH, self._list)),
            allowed("update", "tokens", web.post(TOKENS_API_PATH, self._put)),
        ]

    def uplink_routes(self) -> list[ProcessRoute]:
        route = web.get(TOKENS_PATH, self._give, allow_head=False)
        return [served_to({"admission", "local"}, route)]

    async def _list(self, request: web.Request) -> web.Response:
        limit = limit_in(request.query.get("limit"), usual=LISTED, most=MOST)
        if limit is None:
            return refusal(400, f"limit: expected 1 to {MOST}", f"leave it out for {LISTED}")
        reading = self.reading
        if reading is None:
            return answer(NO_STORE)
        document = listed(
            reading.table,
            source=reading.source.name,
            age_s=reading.age_s,
            problem=reading.problem,
            key=request.query.get("key"),
            limit=limit,
        )
        return answer(document)

    async def _put(self, request: web.Request) -> web.Response:
        try:
            wanted = msgspec.json.decode(await request.read(), type=TokenBody)
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            return refusal(400, f"expected a key and a value: {error}"[:300], "send both as text")
        if not is_key(wanted.key):
            what = f"key: expected nemu_ and letters, digits or . _ : / @ - up to {LONGEST_KEY}"
            return refusal(400, what, "name it like nemu_label_value_team")
        if wanted.value is not None and not is_value(wanted.value):
            return refusal(400, f"value: expected text of 1 to {LONGEST_VALUE} bytes", "shorten it")
        if self.reading is None:
            return refusal(409, "there is no token store", _REMEDY)
        try:
            await self.reading.put(wanted.key, wanted.value)
        except TokenSourceError as error:
            return unavailable(f"{self.reading.source.name}: {error}", "change it there itself")
        return answer(document_of(wanted.key, wanted.value or ""))

    async def _give(self, request: web.Request) -> web.Response:
        if self.reading is None:
            return unless_known(request, NO_TOKENS, tag="none")
        tag = self.reading.tag or "unread"
        return unless_known(request, self.reading.snapshot, tag=tag)
