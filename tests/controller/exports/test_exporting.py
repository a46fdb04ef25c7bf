"""Files of each hour, with a bucket in memory that fails now and then."""

from dataclasses import dataclass, field

import pytest
from nemutator_common import names
from nemutator_controller.exports.exporting import MOST_HOURS, SETTLES_S, Exporting
from nemutator_controller.exports.keys import HOUR_S, file_key, position, position_key

from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.objects import MemoryObjects
from tests.fakes.process import fake_process

HOUR = 472_222
"""Hours since the epoch."""


@dataclass
class Source:
    """An `ExportSource` that says which hour it was asked for."""

    of_the_past: bool = True
    name: str = "usage"
    ending: str = "csv.gz"
    ready: bool = True
    empty: bool = False
    asked: list[int] = field(default_factory=list)

    async def content(self, begin: float, end: float) -> bytes | None:
        assert end - begin == HOUR_S
        self.asked.append(int(begin // HOUR_S))
        if self.empty:
            return b""
        return b"%d" % (begin // HOUR_S) if self.ready else None


@dataclass
class Tried:
    source: Source = field(default_factory=Source)
    days: int = 2
    objects: MemoryObjects = field(default_factory=MemoryObjects)
    meter: MemoryMeter = field(default_factory=MemoryMeter)

    async def at(self, hour: int, minute: float = 30) -> list[str]:
        """The files that are there once everything due at that time was tried."""
        clock = ManualClock(hour * HOUR_S + 60 * minute)
        process = fake_process(clock=clock, meter=self.meter)
        await Exporting([self.source], self.objects, "east", self.days, process).export()
        return sorted(key for key in self.objects.kept if not key.endswith("position.json"))

    def counted(self, result: str) -> float:
        return self.meter.value(names.EXPORT_FILES, export=self.source.name, result=result)

    def reached(self) -> int:
        found = position(self.objects.kept[position_key("east", self.source.name)])
        assert found is not None
        return found.hour


def key(hour: int) -> str:
    return file_key("east", "usage", "csv.gz", hour)


async def test_the_last_whole_hour_is_written_once() -> None:
    tried = Tried()
    assert await tried.at(HOUR) == [key(HOUR - 1)]
    assert tried.objects.kept[key(HOUR - 1)] == b"%d" % (HOUR - 1)
    assert await tried.at(HOUR, 45) == [key(HOUR - 1)]
    assert await tried.at(HOUR + 1, SETTLES_S / 60 - 1) == [key(HOUR - 1)]
    assert tried.source.asked == [HOUR - 1]
    assert await tried.at(HOUR + 1, SETTLES_S / 60) == [key(HOUR - 1), key(HOUR)]
    assert tried.counted("written") == 2
    assert tried.meter.value(names.EXPORT_NEWEST, export="usage") == (HOUR + 1) * HOUR_S


async def test_hours_of_an_absence_are_caught_up_as_far_as_they_are_known() -> None:
    tried = Tried(days=0)
    await tried.at(HOUR)
    files = await tried.at(HOUR + 5)
    assert files == [key(HOUR - 1 + n) for n in range(6)]
    await tried.at(HOUR + 5 + MOST_HOURS + 7)
    assert tried.counted("missed") == 7
    assert tried.counted("written") == 6 + MOST_HOURS


@pytest.mark.parametrize("days", [0, 2])
async def test_an_absence_of_years_takes_no_more_requests_than_there_are_files(days: int) -> None:
    class Counted(MemoryObjects):
        asked = 0

        def _work(self) -> None:
            self.asked += 1
            super()._work()

    tried = Tried(days=days, objects=(objects := Counted()))
    # As by a clock that began in 1970, before it was set.
    [first] = await tried.at(24)
    files = await tried.at(HOUR)
    written = [key(HOUR - 1 - n) for n in reversed(range(MOST_HOURS))]
    assert files == (written if days else [first, *written])
    assert (tried.counted("missed"), tried.reached()) == (HOUR - 24 - MOST_HOURS, HOUR - 1)
    assert objects.asked < 4 * (24 * days + MOST_HOURS + 2)


async def test_what_is_known_of_now_alone_is_not_written_for_hours_before() -> None:
    tried = Tried(Source(of_the_past=False))
    await tried.at(HOUR)
    assert await tried.at(HOUR + 3) == [key(HOUR - 1), key(HOUR + 2)]
    assert tried.counted("missed") == 2


async def test_an_hour_that_is_not_complete_is_asked_for_again() -> None:
    tried = Tried(Source(ready=False))
    assert await tried.at(HOUR) == []
    tried.source.ready = True
    assert await tried.at(HOUR, 40) == [key(HOUR - 1)]


async def test_an_hour_of_which_nothing_is_known_has_no_file() -> None:
    tried = Tried(Source(empty=True))
    assert await tried.at(HOUR) == []
    assert (tried.reached(), tried.counted("empty")) == (HOUR - 1, 1)


async def test_files_that_are_old_enough_are_removed() -> None:
    tried = Tried(days=1)
    files = [await tried.at(hour) for hour in range(HOUR, HOUR + 30)][-1]
    assert files == sorted(key(hour) for hour in range(HOUR + 5, HOUR + 29))


async def test_what_the_bucket_does_not_take_is_counted_and_tried_again() -> None:
    tried = Tried()
    tried.objects.fails = "full"
    assert await tried.at(HOUR) == []
    assert tried.counted("full") == 1
    tried.objects.fails = None
    assert await tried.at(HOUR, 40) == [key(HOUR - 1)]


@pytest.mark.parametrize("content", [b"?", b'{"hour": 99999999}', b'{"hour": -999999999999}'])
async def test_a_position_that_cannot_be_begins_anew(content: bytes) -> None:
    tried = Tried()
    tried.objects.kept[position_key("east", "usage")] = content
    assert await tried.at(HOUR) == [key(HOUR - 1)]


async def test_one_source_does_not_keep_others_from_theirs() -> None:
    class Broken(MemoryObjects):
        async def get(self, key: str) -> bytes | None:
            self.fails = "denied" if "/advice/" in key else None
            return await super().get(key)

    objects, sources = Broken(), [Source(name="advice"), Source()]
    process = fake_process(clock=ManualClock(HOUR * HOUR_S + 1_800))
    await Exporting(sources, objects, "east", 2, process).export()
    assert key(HOUR - 1) in objects.kept
    assert not [one for one in objects.kept if "/advice/" in one]
