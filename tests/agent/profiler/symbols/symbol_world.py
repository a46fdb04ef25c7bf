"""Processes with files, and a worker that reads them, in memory."""

from nemutator_agent.profiler.raw import RawProfile, RawRow
from nemutator_agent.profiler.symbols.mappings import Mapping
from nemutator_agent.profiler.symbols.symbolising import WorkerSymboliser
from nemutator_common.profiles import folded, pprof

from tests.agent.profiler.symbols.test_kallsyms import LINES
from tests.fakes.clocks import ManualClock
from tests.fakes.go_programs import TEXT, GoProgram
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.fakes.symbols import FakeFiles, LocalWorker

BIAS = 0x5500_0000_0000
APP = Mapping(BIAS + TEXT, BIAS + 0x2000, TEXT, 7, "/srv/app")
VDSO = Mapping(0x7000, 0x8000, 0, 0, "[vdso]")
JIT = Mapping(0x9000, 0xA000, 0, 0, "")


class World:
    def __init__(self) -> None:
        self.files = FakeFiles()
        self.files.contents[7] = GoProgram().build()
        self.files.processes[1] = [APP, VDSO, JIT]
        self.files.kernel = LINES
        self.worker = LocalWorker(self.files)
        self.meter = MemoryMeter()
        self.clock = ManualClock()
        self.symbolising = WorkerSymboliser(
            self.files, self.worker, fake_process(meter=self.meter, clock=self.clock)
        )

    def add(self, inode: int, content: bytes) -> int:
        """A process whose program this is; its number."""
        pid = 100 + inode
        self.files.contents[inode] = content
        place = Mapping(BIAS + TEXT, BIAS + 0x2000, TEXT, inode, f"/srv/{inode}")
        self.files.processes[pid] = [place]
        return pid

    async def folded(self, *rows: RawRow) -> tuple[list[str], tuple[str, ...]]:
        content, notes = await self.symbolising.symbolise(profile(*rows))
        assert self.files.open_files == 0
        return folded.render(pprof.decode(content)).splitlines(), notes


def profile(*rows: RawRow) -> RawProfile:
    return RawProfile(99, 0.0, 1.0, rows, sum(row.count for row in rows), {}, None)


def row(
    *user: int,
    pid: int = 1,
    words: tuple[int, int] = (0, 0),
    kernel: tuple[int, ...] = (),
    image: int = 0,
    count: int = 1,
) -> RawRow:
    return RawRow(pid, user, kernel, words, count, image)


def app(place: int) -> int:
    return BIAS + TEXT + place
