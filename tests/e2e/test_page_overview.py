"""The overview: what is wrong, what is wasted, what has changed, and nemutator itself, on one screen."""

import time
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.accessibility import SCHEMES, complaints
from tests.fakes.console_brain import ORIGIN, FakeBrain, Json, node
from tests.fakes.console_inventory import cluster_node, used, workload_item
from tests.fakes.console_lists import ageing, grant, lease, missed, mutation, profile

OVERVIEW = f"{ORIGIN}/#overview"
HOSTILE = "<img src=x onerror=alert(1)>\u202egnp.exe\x1b[31m"


RESIZED = {
    "path": "spec.containers[name=app].resources.requests.cpu",
    "before": "1",
    "after": "250m",
    "verb": "sizing",
    "policy": "tight",
}


def nodes(*items: Json, remaining: int = 0, **totals: Any) -> Json:
    def together(field: str) -> Json:
        return {
            unit: sum(one[field][unit] or 0 for one in items)
            for unit in ("cpu_cores", "memory_bytes")
        }

    return {
        "kind": "NodeList",
        "now": time.time(),
        "items": list(items),
        "remaining": remaining,
        "totals": {
            "nodes": len(items),
            "stale": sum(one["stale"] for one in items),
            **{field: together(field) for field in ("allocatable", "requested", "used")},
            **totals,
        },
    }


def troubled() -> FakeBrain:
    now = time.time()
    return FakeBrain(
        documents={
            "/api/v1/nodes": nodes(
                cluster_node(),
                cluster_node(name="worker-2", ready=False, stale=True),
                cluster_node(
                    name="worker-3", sums={"waiting": {"cpu": 1.0, "memory": 61.0, "io": 2.0}}
                ),
                cluster_node(name="worker-4", seen_at=None, age_s=None, stale=True, sums=None),
            )
        },
        lists={
            "/api/v1/workloads": [workload_item(), workload_item(name="web", oom_ended=0)],
            "/api/v1/ageing": [ageing(), ageing(id="w2", verdict="steady")],
            "/api/v1/leases": [
                lease(role="other", state="expired", owner_kind="Deployment", owner="api"),
                lease(role="of a pod that has ended", state="expired"),
            ],
            "/api/v1/grants": [
                grant(),
                grant(result="denied", reason="Vault denies it"),
                grant(result="denied", reason="Vault denies it", at=now - 60),
                grant(result="denied", reason="long ago", secret="old", at=now - 90_000),
            ],
            "/api/v1/deploys": [
                {"at": now - 45, "namespace": "shop", "kind": "Deployment", "name": "api"}
            ],
            "/api/v1/mutations": [
                mutation(),
                mutation(id="m4", at=now - 50, edits=[RESIZED]),
                mutation(id="m2", state="conflict", at=now - 120),
                mutation(id="m3", mode="preview", at=now - 240),
            ],
            "/api/v1/missed-pods": [missed(), missed(uid="u2")],
            "/api/v1/sizing": [
                {"policy": "tight", "mode": "Apply", "counts": {}, "pods": [], "fault": "no bounds"}
            ],
            "/api/v1/evictions": [
                {"id": "e1", "at": now - 30, "by": "anna", "reason": "drill", "counts": {"done": 3}}
            ],
            "/api/v1/rolls": [
                {"id": "r1", "at": now - 90, "by": "ben", "workload": "shop/api", "state": "done"}
            ],
            "/api/v1/profiles": [profile()],
        },
    )


@pytest.fixture
def brain(context: BrowserContext) -> FakeBrain:
    brain = troubled()
    brain.serve(context)
    return brain


def links(page: Page, part: str) -> dict[str, str | None]:
    found = page.locator(f"#{part}-lines a:visible")
    expect(found.first).to_be_visible()
    return {each.inner_text(): each.get_attribute("href") for each in found.all()}


def test_what_is_wrong_leads_to_where_it_is(page: Page, brain: FakeBrain) -> None:
    page.goto(OVERVIEW)
    assert links(page, "wrong") == {
        "shop/api-0 does not get db: Vault denies it, 2 times": "#grants",
        "shop/api-0: its login to Vault as other has expired": "#leases",
        "Node worker-2 is not ready": "#topology/worker-2",
        "shop/api: 2 containers ended for memory": "#history/shop/Deployment/api",
        "The SizingPolicy tight is not followed: no bounds": "#mutations",
        "A change of shop/api-0 could not be taken back": "#mutations/id%3Am2",
        "2 pods run without what a policy asks for": "#missed-pods",
        "shop/api leaks: heap, 4.9 MB/min, provisional": "#ageing",
        "Node worker-3: work waits for memory, 61 % of the time": "#topology/worker-3",
    }
    grades = [each.get_attribute("data-grade") for each in page.locator("#wrong-lines li").all()]
    assert grades == sorted(grades, key=lambda grade: grade != "suffer"), "the worst is not first"


def test_what_is_wasted_is_in_bars_and_words(page: Page, brain: FakeBrain) -> None:
    page.goto(OVERVIEW)
    assert links(page, "wasted")["shop/api"] == "#history/shop/Deployment/api"
    first = page.locator("#wasted-lines li").first
    expect(first.locator(".side")).to_have_text("2.500 cores and 2.0 GiB idle")
    assert first.locator(".idle i").evaluate("bar => bar.style.width") == "13.3%"
    expect(page.locator("#wasted-sums")).to_have_text(
        "Pods request 12.0 of 16.0 cores and use 2.0; they request 16.0 GiB of memory and use 8.0 GiB."
    )


def test_what_is_wasted_is_money_where_somebody_has_told_prices(
    page: Page, brain: FakeBrain
) -> None:
    brain.documents["/api/v1/workloads"] = {
        "items": [workload_item()],
        "totals": {"waste": used(84.0, 20 << 30)},
        "prices": {"core_hour": 0.04, "gib_hour": 0.005, "currency": "EUR"},
    }
    page.goto(OVERVIEW)
    expect(page.locator("#wasted-lines li").first.locator(".side")).to_have_text(
        "2.500 cores and 2.0 GiB idle: 80.30 EUR a month"
    )
    expect(page.locator("#wasted-sums")).to_contain_text(
        "What no workload would use at its worst costs 2,526 EUR a month."
    )


def test_off_clusters_it_is_what_manifests_request_for_nothing(
    page: Page, brain: FakeBrain
) -> None:
    unit = workload_item(kind="unit", namespace="system.slice", name="api.service")
    brain.documents["/api/v1/nodes"] = nodes(cluster_node(requested=used(), allocatable=used()))
    brain.documents["/api/v1/workloads"] = {
        "items": [unit],
        "totals": {"waste": used(2.5, 2 << 30)},
        "prices": {"core_hour": 0.04, "gib_hour": 0.005, "currency": "EUR"},
    }
    page.goto(OVERVIEW)
    said = "All together waste 2.500 cores and 2.0 GiB: 80.30 EUR a month."
    expect(page.locator("#wasted-sums")).to_have_text(said)
    expect(page.locator("#wasted-lines li")).to_have_count(1)
    page.goto(f"{ORIGIN}/#workloads")
    expect(page.locator("#list-about")).to_contain_text(said)


def test_what_has_changed_is_on_one_line_of_time(page: Page, brain: FakeBrain) -> None:
    page.goto(OVERVIEW)
    told = list(links(page, "changed"))
    assert told.index("anna had 3 pods evicted: drill") < told.index("ben rolled shop/api: done")
    assert told.index("ben rolled shop/api: done") < told.index(
        "Pod shop/api-0 would be changed by teams: 2 fields"
    )
    assert "Pod shop/api-0 was changed by teams: 2 fields" in told
    deployed = told.index("Deployment shop/api has a new version")
    resized = told.index("Pod shop/api-0 was resized by tight: 1 field")
    assert told.index("anna had 3 pods evicted: drill") < deployed < resized
    page.get_by_role("link", name="Deployment shop/api has a new version").click()
    expect(page.locator("#row-title")).to_have_text("shop/api")


def test_a_change_that_was_taken_back_is_its_policys_and_taken_back_by_nobody_in_particular(
    page: Page, brain: FakeBrain
) -> None:
    back = mutation(id="m9", state="reversed", at=time.time())
    brain.lists["/api/v1/mutations"] = [back]
    page.goto(OVERVIEW)
    assert "Pod shop/api-0 was changed by teams, and taken back since: 2 fields" in links(
        page, "changed"
    )


def test_a_program_that_leaks_on_a_machine_is_called_by_its_own_name(
    page: Page, brain: FakeBrain
) -> None:
    here = {"namespace": "user.slice", "owner": "4f1c", "container": "-", "program": "shop"}
    brain.lists["/api/v1/ageing"] = [ageing(workload=here)]
    page.goto(OVERVIEW)
    assert "shop leaks: heap, 4.9 MB/min, provisional" in links(page, "wrong")


def test_nemutator_says_how_it_is_itself(page: Page, brain: FakeBrain) -> None:
    brain.warning = "the disk is nearly full"
    page.goto(OVERVIEW)
    expect(page.locator("#health-lines li")).to_contain_text(
        [
            "The controller: the disk is nearly full",
            "2 of 4 nodes report",
            "1 node has no agent that reports",
        ]
    )


def test_of_five_thousand_nodes_all_are_counted_and_those_in_trouble_are_asked_for(
    page: Page, context: BrowserContext
) -> None:
    few = [cluster_node(name=f"worker-{number}", ready=False) for number in range(4_900, 4_912)]
    all_together = used(80_000.0, 5_000 << 35)
    shown = nodes(
        *few, remaining=4_988, nodes=5_000, stale=0,
        allocatable=all_together, requested=all_together, used=used(20_000.0, 5_000 << 34),
    )  # fmt: skip
    big = FakeBrain(documents={"/api/v1/nodes": shown})
    big.serve(context)
    page.goto(OVERVIEW)
    expect(page.locator("#wasted-sums")).to_contain_text(
        "Pods request 80000.0 of 80000.0 cores and use 20000.0"
    )
    expect(page.locator("#health-lines")).to_contain_text("5000 of 5000 nodes report")
    expect(page.locator("#wrong-more")).to_have_text("and 2 more")
    assert "orderBy=trouble&limit=200" in big.queries
    shown["items"] = [
        cluster_node(name=f"w{number}", seen_at=None, stale=True) for number in range(200)
    ]
    page.reload()
    expect(page.locator("#health-lines")).to_contain_text("At least 200 nodes have no agent")


def test_before_the_first_report_nothing_is_called_well(
    page: Page, context: BrowserContext
) -> None:
    FakeBrain(documents={"/api/v1/nodes": nodes()}).serve(context)
    page.goto(OVERVIEW)
    expect(page.locator("#wrong-none")).to_have_text("Nothing is known yet: no agent has reported.")
    expect(page.locator("#health-lines")).to_contain_text("No agent has reported yet")


def test_a_part_that_does_not_answer_is_named_and_the_others_are_shown(
    page: Page, brain: FakeBrain
) -> None:
    brain.silent = {"/api/v1/mutations", "/api/v1/grants"}
    page.goto(OVERVIEW)
    expect(page.get_by_text("Node worker-2 is not ready")).to_be_visible()
    expect(page.locator("#overview-unread")).to_have_text(
        "Not shown, because no answer has come: the audit, mutations."
    )
    expect(page.locator("#banner")).to_be_hidden()
    brain.silent.clear()
    expect(page.locator("#overview-unread")).to_be_empty()


def test_a_line_is_followed_and_one_comes_back(page: Page, brain: FakeBrain) -> None:
    page.goto(OVERVIEW)
    page.get_by_role("link", name="shop/api: 2 containers ended for memory").click()
    expect(page.locator("#row-title")).to_have_text("shop/api")
    expect(page.locator("#overview")).to_be_hidden()
    page.get_by_role("link", name="Overview").click()
    expect(page.locator("#wrong-lines li").first).to_be_visible()
    expect(page).to_have_title("Overview · nemutator")


def test_where_nothing_is_it_says_what_to_do(page: Page, context: BrowserContext) -> None:
    FakeBrain(documents={"/api/v1/nodes": nodes(cluster_node())}).serve(context)
    page.goto(OVERVIEW)
    for part in ("wrong", "wasted", "changed"):
        expect(page.locator(f"#{part}-none")).to_be_visible()
    expect(page.locator("#health-lines")).to_contain_text("The only node reports")
    expect(page.locator("#overview-unread")).to_be_empty()


def test_what_somebody_may_not_read_is_named_and_the_rest_is_shown(
    page: Page, brain: FakeBrain
) -> None:
    brain.refused = {"/api/v1/leases", "/api/v1/grants", "/api/v1/sizing"}
    page.goto(OVERVIEW)
    expect(page.locator("#overview-unread")).to_have_text(
        "Not shown, because you may not see it or there is no cluster: leases, the audit, SizingPolicies."
    )
    expect(page.get_by_text("Node worker-2 is not ready")).to_be_visible()


def test_strangers_names_are_text(page: Page, context: BrowserContext) -> None:
    brain = FakeBrain(
        documents={"/api/v1/nodes": nodes(cluster_node(name=HOSTILE, ready=False))},
        lists={
            "/api/v1/workloads": [workload_item(name=HOSTILE, namespace=HOSTILE)],
            "/api/v1/grants": [grant(result="denied", secret=HOSTILE, pod=HOSTILE)],
        },
    )
    brain.serve(context)
    page.goto(OVERVIEW)
    expect(page.locator("#wrong-lines li").first).to_be_visible()
    assert page.locator("#overview img").count() == 0
    for each in page.locator("#overview li a").all_inner_texts():
        assert "\u202e" not in each
        assert "\x1b" not in each


def test_of_much_that_is_wrong_the_worst_ten_are_shown(page: Page, context: BrowserContext) -> None:
    many = [cluster_node(name=f"worker-{number}", ready=False) for number in range(40)]
    FakeBrain(documents={"/api/v1/nodes": nodes(*many)}).serve(context)
    page.goto(OVERVIEW)
    expect(page.locator("#wrong-lines li")).to_have_count(10)
    expect(page.locator("#wrong-more")).to_have_text("and 30 more")


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", [1280, 360])
def test_everybody_can_use_it(page: Page, brain: FakeBrain, scheme: str, width: int) -> None:
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(OVERVIEW)
    expect(page.locator("#wrong-lines li").first).to_be_visible()
    assert complaints(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_it_stands_on_one_screen(page: Page, brain: FakeBrain) -> None:
    brain.documents["/api/v1/nodes"] = nodes(cluster_node())
    page.goto(OVERVIEW)
    expect(page.locator("#wrong-lines li").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollHeight") <= 900


def test_nothing_at_all_may_be_seen(page: Page, brain: FakeBrain) -> None:
    brain.status = 403
    brain.refusal = {"error": "you may see nothing", "remedy": "ask for a role"}
    page.goto(OVERVIEW)
    expect(page.locator("#banner")).to_contain_text("you may see nothing → ask for a role")


def test_amounts_that_are_not_known_are_no_zeros(page: Page, context: BrowserContext) -> None:
    odd = workload_item(requests=used(), use={"now": used(), "usual": used(), "worst": used()})
    brain = FakeBrain(lists={"/api/v1/workloads": [odd]})
    brain.serve(context)
    page.goto(OVERVIEW)
    expect(page.locator("#wasted-lines li").first.locator(".side")).to_have_attribute(
        "title", "requests — cores and —; uses — and — now"
    )


def test_whoever_comes_to_a_cluster_sees_it_first(page: Page, context: BrowserContext) -> None:
    several = FakeBrain(nodes=[node(), node(name="edge-2")])
    several.serve(context)
    page.goto(ORIGIN)
    expect(page.get_by_role("heading", name="What is wrong")).to_be_visible()
    expect(page).to_have_url(OVERVIEW)
    page.get_by_role("link", name="Topology", exact=True).click()
    expect(page.locator("#nodes-table tbody tr")).to_have_count(2)
    # A machine alone is its own overview.
    several.nodes = [node()]
    page.goto("about:blank")
    page.goto(ORIGIN)
    expect(page.locator("#machine-name")).to_be_visible()
