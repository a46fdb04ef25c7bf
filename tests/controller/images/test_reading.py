"""Which images are read when, and what is known of them meanwhile."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Collection, Mapping

import pytest
from nemutator_common import names
from nemutator_common.admission_snapshots import LONGEST_IMAGE_NAME, ImageSnapshot, ReadImage
from nemutator_controller.images.documents import FoundImage
from nemutator_controller.images.failures import ImageUnreadableError, Reason
from nemutator_controller.images.reading import (
    CHECK_S,
    GATHER_S,
    MOST_CHARACTERS,
    MOST_IMAGES,
    REPLACED_S,
    STARTING_S,
    ImageReading,
)
from nemutator_controller.images.references import parse_image
from nemutator_controller.mutations.image_commands import ImageCommand

from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.fakes.registries import MemoryDigests, MemoryRegistry

WEB, NEXT = ImageCommand(("/web",), ("serve",)), ImageCommand(("/next",), ())
REFRESH_S = 100.0
"""With dice that show a half, exactly that."""
FORGET_S = 3_600.0
DIGEST = f"sha256:{'a' * 64}"


class InUse:
    """An `ImagesInUse`."""

    def __init__(self, *images: str) -> None:
        self.images: Collection[str] | None = images

    def now(self) -> Collection[str] | None:
        return self.images


class Brain:
    def __init__(self, *in_use: str) -> None:
        self.registry, self.in_use = MemoryRegistry(), InUse(*in_use)
        self.clock, self.meter = ManualClock(), MemoryMeter()
        process = fake_process(clock=self.clock, meter=self.meter, roll=0.5)
        self.kept = MemoryDigests()
        self.reading = ImageReading(
            self.registry, self.in_use, self.kept, process, refresh_s=REFRESH_S, forget_s=FORGET_S
        )

    def put(
        self, image: str, found: ImageCommand | ImageUnreadableError, digest: str = "d"
    ) -> None:
        known = FoundImage(found, digest) if isinstance(found, ImageCommand) else found
        self.registry.images[parse_image(image)] = known

    @property
    def known(self) -> dict[str, ReadImage]:
        found = self.reading.snapshot()
        assert found is not None
        return {one.image: one for one in found[0].images}

    @property
    def digests(self) -> Mapping[str, str]:
        found = self.reading.snapshot()
        assert found is not None
        return found[0].digests

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(self.reading.run())
            await self.clock.until_sleeping()
            yield
            task.cancel()


def away(reason: Reason = "unreachable", retry_after_s: float = 0.0) -> ImageUnreadableError:
    return ImageUnreadableError(reason, f"it is {reason}", retry_after_s=retry_after_s)


async def test_images_in_use_are_read_before_anybody_is_answered() -> None:
    brain = Brain("a.b/web:1")
    brain.put("a.b/web:1", WEB)
    assert brain.reading.snapshot() is None
    async with brain.running():
        found = brain.reading.snapshot()
        assert found is not None
        read = ReadImage(image="a.b/web:1", entrypoint=("/web",), arguments=("serve",))
        assert found[0] == ImageSnapshot(True, (read,), {"a.b/web:1": "d"})
        assert brain.meter.value(names.IMAGES, state="read") == 1
        # What did not change has the same tag.
        brain.reading.ask(["a.b/web:1"])
        await brain.clock.advance(CHECK_S)
        assert brain.reading.snapshot() == found


async def test_nobody_is_answered_while_pods_are_not_known_but_not_for_ever() -> None:
    brain = Brain()
    brain.in_use.images = None
    async with brain.running():
        await brain.clock.advance(STARTING_S - CHECK_S)
        assert brain.reading.snapshot() is None
        await brain.clock.advance(2 * CHECK_S)
        assert brain.known == {}


async def test_what_admission_asks_for_is_read_within_a_check() -> None:
    brain = Brain()
    brain.put("a.b/new:1", NEXT)
    async with brain.running():
        assert brain.known == {}
        brain.reading.ask(["a.b/new:1", "a.b/none:1", "A B"])
        assert brain.known == {}  # Not yet read is not known to have a problem.
        await brain.clock.advance(CHECK_S)
        assert brain.known["a.b/new:1"].entrypoint == ("/next",)
        assert brain.known["a.b/none:1"].problem == "a.b does not have it"
        assert brain.known["A B"].problem == "this is not the name of an image"
        assert brain.meter.value(names.IMAGE_READS, result="missing") == 1
        assert brain.meter.value(names.IMAGE_READS, result="name") == 1


async def test_a_tag_is_looked_at_again_and_read_only_when_it_has_moved() -> None:
    brain = Brain("a.b/web:1", f"a.b/web@{DIGEST}")
    brain.put("a.b/web:1", WEB)
    brain.put(f"a.b/web@{DIGEST}", WEB, DIGEST)
    async with brain.running():
        assert len(brain.registry.reads) == 2
        await brain.clock.advance(REFRESH_S + CHECK_S)
        # A digest cannot move, so nobody is asked for it.
        assert (len(brain.registry.reads), len(brain.registry.looks)) == (2, 1)
        assert brain.meter.value(names.IMAGE_READS, result="unchanged") == 2
        brain.put("a.b/web:1", NEXT, "e")
        await brain.clock.advance(REFRESH_S + CHECK_S)
        assert len(brain.registry.reads) == 3
        assert brain.known["a.b/web:1"].entrypoint == ("/next",)


async def test_what_was_read_stays_known_while_its_registry_is_away() -> None:
    brain = Brain("a.b/web:1")
    brain.put("a.b/web:1", WEB)
    async with brain.running():
        before = brain.known
        brain.put("a.b/web:1", away())
        await brain.clock.advance(REFRESH_S + CHECK_S)
        assert brain.meter.value(names.IMAGE_READS, result="unreachable") >= 1
        assert brain.known == before


@pytest.mark.parametrize("reason", ["unreachable", "timeout", "busy"])
async def test_a_registry_that_is_away_is_left_alone_with_all_of_its_images(reason: Reason) -> None:
    brain = Brain("a.b/one:1")
    brain.put("a.b/one:1", away(reason))
    brain.put("a.b/two:1", WEB)
    brain.put("c.d/three:1", WEB)
    async with brain.running():
        brain.reading.ask(["a.b/two:1", "c.d/three:1"])
        await brain.clock.advance(CHECK_S)
        assert brain.known["a.b/two:1"].problem == f"it is {reason}"
        assert brain.known["c.d/three:1"].entrypoint == ("/web",)
        assert [each.repository for each in brain.registry.reads] == ["one", "three"]
        await brain.clock.advance(10)
        assert brain.known["a.b/two:1"].entrypoint == ("/web",)


async def test_a_registry_says_for_how_long_it_is_to_be_left_alone() -> None:
    brain = Brain("a.b/one:1")
    brain.put("a.b/one:1", away("busy", retry_after_s=200.0))
    async with brain.running():
        await brain.clock.advance(199)
        assert len(brain.registry.reads) == 1
        brain.put("a.b/one:1", WEB)
        await brain.clock.advance(3)
        assert brain.known["a.b/one:1"].problem == ""


async def test_an_image_that_is_refused_is_asked_for_ever_more_seldom() -> None:
    brain = Brain("a.b/none:1")
    async with brain.running():
        await brain.clock.advance(3_600)
        assert 8 <= len(brain.registry.reads) <= 20


async def test_what_nobody_wants_any_more_is_forgotten() -> None:
    brain = Brain("a.b/web:1")
    brain.put("a.b/web:1", WEB)
    async with brain.running():
        brain.in_use.images = ()
        await brain.clock.advance(FORGET_S - GATHER_S)
        assert brain.known
        await brain.clock.advance(3 * GATHER_S)
        assert brain.known == {}


async def test_questions_have_a_bound() -> None:
    brain = Brain()
    brain.reading.ask(f"a.b/web:{number}" for number in range(MOST_IMAGES + 3))
    brain.reading.ask(["x" * (LONGEST_IMAGE_NAME + 1)])
    assert brain.meter.value(names.IMAGE_QUESTIONS_DROPPED) == 4


async def test_what_nobody_uses_makes_room_and_what_is_in_use_does_not() -> None:
    brain = Brain("a.b/web:1")
    brain.put("a.b/web:1", WEB)
    async with brain.running():
        brain.reading.ask(f"a.b/none:{number}" for number in range(MOST_IMAGES + 10))
        assert brain.meter.value(names.IMAGE_QUESTIONS_DROPPED) == 11
        await brain.clock.advance(CHECK_S)
        found = brain.reading.snapshot()
        assert found is not None
        assert found[0].full
        for _ in range(int(REPLACED_S / GATHER_S)):
            await brain.clock.advance(GATHER_S + CHECK_S)
        after = brain.reading.snapshot()
        assert after is not None
        assert not after[0].full
        assert after[1] != found[1]
        brain.put("a.b/new:1", NEXT)
        brain.reading.ask(["a.b/new:1"])
        await brain.clock.advance(CHECK_S)
        assert brain.known["a.b/new:1"].entrypoint == ("/next",)
        assert brain.known["a.b/web:1"].entrypoint == ("/web",)
        counts = [brain.meter.value(names.IMAGES, state=state) for state in ("read", "unread")]
        assert (counts[0], sum(counts)) == (2, MOST_IMAGES)


async def test_an_image_may_be_replaced_while_it_is_read() -> None:
    brain = Brain()
    async with brain.running():
        brain.reading.ask(["a.b/none:1"])
        brain.registry.may_answer.clear()
        await brain.clock.advance(CHECK_S)
        await brain.clock.advance(REPLACED_S)
        brain.reading.ask(f"a.b/new:{number}" for number in range(MOST_IMAGES))
        brain.registry.may_answer.set()
        await brain.clock.until_sleeping()
        assert "a.b/none:1" not in brain.known


async def test_the_commands_of_all_images_have_a_bound_together() -> None:
    brain = Brain("a.b/one:1", "a.b/two:1")
    long = ImageCommand(("x" * (MOST_CHARACTERS // 2 + 1),), ())
    brain.put("a.b/one:1", long)
    brain.put("a.b/two:1", long)
    async with brain.running():
        known = sorted(one.problem for one in brain.known.values())
        assert known == ["", "the commands of all images are too long together"]
        assert brain.meter.value(names.IMAGE_READS, result="too_large") == 1


async def test_the_digest_of_a_tag_is_kept_and_follows_it() -> None:
    brain = Brain("a.b/web:1", f"a.b/web@{DIGEST}")
    brain.put("a.b/web:1", WEB, "d1")
    brain.put(f"a.b/web@{DIGEST}", WEB, DIGEST)
    async with brain.running():
        assert brain.digests == {"a.b/web:1": "d1"}
        brain.put("a.b/web:1", WEB, "d2")
        await brain.clock.advance(REFRESH_S + CHECK_S)
        assert brain.digests == {"a.b/web:1": "d2"}
        assert brain.kept.kept["a.b/web:1"] == "d2"
        # Its command is known, but not that of what the tag names from now on.
        brain.put("a.b/web:1", ImageUnreadableError("differs", "it differs", digest="d3"))
        await brain.clock.advance(REFRESH_S + CHECK_S)
        assert brain.digests == {"a.b/web:1": "d3"}
        brain.put("a.b/web:1", WEB, "d2")
        await brain.clock.advance(600)
        assert brain.digests == {"a.b/web:1": "d2"}
        brain.put("a.b/web:1", away())
        await brain.clock.advance(REFRESH_S + CHECK_S)
        assert brain.digests == {"a.b/web:1": "d2"}


async def test_a_digest_outlives_the_brain_and_its_registry_is_not_asked_at_once() -> None:
    brain = Brain()
    brain.kept.kept = {"a.b/web:1": "d1"}
    brain.put("a.b/web:1", away())
    await brain.reading.restore()
    async with brain.running():
        assert (brain.digests, brain.known, brain.registry.reads) == ({"a.b/web:1": "d1"}, {}, [])
        # Somebody wants to know what it starts.
        brain.reading.ask(["a.b/web:1"])
        await brain.clock.advance(CHECK_S)
        assert brain.known["a.b/web:1"].problem == "it is unreachable"
        assert brain.digests == {"a.b/web:1": "d1"}
        await brain.clock.advance(FORGET_S + 2 * GATHER_S)
        assert brain.digests == brain.kept.kept == {}


async def test_a_database_that_is_away_is_written_later() -> None:
    brain = Brain("a.b/web:1")
    brain.put("a.b/web:1", WEB, "d1")
    brain.kept.is_away = True
    async with brain.running():
        assert (brain.digests, brain.kept.kept) == ({"a.b/web:1": "d1"}, {})
        brain.kept.is_away = False
        await brain.clock.advance(CHECK_S)
        assert brain.kept.kept == {"a.b/web:1": "d1"}
