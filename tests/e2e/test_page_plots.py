"""Plots of time are read, zoomed and thinned out, by pointer and by keyboard."""

import re

from playwright.sync_api import Page, expect

from tests.e2e.accessibility import complaints
from tests.e2e.browsing import DRAWN
from tests.e2e.canvases import places
from tests.fakes.console_brain import ORIGIN, FakeBrain, Json
from tests.fakes.console_inventory import (
    HISTORY,
    history,
)


def long_history() -> Json:
    """An hour in minutes: as many thousandths of a core as the minute's number."""
    values = [minute / 1000 for minute in range(60)]
    figures = {
        "cpu_cores": {"mean": values, "low": values, "high": values, "most": values},
        "memory_bytes": {"mean": [1 << 20] * 60, "low": None, "high": None, "most": None},
    }
    return history(figures=figures, steps=60, pods=[1.0] * 60, week=None)


def test_a_plot_is_read_by_keyboard(page: Page, known: FakeBrain) -> None:
    page.goto(f"{ORIGIN}/#history/shop/Deployment/api")
    slider = page.get_by_role("slider", name="moment of CPU")
    said = "aria-valuetext"
    usual = "usually 0.200 cores to 0.500 cores"
    now = f": 0.200 cores of 0.500 cores requested, one pod at most 0.200 cores, {usual}"
    expect(slider).to_have_attribute(said, re.compile(now))
    values = page.locator("#row-plots article").first.locator(".legend b")
    expect(values).to_have_text(
        [
            "0.200 cores",
            "0.200 cores",
            "0.520 cores",
            "0.500 cores",
            "0.200 to 0.200 cores",
            "0.200 to 0.500 cores",
        ]
    )
    slider.focus()
    page.keyboard.press("ArrowLeft")
    expect(slider).to_have_attribute(said, re.compile(": 0.400 cores of"))
    expect(values.first).to_have_text("0.400 cores")
    # One moment is read in all plots.
    memory = page.locator("#row-plots article").nth(1)
    expect(memory.locator("input")).to_have_value("4")
    expect(memory.locator(".legend b").first).to_have_text("409.6 MiB")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(slider).to_have_attribute(said, re.compile("nothing is known of this moment"))
    expect(values.first).to_have_text("—")


def test_a_plot_is_read_by_pointer_and_zoomed_by_dragging(page: Page, known: FakeBrain) -> None:
    known.documents[HISTORY] = long_history()
    page.goto(f"{ORIGIN}/#history/shop/Deployment/api")
    cpu, memory = (
        page.locator("#row-plots article").first,
        page.locator("#row-plots article").nth(1),
    )
    box = cpu.locator(".u-over").bounding_box()
    assert box is not None

    def at(part: float) -> tuple[float, float]:
        return box["x"] + part * box["width"], box["y"] + box["height"] / 2

    page.mouse.move(*at(0.26))
    for plot in (cpu, memory):
        expect(plot.locator("input")).to_have_value("15")
    expect(cpu.locator(".legend b").first).to_have_text("0.015 cores")
    line = memory.locator(".u-cursor-x").bounding_box()
    over = memory.locator(".u-over").bounding_box()
    assert line is not None
    assert over is not None
    assert abs((line["x"] - over["x"]) / over["width"] - 0.26) < 0.02
    page.mouse.down()
    page.mouse.move(*at(0.4), steps=3)
    page.mouse.move(*at(0.5), steps=3)
    page.mouse.up()
    for plot in (cpu, memory):
        expect(plot.locator("input")).to_have_attribute("min", "16")
        expect(plot.locator("input")).to_have_attribute("max", "29")
    whole = page.get_by_role("button", name="Whole time")
    expect(whole).to_be_enabled()
    page.mouse.dblclick(*at(0.5))
    expect(memory.locator("input")).to_have_attribute("max", "59")
    expect(whole).to_be_disabled()


def test_time_is_zoomed_by_keyboard_around_the_moment_that_is_read(
    page: Page, known: FakeBrain
) -> None:
    known.documents[HISTORY] = long_history()
    page.goto(f"{ORIGIN}/#history/shop/Deployment/api")
    slider = page.get_by_role("slider", name="moment of CPU")
    slider.focus()
    page.keyboard.press("+")
    expect(slider).to_have_attribute("min", "30")
    page.keyboard.press("Home")
    page.keyboard.press("+")
    expect(slider).to_have_attribute("min", "30")
    expect(slider).to_have_attribute("max", "44")
    # What comes anew does not take it away.
    asked = known.asked.count(HISTORY)
    with page.expect_response(lambda response: HISTORY in response.url):
        pass
    assert known.asked.count(HISTORY) > asked
    expect(slider).to_have_attribute("max", "44")
    page.keyboard.press("0")
    expect(slider).to_have_attribute("min", "0")
    page.get_by_role("button", name="Zoom in").click()
    page.get_by_role("button", name="Zoom out").click()
    expect(slider).to_have_attribute("max", "59")
    assert complaints(page) == []


def test_what_a_legend_names_can_be_left_out(page: Page, known: FakeBrain) -> None:
    page.goto(f"{ORIGIN}/#history/shop/Deployment/api")
    cpu = page.locator("#row-plots article").first
    page.wait_for_function(DRAWN)
    assert places(cpu, "--notice")
    requested = cpu.get_by_role("button", name="requested")
    requested.click()
    expect(requested).to_have_attribute("aria-pressed", "false")
    page.wait_for_function(DRAWN)
    assert places(cpu, "--notice") == []
    assert places(cpu, "--cpu")
    requested.click()
    expect(requested).to_have_attribute("aria-pressed", "true")
