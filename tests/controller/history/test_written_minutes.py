import numpy as np
import pytest
from nemutator_controller.history.minutes import CELLS
from nemutator_controller.history.remote_write_messages import body
from nemutator_controller.history.written_minutes import oldest_kept, rows_of, written_minute

from tests.controller.history.points import NOW, history, pod, points, quarters
from tests.fakes.remote_write import MemoryReceiver

MINUTE = int(NOW // 60)


def test_a_minute_is_the_sum_of_pods_and_the_most_of_one_at_its_end() -> None:
    usage, receiver = history(), MemoryReceiver()
    two = [pod("a", "0"), pod("a", "1"), pod("b")]
    told = [*quarters(NOW, 4, cpu=1), *quarters(NOW, 4, cpu=3, of=1)]
    usage.learn("n", points(two, told), now=NOW + 60)
    receiver.take(body(written_minute(usage, MINUTE, slice(0, 9), external={"cluster": "prod"})))
    at = int(NOW) + 60
    where = {
        "cluster": "prod",
        "namespace": "shop",
        "owner_kind": "Deployment",
        "owner": "a",
        "container": "app",
    }
    assert receiver.values("nemutator_container_cpu_cores", **where) == {at: 4.0}
    most = receiver.values("nemutator_container_cpu_cores_pod_max", **where)
    assert most == {at: pytest.approx(3.0, rel=0.001)}
    assert receiver.values("nemutator_container_pods", **where) == {at: 2.0}
    assert receiver.values("nemutator_container_memory_bytes", **where) == {at: 200.0}


def test_what_is_not_known_is_not_written() -> None:
    usage = history()
    usage.learn("n", points([pod("a")], quarters(NOW, 4, memory=np.nan)), now=NOW + 60)
    assert written_minute(usage, MINUTE - 1, slice(0, 9), external={}) == []
    assert len(written_minute(usage, MINUTE, slice(0, 9), external={})) == 3
    assert rows_of(usage) == 1
    assert oldest_kept(usage) == MINUTE + 2 - CELLS
    usage.rows.drop(0)
    assert written_minute(usage, MINUTE, slice(0, 9), external={}) == []
