"""The brain is asked for images that pods have and nobody has read."""

import pytest
from nemutator_common import names
from nemutator_common.admission_snapshots import LONGEST_IMAGE_NAME, MOST_IMAGE_QUESTIONS
from nemutator_common.shipping.links import LinkUnavailableError
from nemutator_controller.admission.image_asking import MOST_WAITING, AskedImages, UnreadImages

from tests.fakes.meters import MemoryMeter


class Link:
    def __init__(self) -> None:
        self.calls: list[tuple[str, ...] | str] = []
        self.is_away = False

    async def ask(self, images: tuple[str, ...]) -> None:
        self.calls.append(images)
        if self.is_away:
            raise LinkUnavailableError("connection", "away")

    async def fetch(self, path: str) -> bytes:
        self.calls.append(path)
        return b"{}"


async def test_the_brain_is_asked_before_its_list_is_fetched_and_once() -> None:
    link, unread = Link(), UnreadImages(MemoryMeter())
    asked = AskedImages(unread, link.ask, link.fetch)
    assert await asked.get("/images") == b"{}"
    for image in ("a", "b", "a"):
        unread.add(image)
    await asked.get("/images")
    await asked.get("/images")
    assert link.calls == ["/images", ("a", "b"), "/images", "/images"]


async def test_a_brain_that_is_away_is_asked_again() -> None:
    link, unread = Link(), UnreadImages(MemoryMeter())
    asked = AskedImages(unread, link.ask, link.fetch)
    unread.add("a")
    link.is_away = True
    with pytest.raises(LinkUnavailableError):
        await asked.get("/images")
    link.is_away = False
    await asked.get("/images")
    assert link.calls == [("a",), ("a",), "/images"]


def test_what_waits_has_a_bound_and_so_has_one_question() -> None:
    meter = MemoryMeter()
    unread = UnreadImages(meter)
    for number in range(MOST_WAITING + 2):
        unread.add(f"image-{number}")
    unread.add("x" * (LONGEST_IMAGE_NAME + 1))
    unread.add("image-0")  # It waits already.
    assert meter.value(names.IMAGE_QUESTIONS_DROPPED) == 3
    assert len(unread.some()) == MOST_IMAGE_QUESTIONS
    unread.remove(unread.some())
    assert unread.some()[0] == f"image-{MOST_IMAGE_QUESTIONS}"
