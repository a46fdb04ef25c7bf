"""From a real control group to advice: a real agent looks, a real brain learns."""

import contextlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.standing import Person, Standing, standing
from tests.testbed.running.waiting import until

QUICK = Person(environment={
    "NEMUTATOR_OBSERVE_INTERVAL_S": "0.5",
    "NEMUTATOR_OBSERVE_SUMMARY_S": "1",
})  # fmt: skip

NAME = f"nemutator-advice-{os.getpid()}"

BUSY = "import time\nkept = bytearray(150_000_000)\nwhile True: sum(range(9999)); time.sleep(0.001)"


def hierarchies() -> list[Path]:
    """Where CPU time and memory are counted: one place with version 2, two with version 1."""
    root = Path("/sys/fs/cgroup")
    one = [root] if (root / "cgroup.controllers").exists() else []
    return one or [root / "cpuacct", root / "memory"]


@contextlib.contextmanager
def busy_group() -> Iterator[int]:
    """A process in a group of its own, which uses a part of a core, and 150 MB; its pid."""
    groups = [place / NAME for place in hierarchies()]
    with contextlib.ExitStack() as stack:
        for group in groups:
            group.mkdir()
            stack.callback(_remove, group)
        # `sh` joins before it becomes the program: nothing is charged elsewhere.
        joins = "".join(f"echo $$ > {group}/cgroup.procs; " for group in groups)
        process = subprocess.Popen(
            ["sh", "-ec", f'{joins} exec "$0" -c "$1"', sys.executable, BUSY]
        )
        stack.callback(process.wait)
        stack.callback(process.kill)
        yield process.pid


def _remove(group: Path) -> None:
    def removed() -> bool:
        # The kernel lets go of a group a moment after its last process.
        with contextlib.suppress(OSError):
            group.rmdir()
        return not group.exists()

    until(removed, f"{group} is removed", within_s=60)


def advice(up: Standing) -> list[dict[str, Any]]:
    """Of our group only."""
    answer = up.api("/api/v1/advice")
    assert answer.status == 200, answer.text
    return [item for item in answer.document["items"] if item["owner"] == NAME]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make control groups")
def test_what_runs_here_gets_a_reason_first_and_a_provisional_value_then(tmp_path: Path) -> None:
    # The group comes to what stands already: a slow start would have summaries of it to tell at once.
    with standing(tmp_path, "--privileges", "never", person=QUICK) as up, busy_group() as pid:
        began = time.monotonic()
        up.wait_until(lambda: advice(up), "a first summary", within_s=60)
        [first] = advice(up)
        took_s = time.monotonic() - began
        print(f"after {took_s:.1f} s: {NAME} (pid {pid}): {first['state']}: {first['reason']}")
        assert first["points"] < 8
        assert (first["state"], first["requests"]["cpu"]) == ("not_yet", None)
        assert "points, ask again in" in first["reason"]
        up.wait_until(
            lambda: advice(up)[0]["state"] == "provisional", "provisional advice", within_s=60
        )
        [found] = advice(up)
        print(json.dumps(found, indent=2))
        assert 8 <= found["points"] < 100
        # A fifth of a core, and less where the machine is very busy.
        assert 20 <= int(found["requests"]["cpu"].removesuffix("m")) <= 1200
        # Four times its peak, because a minute is no day; that is why there is no limit.
        assert 600 <= int(found["requests"]["memory"].removesuffix("M")) <= 1_400
        assert found["limits"] == {"cpu": None, "memory": None}
        shown = up.run("advise", "-n", NAME)
        assert shown.code == 0, shown.stderr
        print(shown.stdout)
        assert re.search(rf"{NAME}.*provisional: \d+ of 100", shown.stdout)
