"""The real parts as pytest gives them to tests: started once, when the first test asks for one.

What this machine cannot give is a skip with its reason; tests/conftest.py makes it a failure in CI.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path

import pytest

from tests.testbed.building import made, unpacked
from tests.testbed.building.cache import MissingPartError
from tests.testbed.parts import control_plane, image_store
from tests.testbed.parts import postgres as parts_postgres
from tests.testbed.parts import prometheus as parts_prometheus
from tests.testbed.parts import redis as parts_redis
from tests.testbed.parts import s3 as parts_s3
from tests.testbed.parts import vault as parts_vault
from tests.testbed.parts import victoria_metrics as parts_victoria_metrics
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.image_store import ImageStore
from tests.testbed.parts.machine import guest_node
from tests.testbed.parts.machine import machine as parts_machine
from tests.testbed.parts.machine.guest_node import GuestNode
from tests.testbed.parts.machine.guest_units import Engine
from tests.testbed.parts.machine.machine import Equipment, Machine
from tests.testbed.parts.node import node as parts_node
from tests.testbed.parts.node.node import Node
from tests.testbed.parts.postgres import Postgres
from tests.testbed.parts.prometheus import Prometheus
from tests.testbed.parts.redis import Redis
from tests.testbed.parts.s3 import S3
from tests.testbed.parts.vault import Vault
from tests.testbed.parts.victoria_metrics import VictoriaMetrics
from tests.testbed.running import leftovers, machine_state
from tests.testbed.running.machine_state import MachineState
from tests.testbed.running.run import Run, running
from tests.testbed.running.waiting import NotInTimeError, until

KEPT_LOGS = Path(__file__).parents[2] / ".build" / "testbed-logs"

StartMachine = Callable[..., AbstractContextManager[Machine]]
StartGuestNode = Callable[..., AbstractContextManager[GuestNode]]

kept = pytest.StashKey[Path]()


@pytest.fixture(scope="session")
def testbed_run(request: pytest.FixtureRequest) -> Iterator[Run]:
    """What all parts of this session belong to; their logs are kept when a test has failed."""
    with leftovers.nobody_else_begins():
        leftovers.clean_dead_runs()
    before = look()
    with running() as run:
        yield run
        if request.session.testsfailed:
            where = KEPT_LOGS / f"{datetime.now():%Y-%m-%d-%H%M%S}-{run.id}"
            run.keep_logs(where)
            request.config.stash[kept] = where
    with contextlib.suppress(NotInTimeError):
        # What was killed last is still seen for a moment.
        until(lambda: not look().added_since(before), "all is gone", within_s=60)
    assert look().added_since(before) == [], "the testbed has left something behind"


def look() -> MachineState:
    """The machine as it is, its packet filters by the node's tools: it may have none installed."""
    try:
        tools = unpacked.environment(made.debian("node"))
    except MissingPartError:
        return machine_state.look()
    return machine_state.look(tools)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    if where := config.stash.get(kept, None):
        terminalreporter.write_line(f"logs of the testbed: {where}")


@contextlib.contextmanager
def skipped_when_missing() -> Iterator[None]:
    try:
        yield
    except MissingPartError as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def cluster(testbed_run: Run) -> Cluster:
    """A real control plane."""
    with skipped_when_missing():
        return control_plane.begin(testbed_run)


@pytest.fixture(scope="session")
def node(cluster: Cluster) -> Node:
    """The one node of the cluster: containerd, kubelet, a network for pods."""
    with skipped_when_missing():
        return parts_node.begin(cluster)


@pytest.fixture(scope="session")
def image(node: Node) -> ImageStore:
    """What pods of the node can be made of; busybox is there."""
    with skipped_when_missing():
        return image_store.begin(node)


@pytest.fixture(scope="session")
def vault(cluster: Cluster) -> Vault:
    """Vault, which lets service accounts of the cluster log in."""
    with skipped_when_missing():
        return parts_vault.begin(cluster)


@pytest.fixture(scope="session")
def bao(cluster: Cluster) -> Vault:
    """OpenBao, in the same way."""
    with skipped_when_missing():
        return parts_vault.begin(cluster, "bao")


@pytest.fixture(scope="session")
def redis(testbed_run: Run) -> Redis:
    with skipped_when_missing():
        return parts_redis.begin(testbed_run)


@pytest.fixture(scope="session")
def postgres(testbed_run: Run) -> Postgres:
    with skipped_when_missing():
        return parts_postgres.begin(testbed_run)


@pytest.fixture(scope="session")
def prometheus(testbed_run: Run) -> Prometheus:
    """Without anything to scrape: a test says what."""
    with skipped_when_missing():
        return parts_prometheus.begin(testbed_run)


@pytest.fixture(scope="session")
def s3(testbed_run: Run) -> S3:
    """A server of S3 with an empty bucket, which tests share: each has a prefix of its own there."""
    with skipped_when_missing():
        return parts_s3.begin(testbed_run)


@pytest.fixture(scope="session")
def victoria_metrics(testbed_run: Run) -> VictoriaMetrics:
    """Of a single node, without anything to scrape."""
    with skipped_when_missing():
        return parts_victoria_metrics.begin(testbed_run)


@pytest.fixture(scope="session")
def machine(testbed_run: Run) -> StartMachine:
    """Starts another machine, with control groups of version 2: `with machine(kernel="6.1")`."""

    @contextlib.contextmanager
    def start(*, kernel: str, arch: str = "amd64", headers: bool = False) -> Iterator[Machine]:
        equipment = Equipment(architecture=arch, headers=headers)
        with contextlib.ExitStack() as running:
            with skipped_when_missing():
                machine = running.enter_context(
                    parts_machine.running(testbed_run, kernel, equipment)
                )
            yield machine

    return start


@pytest.fixture(scope="session")
def machine_as_node(cluster: Cluster) -> StartGuestNode:
    """Starts another machine as the cluster's only node: `with machine_as_node(kernel="6.1")`."""

    @contextlib.contextmanager
    def start(*, kernel: str, engine: Engine, archives: Sequence[Path]) -> Iterator[GuestNode]:
        with contextlib.ExitStack() as running:
            with skipped_when_missing():
                node = running.enter_context(guest_node.running(cluster, kernel, engine, archives))
            yield node

    return start
