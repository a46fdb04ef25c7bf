import pytest
from nemutator_controller.following.records import ObjectNotWrittenError


@pytest.mark.parametrize("again", [True, False])
def test_a_pod_that_is_not_written_says_whether_it_may_be_tried_again(again: bool) -> None:
    error = ObjectNotWrittenError("no answer", again=again)
    assert (str(error), error.again) == ("no answer", again)
