import re

from nemutator_agent.profiler.refusals import REASONS, ProfileRefused, gone
from nemutator_common import names


def test_a_refusal_says_what_and_what_to_do() -> None:
    refusal = ProfileRefused("rights", "the door is locked", remedy="bring the key")
    assert str(refusal) == "the door is locked; bring the key"
    assert refusal.reason in REASONS


def test_a_target_that_is_gone_is_named() -> None:
    assert gone("process 7").reason == "gone"
    assert str(gone("process 7")).startswith("process 7 is not running on this node")


def test_the_metric_names_all_reasons() -> None:
    assert {*REASONS} <= {*re.findall(r"\w+", names.PROFILE_SESSIONS.meaning)}
