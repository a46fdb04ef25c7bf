"""Names out of debug files, where the program itself has none."""

import struct

from nemutator_agent.inspection.failures import WorkerFailedError

from tests.agent.profiler.symbols.symbol_world import World, app, row
from tests.agent.profiler.symbols.test_build_ids import note
from tests.fakes.elf_files import ADDRESS as ELF_ADDRESS
from tests.fakes.elf_files import Forge
from tests.fakes.go_programs import TEXT


def stripped(*, build_id: bytes) -> bytes:
    """A program of C whose symbols are in another file."""
    contents = [
        (b".text", bytes(0x1800)),
        (b".note.gnu.build-id", note(b"GNU\0", 3, build_id)),
        (b".gnu_debuglink", b"shop.debug\0\0"),
    ]
    return Forge(contents=contents, flags=5).build()


def symbols(*, build_id: bytes) -> bytes:
    symbol = struct.pack("<IBBHQQ", 1, 2, 0, 1, ELF_ADDRESS + TEXT, 0x100)
    contents = [
        (b".symtab", symbol),
        (b".strtab", b"\0shop_work\0"),
        (b".note.gnu.build-id", note(b"GNU\0", 3, build_id)),
    ]
    return Forge(contents=contents).build()


async def test_what_a_debug_file_of_the_same_build_names_has_that_name(world: World) -> None:
    pid = world.add(20, stripped(build_id=b"\xab" * 8))
    world.files.contents[21] = symbols(build_id=b"\xab" * 8)
    world.files.paths["/usr/lib/debug/srv/shop.debug"] = 21
    assert (await world.folded(row(app(1), pid=pid)))[0] == ["shop_work 1"]
    assert world.files.looked_for == [
        (
            f"/usr/lib/debug/.build-id/ab/{'ab' * 7}.debug",
            "/srv/shop.debug",
            "/srv/.debug/shop.debug",
            "/usr/lib/debug/srv/shop.debug",
        )
    ]
    asked = len(world.worker.asked)
    assert (await world.folded(row(app(1), pid=pid)))[0] == ["shop_work 1"]
    assert len(world.worker.asked) == asked


async def test_a_debug_file_of_another_build_names_nothing(world: World) -> None:
    pid = world.add(20, stripped(build_id=b"\xab" * 8))
    world.files.contents[21] = symbols(build_id=b"\xcd" * 8)
    world.files.paths["/srv/shop.debug"] = 21
    assert (await world.folded(row(app(1), pid=pid)))[0] == ["[unknown_in_20] 1"]


async def test_a_debug_file_that_makes_the_worker_fail_costs_only_its_names(world: World) -> None:
    pid = world.add(20, stripped(build_id=b"\xab" * 8))
    world.files.contents[21] = b""
    world.files.paths["/srv/shop.debug"] = 21
    world.worker.failing[21] = WorkerFailedError("died")
    lines, notes = await world.folded(row(app(1), pid=pid), row(app(1)))
    assert lines == ["[unknown_in_20] 1", "main.main 1"]
    assert any(one.startswith("reading 20 failed") for one in notes)
