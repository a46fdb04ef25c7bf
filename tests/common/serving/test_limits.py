from nemutator_common.serving.limits import Limits
from nemutator_common.supervising import STOP_S


def test_a_listener_has_drained_before_its_supervisor_loses_patience() -> None:
    # What else it does then takes seconds where CPU is short.
    assert Limits().drain_s + 3 <= STOP_S


def test_each_deadline_is_longer_than_what_it_contains() -> None:
    limits = Limits()
    assert limits.ending_s < limits.head_s < limits.request_s < limits.idle_s
    assert limits.head_bytes < limits.body_bytes
