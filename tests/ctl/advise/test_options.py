import argparse

from nemutator_controller.sizing.sources.side_by_side import HOURLY
from nemutator_controller.sizing.strategies.known import GIVEN, HOURLY_GIVEN
from nemutator_controller.sizing.strategies.known import STRATEGIES as KNOWN
from nemutator_ctl.advise.options import OURS, STRATEGIES, add_options


def test_the_strategies_are_those_that_there_are() -> None:
    # Without a policy that follows it, what is given is ours.
    assert set(STRATEGIES) == {*KNOWN, HOURLY} - {GIVEN, HOURLY_GIVEN}
    assert STRATEGIES[0] == OURS


def test_without_options_no_prometheus_is_asked() -> None:
    parser = argparse.ArgumentParser()
    add_options(parser)
    given = parser.parse_args([])
    assert given.prometheus is None
    assert (given.days, given.strategy, given.recording_rules) == (8, OURS, False)
