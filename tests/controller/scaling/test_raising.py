"""Minimums rise at once and fall late, every change is logged first, and whatever is in doubt leads back to the base."""

from dataclasses import replace
from typing import Any

import pytest
from nemutator_common import names
from nemutator_controller.scaling.journaled_changes import tombstone_of
from nemutator_controller.scaling.marks import RaisedMark
from nemutator_controller.scaling.raising import AGAIN_S, EVERY_S, LOWERED_AFTER_S

from tests.fakes.engines import in_background
from tests.fakes.scaling import Raised, autoscaler

APPLY = {"target": "web", "mode": "Apply"}


async def settled(given: Raised, cores: float = 0.5, **changes: Any) -> int:
    """The minimum once less was wanted for long enough."""
    await given.at(cores, **changes)
    await given.clock.advance(LOWERED_AFTER_S + 1)
    return await given.at(cores, **changes)


async def test_it_rises_before_what_is_foreseen_and_falls_when_less_was_enough_for_a_while() -> (
    None
):
    given = Raised()
    assert await given.at(0.5) == 2
    assert await given.at(2.6) == 6
    assert given.reasons == {"web": "forecast"}
    assert given.web.base == 2
    await given.clock.advance(60)
    assert await given.at(0.5) == 6
    assert given.reasons == {"web": "settling"}
    assert await settled(given) == 2
    assert given.web.annotation == ""
    assert given.reasons == {"web": "base"}
    assert given.autoscalers.written == [6, 2]
    assert given.autoscalers.told[0].startswith("minReplicas from 2 to 6: up to 2.60 cores")
    assert given.meter.value(names.MINIMUM_WRITES, result="raised") == 1
    assert given.meter.value(names.MINIMUM_WRITES, result="given_back") == 1


async def test_each_change_is_in_the_journal_and_leads_back_to_the_owners_minimum() -> None:
    given = Raised()
    await given.at(2.6)
    await given.at(4.0)
    assert given.web.minimum == 8
    assert [one.edits[0].before for one in given.journal.decisions] == [(2,), (2,)]
    assert [one.edits[0].after for one in given.journal.decisions] == [(6,), (8,)]
    await settled(given)
    assert given.journal.over == ["d1", "d2"]


async def test_without_a_journal_nothing_is_written() -> None:
    given = Raised()
    given.journal.is_away = True
    assert await given.at(2.6) == 2
    assert given.reasons == {"web": "store"}
    given.journal.is_away = False
    assert await given.at(2.6) == 6
    given.journal.is_away = True
    await given.clock.advance(LOWERED_AFTER_S + 1)
    assert await given.at(0.5) == 6


@pytest.mark.parametrize(
    "doubt", [{"skill": 0.1}, {"reason": "stale", "why_not": "silent"}, {"upper": None}]
)
async def test_a_doubt_leads_back_to_the_base(doubt: dict[str, Any]) -> None:
    given = Raised()
    await given.at(2.6)
    assert await settled(given, 2.6, **doubt) == 2


async def test_a_surprise_lowers_nothing() -> None:
    given = Raised()
    await given.at(2.6)
    assert await settled(given, 0.5, is_surprised=True) == 6
    assert given.reasons == {"web": "surprise"}
    assert await settled(given, 0.5) == 2


@pytest.mark.parametrize(
    "specs",
    [{}, {"web": {"target": "web"}}, {"web": {"target": "web", "mode": "Apply", "what": 1}}],
)
async def test_what_no_sound_scaler_of_mode_apply_names_is_given_back_at_once(
    specs: dict[str, Any],
) -> None:
    given = Raised()
    await given.at(2.6)
    given.scalers.specs = specs
    assert await given.at(2.6) == 2
    assert given.journal.over == ["d1"]
    assert given.web.annotation == ""


async def test_preview_writes_nothing_and_says_what_it_would() -> None:
    given = Raised()
    given.scalers.specs = {"web": {"target": "web"}}
    assert await given.at(2.6) == 2
    [state] = given.raising.states.values()
    assert (state.reason, state.wanted, state.minimum, state.base) == ("preview", 6, 2, 2)
    assert given.journal.decisions == []


async def test_a_new_brain_goes_on_and_lowers_nothing_at_once() -> None:
    given = Raised()
    await given.at(2.6)
    given.anew()
    assert await given.at(0.5) == 6
    assert await settled(given) == 2
    assert given.autoscalers.written == [6, 2]


async def test_an_owners_own_change_is_the_new_base() -> None:
    given = Raised()
    await given.at(2.6)
    given.autoscalers.put(replace(given.web, minimum=4, version="7"))
    assert await given.at(2.6) == 6
    assert given.web.base == 4
    # More than what is foreseen stays as it is.
    given.autoscalers.put(replace(given.web, minimum=9, version="8"))
    assert await given.at(2.6) == 9
    assert given.web.annotation == ""
    assert await settled(given) == 9


async def test_whoever_writes_it_again_and_again_is_given_way_to() -> None:
    given = Raised()
    for _ in range(6):
        await given.at(2.6)
        await given.at(2.6)
        given.autoscalers.put(replace(given.web, minimum=2, version="9" + given.web.version))
    assert await given.at(2.6) == 2
    assert given.reasons == {"web": "disputed"}
    assert len(given.autoscalers.written) == 3
    assert any("somebody else changes" in one for one in given.autoscalers.told)


async def test_an_owner_who_changes_what_was_given_back_disputes_nothing() -> None:
    given = Raised()
    given.raising.lowered_after_s = 30.0
    for minimum in (3, 4, 5):
        assert await given.at(4.0) == 8
        await given.at(4.0)
        await given.clock.advance(31)
        assert await given.at(0.5) < 8
        await given.at(0.5)
        given.autoscalers.put(replace(given.web, minimum=minimum))
        await given.at(0.5)
    assert await given.at(4.0) == 8
    assert given.reasons == {"web": "forecast"}


async def test_what_a_person_takes_back_again_and_again_is_no_dispute() -> None:
    given = Raised()
    for _ in range(4):
        given.journal.stones = []
        assert await given.at(4.0) == 8
        await given.at(4.0)
        given.autoscalers.put(replace(given.web, minimum=2, annotation=""))
        given.journal.stones = [tombstone_of(("shop", "web"))]
        await given.at(4.0)
        assert given.reasons == {"web": "taken_back"}


async def test_what_was_taken_back_stays_so() -> None:
    given = Raised()
    await given.at(2.6)
    given.autoscalers.put(replace(given.web, minimum=2, annotation="", version="5"))
    given.journal.stones = [tombstone_of(("shop", "web"))]
    assert await given.at(2.6) == 2
    assert given.reasons == {"web": "taken_back"}
    given.journal.stones = []
    assert await given.at(2.6) == 6


async def test_a_guard_forbids_growth_and_lowers_nothing() -> None:
    given = Raised()
    given.scalers.specs = {"web": {**APPLY, "guard": {"query": "latency", "above": 0.5}}}
    given.guards.value = 0.7
    assert await given.at(2.6) == 2
    assert given.reasons == {"web": "guard"}
    given.guards.value = 0.5
    assert await given.at(2.6) == 6
    given.guards.value = "it does not answer"
    assert await given.at(4.0) == 6
    [state] = given.raising.states.values()
    assert (state.reason, state.wanted) == ("guard", 8)
    assert "does not answer" in state.why
    asked = given.guards.asked
    await given.at(2.6)
    assert given.guards.asked == asked


async def test_two_scalers_of_one_autoscaler_are_one() -> None:
    given = Raised()
    given.scalers.specs = {"a": APPLY, "b": {**APPLY, "minReplicas": 9}}
    assert await given.at(2.6) == 6
    assert given.reasons == {"a": "forecast", "b": "another_scaler"}
    assert given.meter.value(names.FORECAST_SCALERS, reason="another_scaler") == 1


async def test_an_autoscaler_that_is_not_there_or_goes_meanwhile_is_a_reason() -> None:
    given = Raised()
    given.scalers.specs = {"web": {**APPLY, "target": "gone"}}
    await given.at(2.6)
    assert given.reasons == {"web": "no_autoscaler"}
    given.scalers.specs = {"web": APPLY}
    await given.at(2.6)
    del given.autoscalers.there["shop", "web"]
    await given.raising.round()
    assert given.reasons == {"web": "no_autoscaler"}
    # Another one under its name is nobody's yet.
    given.autoscalers.put(autoscaler(uid="new"))
    assert await given.at(0.5) == 2


async def test_no_more_are_raised_than_the_setting_allows() -> None:
    given = Raised(most=1)
    given.scalers.specs = {"a": APPLY, "b": {**APPLY, "target": "api"}}
    given.autoscalers.put(autoscaler("api"))
    await given.at(2.6)
    await given.at(4.0)
    assert given.reasons == {"a": "forecast", "b": "most_raised"}
    assert given.web.minimum == 8
    assert given.autoscalers.there["shop", "api"].minimum == 2


async def test_what_could_not_be_written_is_tried_again_later() -> None:
    given = Raised()
    given.autoscalers.refuses = "patch horizontalpodautoscalers: forbidden"
    await given.at(2.6)
    await given.at(2.6)
    [state] = given.raising.states.values()
    assert (state.reason, state.why) == ("refused", given.autoscalers.refuses)
    assert given.meter.value(names.MINIMUM_WRITES, result="refused") == 1
    given.autoscalers.refuses = ""
    await given.clock.advance(AGAIN_S + 1)
    assert await given.at(2.6) == 6


async def test_what_another_installation_has_raised_is_left_to_it() -> None:
    given = Raised()
    text = RaisedMark(base=2, raised=5, decision="x", by="other", uid="u-web").text
    given.autoscalers.put(autoscaler(minimum=5, annotation=text))
    assert await given.at(2.6) == 5
    assert given.reasons == {"web": "disputed"}
    given.scalers.specs = {}
    assert await given.at(2.6) == 5


async def test_while_nothing_is_known_nothing_is_done() -> None:
    given = Raised()
    given.scalers.known = False
    assert await given.at(2.6) == 2
    given.scalers.known, given.autoscalers.known = True, False
    assert await given.at(2.6) == 2
    assert given.raising.states == {}


async def test_it_looks_again_and_again() -> None:
    given = Raised()
    async with in_background(given.raising.run(), given.clock):
        await given.at(0.5)
        given.forecasts.said = replace(given.forecasts.said, upper=2.6)
        await given.clock.advance(EVERY_S + 1)
        assert given.web.minimum == 6


async def test_a_faulty_scaler_is_counted() -> None:
    given = Raised()
    given.scalers.specs = {"web": {"target": "web", "minReplicas": 5, "maxReplicas": 1}}
    assert await given.at(2.6) == 2
    assert given.meter.value(names.FORECAST_SCALERS, reason="faulty") == 1
