import msgspec
from nemutator_controller.oversell.objects import NODE_OVERSELLS


def test_what_a_status_says_is_read_again() -> None:
    document = (
        b'{"kind": "NodeOversell", "metadata": {"name": "p"}, "spec": {"x": 1}, "status":'
        b' {"nodes": [{"name": "n", "ratio": "1.20", "reason": "use"}], "nodesLeftOff": 3}}'
    )
    found = msgspec.json.decode(document, type=NODE_OVERSELLS.shape)
    assert found.spec == {"x": 1}
    assert (found.status.nodes[0].ratio, found.status.nodes_left_off) == ("1.20", 3)
    path = "/apis/nemutator.io/v1alpha1/nodeoversells/p/status"
    assert NODE_OVERSELLS.path("", "p", "status") == path
