"""What a person has sorted, narrowed and folded stands in the address: it outlives a reload, and can be sent."""

import re

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.e2e.browsing import Watch
from tests.e2e.page_modules import Modules
from tests.fakes.console_brain import ORIGIN, FakeBrain, Json, node
from tests.fakes.console_inventory import workload_item
from tests.fakes.console_lists import profile

NOTHING: Json = {"order": None, "filter": "", "all": None, "open": [], "shut": []}


@pytest.fixture
def brain(context: BrowserContext) -> FakeBrain:
    brain = FakeBrain(nodes=[node(name=f"edge-{number}") for number in (1, 2, 3)])
    brain.lists["/api/v1/workloads"] = [workload_item(name=f"api-{n}") for n in range(3)]
    brain.lists["/api/v1/profiles"] = [profile(id="p1"), profile(id="p2", state="refused")]
    brain.serve(context)
    return brain


def names(page: Page) -> Locator:
    return page.locator("#list-rows td:first-child")


def expect_sorted(page: Page) -> None:
    expect(names(page)).to_have_text(["shop/api-2", "shop/api-0"])
    expect(page.locator("#list-head th").first).to_have_attribute("aria-sort", "descending")
    expect(page.locator("#list-filter")).to_have_value("-api-1")


def test_a_sorted_and_narrowed_list_is_the_same_for_whom_its_address_is_sent_to(
    page: Page, brain: FakeBrain
) -> None:
    page.goto(f"{ORIGIN}/#workloads")
    page.get_by_role("button", name="Workload", exact=True).click()
    page.locator("#list-filter").fill("-api-1")
    expect_sorted(page)
    assert page.url == f"{ORIGIN}/#workloads/-api-1?sort=-workload"
    page.reload()
    expect_sorted(page)
    # Another place has an order of its own, and the way back leads to this one.
    page.get_by_role("link", name="Capacity", exact=True).click()
    expect(page.locator("#list-head th[aria-sort]")).to_have_count(0)
    page.go_back()
    expect_sorted(page)
    page.go_forward()
    expect(page.locator("#list-title")).to_have_text("Capacity")
    other = page.context.new_page()
    other.goto(f"{ORIGIN}/#workloads/-api-1?sort=-workload")
    expect_sorted(other)
    other.locator("#list-head button").first.click()
    assert other.url == f"{ORIGIN}/#workloads/-api-1?sort=workload"
    other.locator("#list-head button").first.click()
    assert other.url == f"{ORIGIN}/#workloads/-api-1"
    other.get_by_role("link", name="Workloads", exact=True).click()
    expect(names(other)).to_have_count(3)


def test_the_way_back_leads_from_one_order_to_another(page: Page, brain: FakeBrain) -> None:
    page.goto(f"{ORIGIN}/#workloads?sort=-workload")
    expect(names(page)).to_have_text([f"shop/api-{n}" for n in (2, 1, 0)])
    page.goto(f"{ORIGIN}/#workloads?sort=workload")
    expect(names(page)).to_have_text([f"shop/api-{n}" for n in (0, 1, 2)])
    page.go_back()
    expect(names(page)).to_have_text([f"shop/api-{n}" for n in (2, 1, 0)])


def test_profiles_keep_their_filter_beside_the_target(page: Page, brain: FakeBrain) -> None:
    page.goto(f"{ORIGIN}/#profiles/api")
    page.locator("#list-filter").fill("state:refused")
    expect(names(page)).to_have_count(1)
    page.reload()
    expect(names(page)).to_have_count(1)
    expect(page.locator("#list-filter")).to_have_value("state:refused")
    expect(page.locator("#ask input[name=target]")).to_have_value("api")


def test_the_list_of_nodes_is_left_and_found_again_as_it_was(page: Page, brain: FakeBrain) -> None:
    page.goto(f"{ORIGIN}/#topology")
    page.get_by_role("button", name="Name").click()
    page.locator("#nodes-filter").fill("edge")
    labels = page.locator("#nodes-table tbody .label")
    turned = ["edge-3", "edge-2", "edge-1"]
    expect(labels).to_have_text(turned)
    page.reload()
    expect(labels).to_have_text(turned)
    page.get_by_role("link", name="edge-2").click()
    expect(page.locator("#machine-name")).to_have_text("edge-2")
    page.get_by_role("link", name="← all 3 nodes").click()
    expect(labels).to_have_text(turned)
    expect(page.locator("#nodes-filter")).to_have_value("edge")


def test_a_tree_keeps_what_was_folded_sorted_and_narrowed(page: Page, brain: FakeBrain) -> None:
    page.goto(f"{ORIGIN}/#topology/edge-1")
    slice_ = page.locator("#tree tr").filter(has=page.get_by_text("system.slice", exact=True))
    unit = page.locator("#tree tr").filter(has=page.get_by_text("api.service", exact=True))
    expect(slice_).to_have_attribute("aria-expanded", "true")
    slice_.locator(".label").click()
    expect(slice_).to_have_attribute("aria-expanded", "false")
    page.locator("#tree").get_by_role("button", name=re.compile("CPU")).click()
    page.reload()
    expect(slice_).to_have_attribute("aria-expanded", "false")
    expect(page.locator("#tree th[aria-sort=descending]")).to_contain_text("CPU")
    page.get_by_role("button", name="Expand all").click()
    expect(unit).to_have_attribute("aria-expanded", "true")
    page.reload()
    expect(unit).to_have_attribute("aria-expanded", "true")
    page.locator("#filter").fill("kind:unit")
    shown = page.locator("#shown").inner_text()
    page.reload()
    expect(page.locator("#shown")).to_have_text(shown)
    expect(page.locator("#filter")).to_have_value("kind:unit")
    # Another node begins anew, and the way back finds this one as it was.
    page.goto(f"{ORIGIN}/#topology/edge-2")
    expect(page.locator("#machine-name")).to_have_text("edge-2")
    expect(page.locator("#filter")).to_have_value("")
    expect(unit).to_have_attribute("aria-expanded", "false")
    page.go_back()
    expect(page.locator("#filter")).to_have_value("kind:unit")


@pytest.mark.parametrize(
    "address",
    [
        "workloads?sort=__proto__",
        "workloads?sort=-constructor&sort=x",
        "workloads?sort=%E0%A4%A&filter=%",
        "topology?sort=toString&filter=edge",
        "topology/edge-1?sort=constructor&all=maybe&open=" + "x" * 5_000,
        "topology/edge-1?" + "&".join(f"shut=w:/{n}" for n in range(2_000)),
        "overview?sort=-cpu",
    ],
)
def test_an_address_that_somebody_has_made_up_does_no_harm(
    page: Page, brain: FakeBrain, address: str
) -> None:
    watch = Watch(page)
    page.goto(f"{ORIGIN}/#{address}")
    expect(page.locator("main:visible h1").first).to_be_visible()
    expect(page.locator("#freshness")).not_to_have_text("waiting …")
    expect(page.locator("#banner")).to_be_hidden()
    assert watch.complaints == []


@pytest.mark.parametrize(
    ("hash_", "path", "kept"),
    [
        ("#workloads", "workloads", {}),
        ("#workloads/a%3Fb", "workloads/a%3Fb", {}),
        (
            "#workloads/api?sort=-use-now",
            "workloads/api",
            {"order": {"column": "use-now", "descending": True}},
        ),
        ("#topology?sort=cpu", "topology", {"order": {"column": "cpu", "descending": False}}),
        ("#topology/n?filter=a+%26+b%3F", "topology/n", {"filter": "a & b?"}),
        ("#t?all=shut&open=w%3A%2Fa&open=w%3A%2Fb", "t", {"all": False, "open": ["w:/a", "w:/b"]}),
        ("#t?all=open&shut=w%3A%2Fa", "t", {"all": True, "shut": ["w:/a"]}),
    ],
)
def test_an_address_says_what_was_chosen(
    modules: Modules, hash_: str, path: str, kept: Json
) -> None:
    assert modules.run("kept", "m.partsOf(a[0])", hash_) == {
        "path": path,
        "kept": {**NOTHING, **kept},
    }
    assert modules.run("kept", "m.hashOf(a[0], a[1])", path, kept) == hash_


def test_of_many_folded_rows_the_last_are_kept(modules: Modules) -> None:
    keys = [f"w:/{number}" for number in range(50)]
    address = modules.run("kept", "m.hashOf('topology', { open: a[0] })", keys)
    kept = modules.run("kept", "m.partsOf(a[0]).kept.open", address)
    assert kept == keys[-20:]


def test_a_row_that_was_folded_twice_counts_as_the_last_time(modules: Modules) -> None:
    body = """(() => {
        const folds = new m.Folds();
        folds.choose("a", true);
        folds.choose("b", true);
        folds.choose("a", false);
        const one = folds.kept;
        folds.chooseAll(true);
        folds.choose("c", false);
        const other = new m.Folds();
        other.restore(folds.kept);
        const isOpen = (key) => other.isOpen({ key, open: false });
        return [one, folds.kept, isOpen("z"), isOpen("c")];
    })()"""
    assert modules.run("folds", body) == [
        {"all": None, "open": ["b"], "shut": ["a"]},
        {"all": True, "open": [], "shut": ["c"]},
        True,
        False,
    ]
