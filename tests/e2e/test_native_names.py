"""Names of living programs that are not Go: each is what another tool, or the program itself, says."""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from nemutator_agent.app.workers import symbol_worker
from nemutator_agent.inspection.confined_worker import ConfinedWorker
from nemutator_agent.profiler.symbols.mappings import Mapping
from nemutator_agent.profiler.symbols.proc_maps import ProcMaps
from nemutator_agent.profiler.symbols.symbolising import WorkerSymboliser
from nemutator_agent.profiler.symbols.wanted import TaskAddresses
from nemutator_common.profiles.model import Frame
from playwright._impl._driver import compute_driver_executable

from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.testbed.running.waiting import until

pytestmark = pytest.mark.e2e

CPP_PROGRAM = r"""
#include <functional>
#include <map>
#include <string>
#include <vector>
#include <unistd.h>
namespace shop {
template <typename T, int N> struct Shelf {
    std::vector<T> items;
    Shelf &operator<<(const T &item) { items.push_back(item); return *this; }
    ~Shelf() { items.clear(); }
};
static void each(const std::function<int(const std::string &)> &found) { found("x"); }
}
template <typename... Args> int count(Args &&...) { return sizeof...(Args); }
int main() {
    shop::Shelf<std::map<std::string, int>, 3> shelf;
    shelf << std::map<std::string, int>{{"a", count(1, 'b', "c")}};
    shop::each([&](const std::string &name) { return (int)(name.size() + shelf.items.size()); });
    for (;;) pause();
}
"""


def compiled(tmp_path: Path, compiler: str, source: str, *options: str) -> Path:
    tool = shutil.which(compiler)
    if tool is None:
        pytest.skip(f"no {compiler} on this machine: apt-get install {compiler}")
    (tmp_path / "source.cc").write_text(source)
    program = tmp_path / "program"
    subprocess.run([tool, *options, "-o", program, tmp_path / "source.cc"], check=True)
    return program


@contextmanager
def running(*command: str | Path) -> Iterator[int]:
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        try:
            yield process.pid
        finally:
            process.kill()


async def mapped(pid: int, path: Path) -> Mapping:
    """Where a living process has the code of its program."""

    def started() -> bool:
        return str(path) in Path(f"/proc/{pid}/maps").read_text()

    until(started, "the program", within_s=60)
    return next(one for one in await ProcMaps().mappings(pid) if one.path == str(path))


@contextmanager
def symbolising() -> Iterator[tuple[WorkerSymboliser, ConfinedWorker]]:
    worker = symbol_worker()
    try:
        yield WorkerSymboliser(ProcMaps(), worker, fake_process(meter=MemoryMeter())), worker
    finally:
        worker.stop()


async def named(pid: int, addresses: list[int]) -> dict[int, tuple[Frame, ...]]:
    with symbolising() as (symbols, worker):
        wanted = TaskAddresses((pid, 0), dict.fromkeys(addresses, 1), set())
        before = time.process_time()
        frames, notes = await symbols.named(wanted)
        spent = worker.cpu_s + time.process_time() - before
        print(f"{len(addresses)} addresses, {spent:.2f} s of CPU time, {notes}")
        return frames


def listed(program: Path, *, demangle: bool) -> dict[str, int]:
    """The places of functions, by their names as binutils show them."""
    options = ["--demangle"] if demangle else []
    said = subprocess.run(
        ["nm", "--print-size", *options, program], check=True, capture_output=True, text=True
    ).stdout
    found = re.findall(r"^([0-9a-f]+) [0-9a-f]+ [tTwW] (.+)$", said, re.MULTILINE)
    return {name: int(address, 16) for address, name in found}


async def test_functions_of_cpp_have_the_names_that_binutils_show(tmp_path: Path) -> None:
    program = compiled(tmp_path, "g++", CPP_PROGRAM, "-no-pie", "-O0")
    functions = listed(program, demangle=True)
    with running(program) as pid:
        await mapped(pid, program)
        frames = await named(pid, [*functions.values()])
    shown = {frames[address][0].function for address in functions.values()}
    assert shown == set(functions)
    assert len(shown) > 50
    assert any("{lambda(" in name for name in shown)


REPLACED = "int %s(void) { for (;;) pause(); }\nint main(void) { return %s(); }\n"


async def test_a_program_that_is_replaced_while_it_runs_keeps_its_names(tmp_path: Path) -> None:
    built: dict[str, tuple[Path, int]] = {}
    for name in ("before", "later_"):
        (tmp_path / name).mkdir()
        source = "#include <unistd.h>\n" + REPLACED % (name, name)
        program = compiled(tmp_path / name, "gcc", source, "-x", "c", "-no-pie", "-O0")
        built[name] = program, listed(program, demangle=False)[name]
    path = tmp_path / "shop"
    built["before"][0].rename(path)
    with symbolising() as (symbols, _), running(path) as older:
        await mapped(older, path)

        async def function(pid: int, address: int) -> str:
            frames, _ = await symbols.named(TaskAddresses((pid, 0), {address: 1}, set()))
            return frames[address][0].function

        place = built["before"][1]
        first = await function(older, place)
        # As a package manager does it: another file, in one step, at the same path.
        built["later_"][0].replace(path)
        with running(path) as younger:
            await mapped(younger, path)
            both = [await function(pid, place) for pid in (older, younger, older)]
        fresh = await named(older, [place])
    assert built["later_"][1] == place, "else this shows nothing"
    assert [first, *both] == ["before", "before", "later_", "before"]
    assert fresh[place][0].function == "before"


async def test_functions_of_the_vdso_have_names() -> None:
    with running(sys.executable, "-I", "-c", "input()") as pid:
        mappings = await ProcMaps().mappings(pid)
        vdso = next(one for one in mappings if one.named == "[vdso]")
        frames = await named(pid, list(range(vdso.start, vdso.end, 16)))
    found = {stack[0].function for stack in frames.values()}
    assert any(name.startswith(("__vdso_", "__kernel_")) for name in found), found


COMPILED = """
function burn(n) { let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) % 1000003; return s; }
let s = 0;
for (let i = 0; i < 300; i++) s += burn(100000);
require("fs").writeFileSync("/tmp/ready", String(s));
setInterval(() => {}, 1000);
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes mount namespaces")
async def test_functions_that_node_has_compiled_have_names() -> None:
    """In namespaces of its own, as in a container: another number, and another /tmp."""
    node = str(Path(compute_driver_executable()[0]))
    # Opened before, because it may lie in the /tmp that is hidden.
    shell = (
        f"exec 9<{node}; mount -t tmpfs none /tmp && cd /tmp &&"
        f" exec /proc/self/fd/9 --perf-basic-prof -e '{COMPILED}'"
    )
    unshare = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", shell]
    with running(*unshare) as outer:
        pid = child_of(outer)
        temporary = Path("/proc", str(pid), "root", "tmp")
        until(lambda: (temporary / "ready").exists(), "the names", within_s=120)
        lines = (temporary / "perf-1.map").read_text().splitlines()
        told = [line.split(" ", 2) for line in lines if "burn" in line]
        mappings = await ProcMaps().mappings(pid)
        burning = {int(start, 16) for start, _, _ in told if mappings.at(int(start, 16))}
        frames = await named(pid, sorted(burning))
    print(len(lines), "lines,", [stack[0].function for stack in frames.values()])
    assert burning
    assert all("burn" in frames[address][0].function for address in burning)


def child_of(pid: int) -> int:
    children = Path(f"/proc/{pid}/task/{pid}/children")
    until(lambda: children.read_text().strip() != "", "the process", within_s=60)
    return int(children.read_text().split()[0])


def strip(program: Path, debug: Path) -> None:
    """Have *debug* hold its symbols, and *program* its name."""
    debug.parent.mkdir()
    subprocess.run(["objcopy", "--only-keep-debug", program, debug], check=True)
    subprocess.run(["strip", program], check=True)
    subprocess.run(["objcopy", f"--add-gnu-debuglink={debug}", program], check=True)


async def test_functions_of_a_stripped_program_have_the_names_of_its_debug_file(
    tmp_path: Path,
) -> None:
    program = compiled(tmp_path, "g++", CPP_PROGRAM, "-no-pie", "-O0", "-Wl,--build-id")
    functions = listed(program, demangle=True)
    debug = tmp_path / ".debug" / "shop.debug"
    strip(program, debug)
    with running(program) as pid:
        await mapped(pid, program)
        frames = await named(pid, [*functions.values()])
        debug.rename(tmp_path / "elsewhere")
        without = await named(pid, [*functions.values()])
    assert {frames[address][0].function for address in functions.values()} == set(functions)
    assert without[functions["main"]][0].function == "[unknown in program]"
