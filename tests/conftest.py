"""What holds for every test: tiers by folder, no network beyond loopback, no silent skip in CI.

Properties have no deadlines, because a busy machine is no defect. Here they try new examples each
time, and print how to repeat the one that fails; in CI the same change has the same examples.
Forty are enough to find what a change has broken; `make drill` searches with a thousand.
"""

import gc
import ipaddress
import os
import sys
from collections.abc import Generator, Iterator
from pathlib import Path

import hypothesis
import pytest
from hypothesis.database import DirectoryBasedExampleDatabase

pytest_plugins = ["tests.testbed.fixtures"]

TESTS = Path(__file__).parent
TIERS = ("e2e", "drill")
IN_CI = bool(os.environ.get("CI"))


def _examples() -> DirectoryBasedExampleDatabase | None:
    """Keeps the examples that failed; None on a disk that is not to be written to, as in a guest:
    Hypothesis would warn there, and a warning is an error.
    """
    if IN_CI:  # where a property has the same examples each time
        return None
    folder = TESTS.parent / ".hypothesis" / "examples"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return DirectoryBasedExampleDatabase(folder)


hypothesis.settings.register_profile(
    "nemutator",
    max_examples=40,
    database=_examples(),
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
    print_blob=True,
    derandomize=IN_CI,
)
hypothesis.settings.register_profile(
    "search", hypothesis.settings.get_profile("nemutator"), max_examples=1000, derandomize=False
)
hypothesis.settings.load_profile("nemutator")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected stays until the end: to look for garbage in it, again and again while it
    grows and later beside what tests leave, took a third of collecting and seconds of running.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if _tier(item) in TIERS:
            item.add_marker(_tier(item))
    # A cluster that runs is in the way of tests that look at the machine: those go first.
    items.sort(key=_turn)


def _tier(item: pytest.Item) -> str:
    return item.path.relative_to(TESTS).parts[0] if item.path.is_relative_to(TESTS) else ""


def _turn(item: pytest.Item) -> tuple[bool, bool]:
    return item.get_closest_marker("last") is not None, _takes_the_testbed(item)


def _takes_the_testbed(item: pytest.Item) -> bool:
    """Also by a variant of a contract suite, which asks for its real part only when it runs."""
    real_variant = item.get_closest_marker("e2e") is not None and _tier(item) != "e2e"
    return real_variant or "testbed_run" in getattr(item, "fixturenames", ())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """In CI the prerequisites are there, so a test of the real thing that is skipped has failed."""
    report: pytest.TestReport = yield  # type: ignore[assignment]
    expected = hasattr(report, "wasxfail")
    if report.skipped and not expected and item.get_closest_marker("e2e") and IN_CI:
        report.outcome = "failed"
        report.longrepr = f"skipped, which CI does not accept: {report.longreprtext}"
    return report  # type: ignore[return-value]


class NetworkRefusedError(Exception):
    """A test reached for another machine."""


def _refuse_other_machines(event: str, arguments: tuple[object, ...]) -> None:
    if event in {"socket.connect", "socket.sendto"}:
        address = arguments[1]
        host = address[0] if isinstance(address, tuple) else None  # a path is a unix socket
    elif event == "socket.getaddrinfo":
        host = arguments[0]
    else:
        return
    if host is not None and not _on_this_machine(host):
        # Not an OSError: code that handles a failing network must not make it look like a pass.
        raise NetworkRefusedError(f"{event}: tests talk to this machine only, not to {host!r}")


def _on_this_machine(host: object) -> bool:
    name = host.decode() if isinstance(host, bytes) else str(host)
    if name in {"", "localhost"}:
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


sys.addaudithook(_refuse_other_machines)
