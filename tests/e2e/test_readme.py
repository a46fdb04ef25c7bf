"""The README's first command, as a newcomer types it: in a clone, by whoever they are.

The other one, `make test`, is what `.ci/run` runs in a clone of its own: not run twice here.
"""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.house.tree import REPOSITORY

START_S = 400.0
"""The first start installs everything: under a minute on a quiet machine, for one of them."""

NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


@dataclass(frozen=True, slots=True)
class Started:
    """`make run`, typed a moment ago."""

    process: "subprocess.Popen[bytes]"
    log: Path


@pytest.fixture(scope="module")
def started() -> Iterator[dict[str, Started]]:
    """Once by whoever runs the tests, and once by an ordinary user: both wait for the network."""
    users = ["as I am"] if os.geteuid() != 0 else ["as I am", "ordinary"]
    with contextlib.ExitStack() as ending:
        yield {user: ending.enter_context(_make_run(ordinary=user == "ordinary")) for user in users}


@pytest.mark.timeout(900)
@pytest.mark.parametrize("user", ["as I am", "ordinary"])
def test_make_run_in_a_clone_shows_the_page(started: dict[str, Started], user: str) -> None:
    if user not in started:
        pytest.skip("already an ordinary user: the other case is this one")
    url = _printed_link(started[user])
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    with browser.open(url, timeout=60) as page:
        assert b"app.js" in page.read()


@contextlib.contextmanager
def _make_run(*, ordinary: bool) -> Iterator[Started]:
    """Until Ctrl-C, in a directory that everybody may enter: pytest's own are for their owner."""
    with tempfile.TemporaryDirectory(prefix="nemutator-readme-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        clone, home = _clone(folder, ordinary=ordinary)
        log = home / "log"
        with log.open("w") as output:
            process = subprocess.Popen(
                [
                    *(NOBODY if ordinary else []),
                    *("make", "run", f"ARGS=--data-dir {home}/data --console 127.0.0.1:0"),
                ],
                cwd=clone,
                env={**os.environ, "HOME": str(home)},
                stdout=output,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        try:
            yield Started(process, log)
        finally:
            os.killpg(process.pid, signal.SIGINT)
            process.wait(timeout=60)


def _clone(root: Path, *, ordinary: bool) -> tuple[Path, Path]:
    clone, home = root / "clone", root / "home"
    subprocess.run(["git", "clone", "-q", str(REPOSITORY), str(clone)], check=True)
    home.mkdir()
    if ordinary:
        for path in (clone, home, *clone.rglob("*")):
            shutil.chown(path, 65534, 65534)
    return clone, home


def _printed_link(started: Started) -> str:
    log, process = started.log, started.process
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        if match := re.search(r"http://127\.0\.0\.1:\d+/open\?key=\S+", log.read_text()):
            return match[0]
        try:
            process.wait(timeout=0.1)
        except subprocess.TimeoutExpired:
            continue
        break
    raise AssertionError(f"no link was printed:\n{log.read_text()}")
