"""What images start, for admission; and which it wants to know."""

from dataclasses import dataclass

import msgspec
from aiohttp import web
from nemutator_common import names
from nemutator_common.admission_snapshots import (
    IMAGES_PATH,
    MOST_IMAGE_QUESTIONS,
    ImageQuestions,
    ImageSnapshot,
)
from nemutator_common.meters import Meter

from nemutator_controller.access.routes import ProcessRoute, served_to
from nemutator_controller.answers import answer, refusal, unavailable, unless_known
from nemutator_controller.images.reading import ImageReading
from nemutator_controller.ingest.batches import RefusedBatchError, decoded
from nemutator_controller.ingest.bodies import body_of

_decoder = msgspec.json.Decoder(ImageQuestions)


@dataclass(frozen=True, slots=True)
class ImagesApi:
    reading: ImageReading | None
    """None: no image is read."""
    meter: Meter

    def routes(self) -> list[ProcessRoute]:
        show = web.get(IMAGES_PATH, self._snapshot, allow_head=False)
        ask = web.post(IMAGES_PATH, self._ask)
        return [served_to({"admission", "local"}, route) for route in (show, ask)]

    async def _snapshot(self, request: web.Request) -> web.Response:
        if self.reading is None:
            return unless_known(request, ImageSnapshot(reads=False), tag="none")
        found = self.reading.snapshot()
        if found is None:
            return unavailable("images are read for the first time since the start", "ask again")
        snapshot, tag = found
        return unless_known(request, snapshot, tag=tag)

    async def _ask(self, request: web.Request) -> web.Response:
        try:
            asked = decoded(_decoder, await body_of(request))
        except RefusedBatchError as refused:
            self.meter.count(names.BATCHES_REFUSED, reason=refused.reason)
            return refusal(400, str(refused), "send what admission_snapshots.py describes")
        if len(asked.images) > MOST_IMAGE_QUESTIONS:
            self.meter.count(names.BATCHES_REFUSED, reason="bounds")
            what = f"images: {len(asked.images)}, at most {MOST_IMAGE_QUESTIONS} are taken"
            return refusal(400, what, "send what admission_snapshots.py describes")
        if self.reading is not None:
            self.reading.ask(asked.images)
        return answer({})
