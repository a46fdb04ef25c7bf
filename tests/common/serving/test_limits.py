import inspect

from nemutator_common.serving.limits import Limits
from nemutator_common.supervising import Supervisor


def test_a_listener_has_drained_before_its_supervisor_loses_patience() -> None:
    stop_s = inspect.signature(Supervisor).parameters["stop_s"].default
    assert Limits().drain_s < stop_s


def test_each_deadline_is_longer_than_what_it_contains() -> None:
    limits = Limits()
    assert limits.ending_s < limits.head_s < limits.request_s < limits.idle_s
    assert limits.head_bytes < limits.body_bytes
