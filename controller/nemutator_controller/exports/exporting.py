"""Writes a file of each source for each hour, catches up after an outage, and removes files that are old enough."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.exports.keys import (
    HOUR_S,
    ExportPosition,
    file_key,
    position,
    position_key,
)
from nemutator_controller.exports.ports import ExportSource
from nemutator_controller.objects.ports import ObjectStore

log = logging.getLogger(__name__)

EVERY_S = 60.0

SETTLES_S = 300.0
"""After an hour until it is written: what was decided in its last seconds is still on its way."""

MOST_HOURS = 24
"""That are caught up: history has five minutes of one day."""


@dataclass(frozen=True, slots=True)
class Exporting:
    """`run` is a task for a Supervisor."""

    sources: Sequence[ExportSource]
    objects: ObjectStore
    cluster: str
    kept_days: int
    """0: files stay."""
    process: Process

    async def run(self) -> None:
        while True:
            await self.export()
            await self.process.clock.sleep(EVERY_S)

    async def export(self) -> None:
        """Write what is due of each source. What one cannot write does not keep the others from it."""
        for source in self.sources:
            try:
                await self._export(source)
            except StoreUnavailableError as failure:
                self._count(source, failure.reason)
                told = {names.OBJECT: source.name, names.REASON: failure.reason}
                log.warning("export_not_written", told)

    async def _export(self, source: ExportSource) -> None:
        newest = int((self.process.clock.now() - SETTLES_S) // HOUR_S) - 1
        place = position_key(self.cluster, source.name)
        reached = position(await self.objects.get(place))
        # Of a position in the future the clock that wrote it was wrong.
        last = newest - 1 if reached is None or reached.hour > newest else reached.hour
        unknown = newest - MOST_HOURS
        # Behind it there is no file left to be removed: an absence may be long, and a clock may have been in 1970.
        removed = last + 24 * self.kept_days
        while last < newest:
            hour = last + 1
            if removed < hour < unknown:
                self._count(source, "missed", unknown - hour)
                hour = unknown
            if hour <= unknown or (hour < newest and not source.of_the_past):
                # Nobody can say any more what was then.
                self._count(source, "missed")
            else:
                content = await source.content(hour * HOUR_S, (hour + 1) * HOUR_S)
                if content is None:
                    return
                await self._write(source, hour, content)
            if self.kept_days:
                old = hour - 24 * self.kept_days
                await self.objects.remove(file_key(self.cluster, source.name, source.ending, old))
            last = hour
            await self.objects.put(place, msgspec.json.encode(ExportPosition(hour)))

    async def _write(self, source: ExportSource, hour: int, content: bytes) -> None:
        if not content:
            self._count(source, "empty")
            return
        key = file_key(self.cluster, source.name, source.ending, hour)
        await self.objects.put(key, content)
        self._count(source, "written")
        meter = self.process.meter
        meter.count(names.EXPORT_BYTES, len(content), export=source.name)
        meter.gauge(names.EXPORT_NEWEST, (hour + 1) * HOUR_S, export=source.name)

    def _count(self, source: ExportSource, result: str, files: int = 1) -> None:
        self.process.meter.count(names.EXPORT_FILES, files, export=source.name, result=result)
