"""The flame graph in a real browser, from a file and under the policy that it asks for."""

import dataclasses
from pathlib import Path

import pytest
from nemutator_common.profiles.difference import difference
from nemutator_common.profiles.flamegraph import (
    CONTENT_SECURITY_POLICY,
    render,
    render_difference,
)
from nemutator_common.profiles.model import Frame, Profile
from playwright.sync_api import Browser, Page, Route, expect

from tests.e2e.accessibility import SCHEMES, Scheme, complaints

EVIL = "</script><script>document.title='taken'</script><img src=x onerror=alert(1)>\u2028\"'"

PROFILE = Profile(
    hz=99,
    started_at=1_700_000_000.0,
    seconds=30.0,
    frames=(
        Frame("main.main", "main.go", 10, 8, "go"),
        Frame("main.burn", "burn.go", 20, 18, "go"),
        Frame("main.step", "burn.go", 30, 28, "go", inlined=True),
        Frame("do_syscall_64", kind="kernel"),
        Frame(EVIL, EVIL, 1, 1, "native"),
    ),
    stacks=(((2, 1, 0), 60), ((3, 0), 30), ((4,), 9), ((0,), 1)),
    recorded=100,
    lost={"no_stack": 4},
    cpu_seconds=1.05,
    notes=(f"a note {EVIL}",),
    labels={"pod": "shop/cart"},
)


@pytest.fixture
def opened(page: Page, tmp_path: Path) -> Page:
    file = tmp_path / "profile.html"
    file.write_text(render(PROFILE, title=f"cart {EVIL}"), encoding="utf-8")
    page.goto(file.as_uri())
    expect(page.locator("#detail")).to_contain_text("100 samples")
    return page


def test_the_account_stands_above_the_picture(opened: Page) -> None:
    facts = opened.locator("#facts")
    for words in ("99 Hz", "30.00 s", "recorded", "100", "4 (no_stack 4)", "1.05 s", "shop/cart"):
        expect(facts).to_contain_text(words)
    expect(opened.locator("#notes li")).to_have_count(1)
    rows = opened.locator("#functions tbody tr")
    expect(rows).to_have_count(5)
    expect(rows.first).to_contain_text("main.step")
    expect(rows.first).to_contain_text("60.00 %")


def test_names_are_shown_and_never_run(opened: Page) -> None:
    assert opened.title().startswith("cart </script>")
    expect(opened.locator("#title")).to_contain_text("<img src=x")
    assert opened.locator("img").count() == 0


def test_it_is_used_by_keyboard_alone(opened: Page) -> None:
    detail = opened.locator("#detail")
    opened.locator("#graph").focus()
    opened.keyboard.press("ArrowDown")
    expect(detail).to_contain_text("main.main")
    expect(detail).to_contain_text("91 samples, 91.00 %")
    expect(detail).to_contain_text("1.00 % its own")
    opened.keyboard.press("ArrowDown")
    expect(detail).to_contain_text("main.burn")
    opened.keyboard.press("ArrowLeft")
    expect(detail).to_contain_text("do_syscall_64")
    opened.keyboard.press("ArrowRight")
    opened.keyboard.press("ArrowDown")
    expect(detail).to_contain_text("main.step (inlined)")
    expect(detail).to_contain_text("burn.go:30")
    opened.keyboard.press("Enter")
    opened.keyboard.press("Escape")
    expect(detail).to_contain_text("100 samples")


def test_the_pointer_shows_zooms_and_shows_all_again(opened: Page) -> None:
    graph, detail = opened.locator("#graph"), opened.locator("#detail")
    box = graph.bounding_box()
    assert box is not None
    # The third row: what main.main called, the kernel first.
    graph.hover(position={"x": box["width"] * 0.35, "y": 2.5 * 19})
    expect(detail).to_contain_text("do_syscall_64")
    graph.click(position={"x": box["width"] * 0.35, "y": 2.5 * 19})
    graph.hover(position={"x": box["width"] * 0.9, "y": 2.5 * 19})
    expect(detail).to_contain_text("do_syscall_64")
    opened.get_by_role("button", name="Show all").click()
    graph.hover(position={"x": box["width"] * 0.9, "y": 2.5 * 19})
    expect(detail).to_contain_text("main.burn")


COUNTED = """() => {
  const fill = CanvasRenderingContext2D.prototype.fillRect;
  window.filled = 0;
  CanvasRenderingContext2D.prototype.fillRect = function (...place) {
    window.filled += 1;
    return fill.apply(this, place);
  };
}"""


def test_a_pointer_that_moves_paints_two_boxes_and_not_all(opened: Page) -> None:
    opened.evaluate(COUNTED)
    graph = opened.locator("#graph")
    box = graph.bounding_box()
    assert box is not None
    graph.hover(position={"x": box["width"] * 0.35, "y": 2.5 * 19})
    expect(opened.locator("#detail")).to_contain_text("do_syscall_64")
    assert opened.evaluate("window.filled") == 2


LEAVES, DEPTH = 250, 40


def test_ten_thousand_boxes_are_drawn_once_and_a_pointer_paints_two(
    page: Page, tmp_path: Path
) -> None:
    frames = tuple(Frame(f"main.f{number}", "main.go", 1, 1, "go") for number in range(10_000))
    stacks = tuple(
        (tuple(range(leaf * DEPTH, (leaf + 1) * DEPTH)), 100 + leaf) for leaf in range(LEAVES)
    )
    samples = sum(count for _, count in stacks)
    file = tmp_path / "large.html"
    large = dataclasses.replace(PROFILE, frames=frames, stacks=stacks, recorded=samples)
    file.write_text(render(large, title="large"), encoding="utf-8")
    assert file.stat().st_size < 1_000_000
    page.goto(file.as_uri())
    expect(page.locator("#detail")).to_contain_text(f"{samples:,} samples")
    page.evaluate(COUNTED)
    graph = page.locator("#graph")
    graph.hover(position={"x": 600, "y": 20.5 * 19})
    expect(page.locator("#detail")).to_contain_text("main.f")
    assert page.evaluate("window.filled") == 2
    page.locator("#search").fill("main.f12")
    # 111 functions have such names, each of which is in one box.
    expect(page.locator("#matches")).to_contain_text("111 boxes")
    assert page.evaluate("window.filled") <= 2 + 10_001
    graph.click(position={"x": 600, "y": 1.5 * 19})
    expect(page.locator("#detail")).to_contain_text("main.f")
    assert page.evaluate("window.filled") <= 2 + 2 * 10_001 + 4


def test_a_finger_zooms_and_a_button_shows_all_again(chromium: Browser, tmp_path: Path) -> None:
    file = tmp_path / "profile.html"
    file.write_text(render(PROFILE, title="cart"), encoding="utf-8")
    context = chromium.new_context(has_touch=True, viewport={"width": 400, "height": 700})
    try:
        page = context.new_page()
        page.goto(file.as_uri())
        detail, graph = page.locator("#detail"), page.locator("#graph")
        expect(detail).to_contain_text("100 samples")
        graph.tap(position={"x": 0.35 * 366, "y": 2.5 * 19})
        expect(detail).to_contain_text("do_syscall_64")
        graph.tap(position={"x": 0.9 * 366, "y": 2.5 * 19})
        expect(detail).to_contain_text("do_syscall_64")
        page.get_by_role("button", name="Show all").tap()
        graph.tap(position={"x": 0.9 * 366, "y": 2.5 * 19})
        expect(detail).to_contain_text("main.burn")
    finally:
        context.close()


def test_a_search_says_how_much_it_found_and_counts_nothing_twice(opened: Page) -> None:
    opened.keyboard.press("/")
    opened.keyboard.type("MAIN.")
    expect(opened.locator("#matches")).to_have_text("3 boxes, 91 samples, 91.00 %")
    opened.locator("#search").fill("syscall")
    expect(opened.locator("#matches")).to_have_text("1 box, 30 samples, 30.00 %")


def test_the_table_is_sorted_by_what_people_choose_and_follows_a_search(opened: Page) -> None:
    rows = opened.locator("#functions tbody tr")
    total = opened.get_by_role("button", name="With what it called")
    total.click()
    expect(rows.first).to_contain_text("main.main")
    header = opened.locator("#functions th").nth(2)
    expect(header).to_have_attribute("aria-sort", "descending")
    total.click()
    expect(header).to_have_attribute("aria-sort", "ascending")
    expect(rows.last).to_contain_text("main.main")
    opened.locator("#search").fill("syscall")
    expect(rows).to_have_count(1)


def test_a_function_is_shown_with_its_callers_and_what_it_called(opened: Page) -> None:
    around = opened.locator("#around")
    expect(around).to_be_hidden()
    opened.get_by_role("button", name="main.burn", exact=True).click()
    expect(around).to_be_visible()
    expect(opened.locator("#function")).to_have_text("main.burn")
    expect(opened.locator("#detail-of-callers")).to_contain_text("60 samples, 100.00 %")
    callers = opened.locator("#callers")
    callers.focus()
    opened.keyboard.press("ArrowUp")
    expect(opened.locator("#detail-of-callers")).to_contain_text("main.main")
    opened.locator("#callees").focus()
    opened.keyboard.press("ArrowDown")
    expect(opened.locator("#detail-of-callees")).to_contain_text("main.step (inlined)")
    opened.get_by_role("button", name="Close").click()
    expect(around).to_be_hidden()


def test_the_key_s_shows_what_is_around_the_chosen_box(opened: Page) -> None:
    opened.locator("#graph").focus()
    opened.keyboard.press("ArrowDown")
    opened.keyboard.press("s")
    expect(opened.locator("#function")).to_have_text("main.main")


def test_it_grows_upwards_for_those_who_are_used_to_that(opened: Page) -> None:
    opened.get_by_label("Draw").select_option("flame")
    graph, detail = opened.locator("#graph"), opened.locator("#detail")
    box = graph.bounding_box()
    assert box is not None
    graph.hover(position={"x": box["width"] * 0.5, "y": box["height"] - 0.5 * 19 - 2})
    graph.hover(position={"x": box["width"] * 0.5, "y": box["height"] - 1.5 * 19 - 2})
    expect(detail).to_contain_text("main.main")
    graph.focus()
    opened.keyboard.press("ArrowUp")
    expect(detail).to_contain_text("main.burn")


def test_colours_are_chosen_and_explained(opened: Page) -> None:
    legend = opened.locator("#legend")
    expect(legend).to_have_text("gonativekernelunknown")
    opened.get_by_label("Colours").select_option("package")
    expect(legend).to_have_text("")
    assert opened.locator("#colours option[value=change]").count() == 0


@pytest.fixture
def compared(page: Page, tmp_path: Path) -> Page:
    after = dataclasses.replace(PROFILE, stacks=(((2, 1, 0), 160), ((0,), 1)), recorded=161)
    shown = render_difference(
        difference(PROFILE, after), title="cart", before=f"monday {EVIL}", after="tuesday"
    )
    file = tmp_path / "difference.html"
    file.write_text(shown, encoding="utf-8")
    page.goto(file.as_uri())
    expect(page.locator("#detail")).to_contain_text("before 100 samples, after 161 samples")
    return page


def test_two_profiles_are_one_picture_and_nothing_that_is_gone_is_left_out(compared: Page) -> None:
    expect(compared.locator("#facts")).to_contain_text("monday </script>")
    expect(compared.locator("#facts")).to_contain_text("+61 samples")
    expect(compared.locator("#legend")).to_have_text("morelessas before")
    rows = compared.locator("#functions tbody tr")
    expect(rows.first).to_contain_text("main.step")
    expect(rows.first).to_contain_text("+100 samples")
    compared.get_by_role("button", name="Own, change").click()
    expect(rows.first).to_contain_text("do_syscall_64")
    expect(rows.first).to_contain_text("\u221230 samples")
    compared.get_by_role("button", name="main.burn", exact=True).click()
    expect(compared.locator("#detail-of-callees")).to_contain_text("before 60 samples, after 160")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_everybody_can_read_a_difference(compared: Page, scheme: Scheme) -> None:
    compared.emulate_media(color_scheme=scheme)
    compared.get_by_role("button", name="main.burn", exact=True).click()
    assert complaints(compared) == []


def test_it_is_dark_where_people_want_it_dark(opened: Page) -> None:
    paper = "getComputedStyle(document.body).backgroundColor"
    opened.emulate_media(color_scheme="light")
    light = opened.evaluate(paper)
    opened.emulate_media(color_scheme="dark")
    assert opened.evaluate(paper) != light


@pytest.mark.parametrize("scheme", SCHEMES)
def test_everybody_can_use_it(opened: Page, scheme: Scheme) -> None:
    opened.emulate_media(color_scheme=scheme)
    opened.locator("#search").fill("main.")
    assert complaints(opened) == []


def test_it_runs_under_the_policy_that_it_is_served_with(page: Page) -> None:
    html = render(dataclasses.replace(PROFILE, cpu_seconds=None), title="cart")

    def serve(route: Route) -> None:
        headers = {"Content-Security-Policy": CONTENT_SECURITY_POLICY}
        route.fulfill(body=html, content_type="text/html; charset=utf-8", headers=headers)

    page.route("**/*", serve)
    page.goto("http://console.invalid/")
    expect(page.locator("#detail")).to_contain_text("100 samples")
    expect(page.locator("#facts")).to_contain_text("not known")
    page.set_viewport_size({"width": 400, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
