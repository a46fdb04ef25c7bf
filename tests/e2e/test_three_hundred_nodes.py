"""Three hundred nodes that report to a real brain: what a person sees of them, page and terminal."""

import contextlib
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
import pytest
from nemutator_common.errors import ExitCode
from nemutator_common.wire import REPORTS_PATH, Batch, Envelope
from playwright.sync_api import BrowserContext, Page, Response, expect

from tests.e2e.own_loop import standing_beside
from tests.e2e.standing import ME, Ran
from tests.fakes.batches import busy_report
from tests.fakes.brains import standing_brain

NODES = 300
GROUPS, PROCESSES = 120, 400
"""Of each node: its topology is 160 KB, and that of all of them 50 MB."""

LARGEST_ANSWER = 1 << 20
LOOKS = 3


@dataclass(frozen=True, slots=True)
class Fleet:
    directory: Path
    link: str

    def run(self, *arguments: str) -> Ran:
        return ME.run("topology", "--data-dir", self.directory, *arguments)


@contextlib.asynccontextmanager
async def standing_fleet(directory: Path) -> AsyncIterator[Fleet]:
    async with standing_brain(directory, stale_after_s=3600.0) as brain:
        report = busy_report(time.time(), workloads=GROUPS, processes=PROCESSES)
        for number in range(NODES):
            batch = Batch(f"node-{number:03}", "e1", (Envelope(1, report),))
            async with brain.local.post(REPORTS_PATH, data=msgspec.json.encode(batch)) as answer:
                assert answer.status == 200, await answer.text()
        yield Fleet(directory, await brain.link())


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    with standing_beside(standing_fleet(tmp_path_factory.mktemp("fleet") / "data")) as fleet:
        yield fleet


@pytest.fixture
def answers(context: BrowserContext) -> list[Response]:
    """All that the API answers to the page."""
    seen: list[Response] = []
    context.on("response", lambda one: seen.append(one) if "/api/" in one.url else None)
    return seen


@pytest.mark.timeout(180)
def test_the_page_lists_them_and_asks_for_one_at_a_time(
    fleet: Fleet, page: Page, answers: list[Response]
) -> None:
    page.goto(fleet.link)
    expect(page.locator("#overview")).to_be_visible()
    page.get_by_role("link", name="Topology", exact=True).click()
    expect(page.locator("#nodes-table tbody tr")).to_have_count(200)
    expect(page.locator("#nodes-shown")).to_contain_text("300 nodes")
    page.locator("#nodes-filter").fill("299")
    page.get_by_role("link", name="node-299").click()
    expect(page.locator("#machine-name")).to_have_text("node-299")
    for _ in range(LOOKS):
        with page.expect_response("**/api/v1/history**"):
            pass
    expect(page.locator("#banner")).to_be_hidden()
    whole = [one.url for one in answers if urlsplit(one.url).path == "/api/v1/topology"]
    assert whole
    assert all(urlsplit(url).query == "node=node-299" for url in whole)
    assert max(len(one.body()) for one in answers) < LARGEST_ANSWER


def test_the_command_lists_them_and_shows_the_one_that_is_named(fleet: Fleet) -> None:
    ran = fleet.run()
    assert ran.code == ExitCode.OK
    lines = ran.stdout.splitlines()
    assert len(lines) < NODES + 10
    assert sum(line.startswith("node-") for line in lines) == NODES
    one = fleet.run("node-299")
    assert one.code == ExitCode.OK
    assert one.stdout.startswith("node-299: kernel 6.1.0")
    assert one.stdout.count("unit-") == GROUPS


def test_what_is_not_there_is_said_with_what_there_is(fleet: Fleet) -> None:
    nowhere = fleet.run("-n", "nope")
    assert (nowhere.code, nowhere.stdout) == (ExitCode.OK, "")
    assert nowhere.stderr == "There is no namespace nope, but system.slice.\n"
    unlabelled = fleet.run("node-000", "-l", "runtime=java")
    assert (unlabelled.code, unlabelled.stdout) == (ExitCode.OK, "")
    assert unlabelled.stderr.startswith("Nothing has the labels runtime=java; there are kind,")
    unknown = fleet.run("node-300")
    assert (unknown.code, unknown.stdout) == (ExitCode.FAILED, "")
    assert "no node called node-300 reports here" in unknown.stderr
    assert "`nemutator topology` lists the nodes that do" in unknown.stderr
