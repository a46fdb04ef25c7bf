"""The brain is asked for images that pods have and nobody has read."""

import pytest
from nemutator_common import names
from nemutator_common.admission_snapshots import LONGEST_IMAGE_NAME, MOST_IMAGE_QUESTIONS
from nemutator_common.shipping.links import LinkUnavailableError
from nemutator_controller.admission.image_asking import (
    MOST_USED,
    MOST_WAITING,
    TELL_S,
    AskedImages,
    WantedImages,
)

from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process


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
    link, wanted = Link(), WantedImages(fake_process())
    asked = AskedImages(wanted, link.ask, link.fetch)
    assert await asked.get("/images") == b"{}"
    for image in ("a", "b", "a"):
        wanted.add(image)
    await asked.get("/images")
    await asked.get("/images")
    assert link.calls == ["/images", ("a", "b"), "/images", "/images"]


async def test_a_brain_that_is_away_is_asked_again() -> None:
    link, wanted = Link(), WantedImages(fake_process())
    asked = AskedImages(wanted, link.ask, link.fetch)
    wanted.add("a")
    link.is_away = True
    with pytest.raises(LinkUnavailableError):
        await asked.get("/images")
    link.is_away = False
    await asked.get("/images")
    assert link.calls == [("a",), ("a",), "/images"]


def test_what_waits_has_a_bound_and_so_has_one_question() -> None:
    meter = MemoryMeter()
    wanted = WantedImages(fake_process(meter=meter))
    for number in range(MOST_WAITING + 2):
        wanted.add(f"image-{number}")
    wanted.add("x" * (LONGEST_IMAGE_NAME + 1))
    wanted.add("image-0")  # It waits already.
    assert meter.value(names.IMAGE_QUESTIONS_DROPPED) == 3
    assert len(wanted.some()) == MOST_IMAGE_QUESTIONS
    wanted.remove(wanted.some())
    assert wanted.some()[0] == f"image-{MOST_IMAGE_QUESTIONS}"


async def test_what_is_used_is_named_again_after_a_while_so_that_it_stays_known() -> None:
    clock = ManualClock()
    wanted = WantedImages(fake_process(clock=clock))
    for _ in range(2):
        wanted.use("a:1")
        assert wanted.some() == ("a:1",)
    wanted.remove(("a:1",))
    wanted.use("a:1")
    assert wanted.some() == ()
    await clock.advance(TELL_S)
    wanted.use("a:1")
    assert wanted.some() == ("a:1",)


def test_what_is_used_has_a_bound() -> None:
    wanted = WantedImages(fake_process())
    for number in range(MOST_USED + 1):
        wanted.use(f"a:{number}")
        wanted.remove(wanted.some())
    wanted.use("a:0")
    assert wanted.some() == ("a:0",)
