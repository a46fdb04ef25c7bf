"""A real Chromium for the tests of the console's page, and somebody who is not root."""

import os
import shlex
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.e2e import without_netlink
from tests.e2e.browsing import PATIENCE_MS, Watch
from tests.e2e.ordinary import NOBODY, NoInterpreterError, make_environment
from tests.e2e.page_modules import Modules
from tests.e2e.standing import COMMAND, ME, Person
from tests.fakes.console_brain import ORIGIN, FakeBrain
from tests.fakes.console_inventory import know_workload

SHELL, BROWSER = Path("/usr/bin/chromium-headless-shell"), Path("/usr/bin/chromium")
CHROMIUM = Path(os.environ.get("CHROMIUM", SHELL if SHELL.exists() else BROWSER))
"""Without windows it shows the same pages for half of the CPU time."""

expect.set_options(timeout=PATIENCE_MS)

ARGUMENTS = (
    # Root in a container has no user namespace to build the sandbox of.
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="session")
def chromium_command(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that becomes Chromium, which an address that comes or goes does not disturb."""
    command = tmp_path_factory.mktemp("chromium") / "chromium"
    words = (sys.executable, without_netlink.__file__, CHROMIUM)
    command.write_text(f'#!/bin/sh\nexec {shlex.join(map(str, words))} "$@"\n')
    command.chmod(0o755)
    return command


@pytest.fixture(scope="module")
def chromium(chromium_command: Path) -> Iterator[Browser]:
    """For a module, not for the session: while it is open, no other event loop can run."""
    if not CHROMIUM.exists():
        pytest.skip(f"no Chromium at {CHROMIUM}: apt-get install {SHELL.name}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_command, args=list(ARGUMENTS))
        yield browser
        browser.close()


@pytest.fixture
def context(chromium: Browser) -> Iterator[BrowserContext]:
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(PATIENCE_MS)
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A page that fails its test when it complains, opens a dialog or calls strangers."""
    page = context.new_page()
    watch = Watch(page)
    yield page
    assert watch.complaints == []
    assert len(watch.origins) <= 1, f"calls beyond its own origin: {watch.origins}"


@pytest.fixture(scope="module")
def modules(chromium: Browser) -> Iterator[Modules]:
    """The page's own modules, at its origin."""
    context = chromium.new_context()
    FakeBrain().serve(context)
    page = context.new_page()
    page.goto(f"{ORIGIN}/icon.svg")
    yield Modules(page)
    context.close()


@pytest.fixture
def brain(context: BrowserContext) -> FakeBrain:
    """What the page asks: it answers whatever the test wants it to."""
    brain = FakeBrain()
    brain.serve(context)
    return brain


@pytest.fixture
def known(brain: FakeBrain) -> FakeBrain:
    """One that knows a workload, with all that its own page shows."""
    know_workload(brain)
    return brain


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A directory that an ordinary user can reach, which pytest's own are not."""
    with tempfile.TemporaryDirectory(prefix="nemutator-e2e-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


@pytest.fixture
def home(open_folder: Path) -> Path:
    """The ordinary user's own directory."""
    own = open_folder / "home"
    own.mkdir()
    if os.geteuid() == 0:
        os.chown(own, NOBODY, NOBODY)
    return own


@pytest.fixture(scope="session")
def ordinary_python() -> Iterator[Path]:
    """A Python with our packages that an ordinary user can start."""
    with tempfile.TemporaryDirectory(prefix="nemutator-ordinary-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        try:
            yield make_environment(folder)
        except NoInterpreterError as missing:
            pytest.skip(str(missing))


@pytest.fixture
def ordinary(home: Path, ordinary_python: Path) -> Person:
    """An ordinary user: this one, or nobody when this one is root."""
    if os.geteuid() != 0:
        return ME
    return Person(
        command=(ordinary_python, *COMMAND[1:]),
        uid=NOBODY,
        environment={"HOME": str(home), "USER": "nobody", "LOGNAME": "nobody"},
    )
