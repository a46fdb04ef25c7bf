import pytest
from nemutator_agent.inspection.failures import HiddenFileError
from nemutator_agent.profiler.raw import SeenProgram
from nemutator_agent.profiler.symbols import keeping
from nemutator_agent.profiler.symbols.keeping import KeptPrograms
from nemutator_agent.profiler.symbols.mappings import Mapping

from tests.fakes.symbols import FakeFiles

APP = Mapping(0x1000, 0x2000, 0, 7, "/app", "fd:01")
LIBRARY = Mapping(0x8000, 0x9000, 0, 8, "/lib", "fd:01")


@pytest.fixture
def files() -> FakeFiles:
    files = FakeFiles()
    files.contents = {7: b"app", 8: b"library"}
    files.processes[1] = [APP, LIBRARY, Mapping(0xA000, 0xB000, 0, 0, "")]
    return files


def program(pid: int, *, inode: int = 7, device: int = 1, code: int = 0x1100) -> SeenProgram:
    return SeenProgram((pid, 0), inode, device, code)


async def test_each_file_is_opened_once_and_closed_in_the_end(files: FakeFiles) -> None:
    kept = KeptPrograms(files)
    files.processes[2] = [APP]
    assert await kept.keep(program(1)) is not None
    assert await kept.keep(program(2)) is not None
    assert files.open_files == 2
    assert kept.file(APP) is not None
    kept.forget()
    assert files.open_files == 0
    assert kept.file(APP) is None
    assert kept.mappings((1, 0)) is None


async def test_mappings_without_a_file_that_is_kept_are_left_out(files: FakeFiles) -> None:
    kept = KeptPrograms(files)
    await kept.keep(program(1))
    assert list(kept.mappings((1, 0)) or ()) == [APP, LIBRARY]


async def test_of_another_process_only_the_executable_is_taken(files: FakeFiles) -> None:
    kept = KeptPrograms(files)
    await kept.keep(program(1))
    assert await kept.keep(program(9, code=0x5100)) is None
    mappings = kept.mappings((9, 0))
    assert mappings is not None
    (moved,) = mappings
    assert (moved.start, moved.end, moved.offset, moved.inode) == (0x5000, 0x6000, 0, 7)


@pytest.mark.parametrize("other", [program(9, inode=8), program(9, device=2), program(9, inode=0)])
async def test_another_executable_is_no_example(files: FakeFiles, other: SeenProgram) -> None:
    kept = KeptPrograms(files)
    await kept.keep(program(1))
    await kept.keep(other)
    assert kept.mappings((9, 0)) is None


async def test_a_file_of_another_device_is_another_file(files: FakeFiles) -> None:
    kept = KeptPrograms(files)
    await kept.keep(program(1))
    assert kept.file(Mapping(0x1000, 0x2000, 0, 7, "/app", "fd:02")) is None


async def test_what_may_not_be_opened_is_not_kept(files: FakeFiles) -> None:
    files.refused[7] = HiddenFileError()
    kept = KeptPrograms(files)
    assert await kept.keep(program(1)) is None
    assert kept.mappings((1, 0)) is None


async def test_another_program_of_the_same_number_is_not_taken_for_it(files: FakeFiles) -> None:
    files.images[1] = 0x7FF0
    kept = KeptPrograms(files)
    assert await kept.keep(SeenProgram((1, 0x7FF8), 7, 1, 0x1100)) is None
    assert files.open_files == 0


async def test_files_and_programs_are_bounded(files: FakeFiles) -> None:
    for inode in range(10, 20 + keeping.MOST_FILES):
        files.contents[inode] = b""
        files.processes[inode] = [Mapping(0x1000, 0x2000, 0, inode, f"/{inode}")]
    kept = KeptPrograms(files)
    for number in range(keeping.MOST_PROGRAMS + 5):
        await kept.keep(program(10 + number, inode=10 + number))
    assert files.open_files == keeping.MOST_FILES
    kept.forget()
    assert files.open_files == 0
