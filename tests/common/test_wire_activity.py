import msgspec
from nemutator_common.wire_activity import Activity, Flow, NetworkInterface, NetworkRates


def test_what_an_older_agent_does_not_tell_is_not_known() -> None:
    assert msgspec.json.decode(b"{}", type=Activity) == Activity()
    found = msgspec.json.decode(b'{"name": "eth0", "traffic": {}}', type=NetworkInterface)
    assert found == NetworkInterface(name="eth0", traffic=NetworkRates())


def test_what_is_told_comes_out_as_it_was() -> None:
    flow = Flow(
        pod_uid="u",
        address="::1",
        port=1,
        protocol="tcp",
        direction="out",
        received=1,
        sent=2,
        connections=3,
        from_at=4.0,
        to_at=5.0,
    )
    assert msgspec.json.decode(msgspec.json.encode(flow), type=Flow) == flow
