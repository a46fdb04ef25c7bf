"""Days of 23 and 25 hours, in a browser whose clocks are Berlin's."""

from collections.abc import Iterator
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import Browser

from tests.e2e.page_modules import Modules
from tests.fakes.console_brain import ORIGIN, FakeBrain

BERLIN = ZoneInfo("Europe/Berlin")
HOUR_S = 3_600


@pytest.fixture(scope="module")
def modules(chromium: Browser) -> Iterator[Modules]:
    context = chromium.new_context(timezone_id=BERLIN.key)
    FakeBrain().serve(context)
    page = context.new_page()
    page.goto(f"{ORIGIN}/icon.svg")
    yield Modules(page)
    context.close()


def hours_of(day: datetime) -> list[float]:
    """When each of its hours begins."""
    begin = day.timestamp()
    end = day.replace(day=day.day + 1).timestamp()
    return [begin + HOUR_S * hour for hour in range(round((end - begin) / HOUR_S))]


DAYS = {
    23: datetime(2026, 3, 29, tzinfo=BERLIN),
    24: datetime(2026, 6, 1, tzinfo=BERLIN),
    25: datetime(2026, 10, 25, tzinfo=BERLIN),
}


@pytest.mark.parametrize("length", DAYS)
def test_an_axis_says_each_hour_as_clocks_show_it(modules: Modules, length: int) -> None:
    hours = hours_of(DAYS[length])
    assert len(hours) == length
    day, *labels = modules.run("timerange", f"m.timeLabels(a[0], {HOUR_S})", hours)
    assert str(DAYS[length].day) in day
    shown = [int(label.partition(":")[0]) % 12 for label in labels]
    assert shown == [datetime.fromtimestamp(at, BERLIN).hour % 12 for at in hours[1:]]


@pytest.mark.parametrize("length", DAYS)
def test_the_busy_hours_of_a_day_are_by_its_clocks(modules: Modules, length: int) -> None:
    hours = hours_of(DAYS[length])
    seasons = {"calendar": {"zone": BERLIN.key, "compressed": False}}
    item = {"spans": [{"season": "peak", "begin": "09:00", "end": "11:00"}]}
    document = {"from_at": hours[0], "step_s": HOUR_S, "steps": len(hours)}
    busy = modules.run("workloadmarks", "m.busy(a[0], a[1], a[2])", seasons, item, document)
    found = [
        datetime.fromtimestamp(at, BERLIN).hour
        for at, is_so in zip(hours, busy, strict=True)
        if is_so
    ]
    assert found == [9, 10]
