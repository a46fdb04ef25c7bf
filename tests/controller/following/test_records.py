import pytest
from nemutator_common.admission_snapshots import Tombstone
from nemutator_controller.following.records import ObjectNotWrittenError, taken_back


@pytest.mark.parametrize("again", [True, False])
def test_a_pod_that_is_not_written_says_whether_it_may_be_tried_again(again: bool) -> None:
    error = ObjectNotWrittenError("no answer", again=again)
    assert (str(error), error.again) == ("no answer", again)


def test_what_stays_taken_back_is_known_by_workload() -> None:
    stones = [
        Tombstone("shop", "Deployment", "web", "a"),
        Tombstone("shop", "Deployment", "web", "b"),
        Tombstone("bank", "Deployment", "web", "c"),
    ]
    found = taken_back(stones)
    assert found["shop", "Deployment", "web"] == {"a", "b"}
    assert found["bank", "Deployment", "web"] == {"c"}
    assert found["shop", "", ""] == frozenset()
