import msgspec
import pytest
from nemutator_common.errors import OperatorError
from nemutator_controller.following import documents
from nemutator_ctl.missed.view import decode, overview

from tests.fakes.followed_pods import missed_pod

LISTED = msgspec.to_builtins(
    documents.missed_pods(
        [
            missed_pod("web-1"),
            missed_pod("web-\x1b2", is_required=True, created="soon", result="evicted"),
        ]
    )
)


def test_each_pod_is_shown_with_what_it_lacks_and_what_was_done() -> None:
    head, first, second = overview(decode(LISTED)).splitlines()
    assert head.split("  ")[0] == "RUNS SINCE"
    assert first.split() == ["2023-11-14", "22:13:20Z", "shop", "web-1", "team", "told"]
    assert second.split() == ["shop", "web-\\x1b2", "team,", "injection", "evicted"]


def test_that_none_was_missed_is_said_in_a_sentence() -> None:
    assert overview(()) == "Admission has missed no pod that runs.\n"


@pytest.mark.parametrize("field", ["name", "policies", "result"])
def test_what_is_no_missed_pod_is_not_understood(field: str) -> None:
    item = {key: value for key, value in LISTED["items"][0].items() if key != field}
    with pytest.raises(OperatorError, match="not a list of missed pods"):
        decode({"items": [item]})
