"""The real parts as pytest gives them to tests: started once, when the first test asks for one.

What this machine cannot give is a skip with its reason; tests/conftest.py makes it a failure in CI.
"""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from tests.testbed.building.cache import MissingPartError

from tests.testbed.parts import control_plane
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.running.run import Run, running

KEPT_LOGS = Path(__file__).parents[2] / ".build" / "testbed-logs"

kept = pytest.StashKey[Path]()


@pytest.fixture(scope="session")
def testbed_run(request: pytest.FixtureRequest) -> Iterator[Run]:
    """What all parts of this session belong to; their logs are kept when a test has failed."""
    with running() as run:
        yield run
        if request.session.testsfailed:
            where = KEPT_LOGS / f"{datetime.now():%Y-%m-%d-%H%M%S}-{run.id}"
            run.keep_logs(where)
            request.config.stash[kept] = where


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    if where := config.stash.get(kept, None):
        terminalreporter.write_line(f"logs of the testbed: {where}")


@pytest.fixture(scope="session")
def cluster(testbed_run: Run) -> Cluster:
    """A real control plane, without a node."""
    try:
        return control_plane.begin(testbed_run)
    except MissingPartError as missing:
        pytest.skip(str(missing))
