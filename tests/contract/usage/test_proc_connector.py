"""The connector of the real kernel, which tells root of the machine's own namespaces alone."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest
from nemutator_agent.usage.cached_files import CachedFiles, read_once
from nemutator_agent.usage.proc_connector import ProcessEvents, is_expected
from nemutator_agent.usage.procfs import ProcfsReader

pytestmark = pytest.mark.e2e

SHORT_LIVED = 20


@pytest.fixture
def events() -> Iterator[ProcessEvents]:
    heard = ProcessEvents()
    yield heard
    heard.close()


def test_each_process_is_told_however_short_it_lived(events: ProcessEvents) -> None:
    assert events.is_heard
    assert is_expected()
    pids = set()
    for _ in range(SHORT_LIVED):
        with subprocess.Popen(["true"]) as one:
            pids.add(one.pid)
    threads = [threading.Thread(target=lambda: None) for _ in range(SHORT_LIVED)]
    for thread in threads:
        thread.start()
        thread.join()
    taken = events.taken()
    assert taken is not None
    assert pids <= {one.child for one in taken}
    idents = {thread.native_id for thread in threads}
    assert not idents & {one.child for one in taken}, "threads are no processes"


def test_more_events_than_fit_are_not_known_and_then_it_goes_on(events: ProcessEvents) -> None:
    burst = "import os\nfor _ in range(12_000):\n    pid = os.fork()\n    if not pid: os._exit(0)\n    os.waitpid(pid, 0)"
    subprocess.run([sys.executable, "-c", burst], check=True, timeout=250)
    assert events.taken() is None
    with subprocess.Popen(["true"]) as one:
        pid = one.pid
    taken = events.taken()
    assert taken is not None
    assert pid in {each.child for each in taken}


def test_short_lived_processes_are_counted_by_their_group() -> None:
    reader = ProcfsReader(
        CachedFiles(most=4000), most_processes=4000, most_groups=900, process_events=True
    )
    own = read_once("/proc/self/cgroup") or b""
    first = reader.snapshot(at=0.0, monotonic=0.0)
    path = next(one.path for who, one in first.processes.items() if who.pid == os.getpid())
    if path not in first.activities:
        pytest.skip(f"these tests run in no group that is told of: {own.decode()}")
    for _ in range(SHORT_LIVED):
        subprocess.run(["true"], check=True)
    # In one of two, because the second has its turn after as long as the first.
    rates = [
        reader.snapshot(at=at, monotonic=at).activities[path].processes_started
        for at in (15.0, 30.0)
    ]
    reader.close()
    print(rates)
    assert max(rate for rate in rates if rate is not None) >= SHORT_LIVED / 30
