"""How soon the page has something to show, and how long it holds a person up, with 5 000 nodes, 10 000 workloads and
1 000 policies.

A real Chromium, and answers that are ready before they are asked for: what is measured is the page. A task is what
the browser does in one go, while it answers nobody; the longest of them is what somebody feels.
"""

import json
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.bench.frame import Result, aim
from tests.e2e.conftest import ARGUMENTS, CHROMIUM
from tests.e2e.test_page_policies import POLICIES, policy
from tests.fakes.console_brain import ORIGIN, FakeBrain, Json, listed, node, workload
from tests.fakes.console_inventory import ROWS, cluster_node, history, row, workload_item

NODES, WORKLOADS, MUTATION_POLICIES = 5_000, 10_000, 1_000
OF_CAPACITY, OF_WORKLOADS, OF_OVERVIEW = 200, 300, 200
"""How many of them a view asks for: the brain holds the rest."""
STEPS = 672
"""Of a plot: four weeks in hours."""
RUNS = 5
FIRST_CONTENT_MS = 500.0
LONGEST_TASK_MS = 100.0
"""Under that, what somebody does seems to be answered at once."""
WHEELS = 20
PATIENCE_MS = 120_000

# Each task of more than 50 ms is told by the browser itself.
TELLS = """
window.tasks = [];
new PerformanceObserver((list) => window.tasks.push(...list.getEntries().map(({duration}) => duration)))
  .observe({entryTypes: ["longtask"]});
"""


@dataclass(frozen=True, slots=True)
class View:
    name: str
    hash: str
    row: str
    """What is there once there is something to see."""
    typed: str
    """Into the filter; empty where there is none."""
    brain: FakeBrain


def bench() -> Result:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        measured = {view.name: _measured(browser, view) for view in _views()}
        version = browser.version
        browser.close()
    first = max(figures["first_content_ms"] for figures in measured.values())
    return Result(
        measured={"chromium": version, **measured},
        aims=(
            aim("ms to the first content, of the slowest view", first, "<=", FIRST_CONTENT_MS),
            *(
                aim(
                    f"ms of the longest task, {name}",
                    figures["longest_task_ms"],
                    "<=",
                    LONGEST_TASK_MS,
                )
                for name, figures in measured.items()
            ),
        ),
    )


def _views() -> Iterator[View]:
    machines = [
        listed(node(name=f"node-{number:04}", workloads=[workload("/", "root")], processes=[]))
        for number in range(NODES)
    ]
    nodes = [cluster_node(name=f"node-{number:04}") for number in range(NODES)]
    workloads = [
        workload_item(namespace=f"team-{number % 50}", name=f"app-{number:05}")
        for number in range(WORKLOADS)
    ]
    everything = FakeBrain(texts={"/api/v1/nodes": _said(machines)})
    yield View("nodes", "#topology", "#nodes-table tbody tr", "node-4999", everything)
    rows = "#list tbody tr"
    capacity = FakeBrain(texts={"/api/v1/nodes": _said(nodes[:OF_CAPACITY])})
    yield View("capacity", "#capacity", rows, "node-0199", capacity)
    known = FakeBrain(texts={"/api/v1/workloads": _said(workloads[:OF_WORKLOADS])})
    yield View("workloads", "#workloads", rows, "app-00299", known)
    texts = {
        "/api/v1/nodes": _said(nodes[:OF_OVERVIEW]),
        "/api/v1/workloads": _said(workloads[:20]),
    }
    yield View("overview", "#overview", "#health-lines li", "", FakeBrain(texts=texts))
    yield View("workload", "#history/shop/Deployment/api", "#row-plots .u-over", "", _plotted())
    policies = [policy(name=f"policy-{number:04}") for number in range(MUTATION_POLICIES)]
    ruled = FakeBrain(texts={POLICIES: _said(policies)})
    yield View("policies", "#policies", rows, "policy-0999", ruled)


def _plotted() -> FakeBrain:
    """A workload with a plot of each figure."""
    values = [0.1 + (step * 7 % 50) / 100 for step in range(STEPS)]
    measures = dict.fromkeys(("mean", "low", "high", "most"), values)
    names = ("throttled", "network_received", "network_sent", "disk_read", "disk_written")
    figures = dict.fromkeys(("cpu_cores", "memory_bytes", *names), measures)
    brain = FakeBrain(lists={ROWS: [row()]})
    path = "/api/v1/workloads/shop/Deployment/api/history"
    brain.documents[path] = history(figures=figures, steps=STEPS, pods=[2.0] * STEPS)
    return brain


def _said(items: list[Json]) -> str:
    left = max(0, WORKLOADS - len(items))
    return json.dumps({"now": 1_760_003_601.2, "items": items, "remaining": left})


def _measured(browser: Browser, view: View) -> dict[str, Any]:
    runs = [_once(browser, view) for _ in range(RUNS)]
    return {name: round(statistics.median(run[name] for run in runs), 1) for name in runs[0]}


def _once(browser: Browser, view: View) -> dict[str, float]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(PATIENCE_MS)
    context.add_init_script(TELLS)
    view.brain.serve(context)
    page = context.new_page()
    page.goto(f"{ORIGIN}/{view.hash}")
    page.locator(view.row).first.wait_for()
    found = page.evaluate(
        """({
            first_content_ms: performance.getEntriesByName("first-contentful-paint")[0].startTime,
            rows_after_ms: performance.now(),
            rows: document.querySelectorAll("tbody tr").length,
        })"""
    )
    loading = _longest_task(page)
    for _ in range(WHEELS):
        page.mouse.wheel(0, 900)
        page.evaluate("new Promise((done) => requestAnimationFrame(done))")
    scrolling = _longest_task(page)
    if view.typed:
        page.get_by_role("searchbox").locator("visible=true").fill(view.typed)
        expect(page.locator(view.row)).to_have_count(1, timeout=PATIENCE_MS)
    filtering = _longest_task(page)
    context.close()
    return {
        **found,
        "loading_task_ms": loading,
        "scrolling_task_ms": scrolling,
        "filtering_task_ms": filtering,
        "longest_task_ms": max(loading, scrolling, filtering),
    }


def _longest_task(page: Page) -> float:
    """Since it was asked last; 0 where none took 50 ms."""
    return float(page.evaluate("Math.max(0, ...window.tasks.splice(0))"))
