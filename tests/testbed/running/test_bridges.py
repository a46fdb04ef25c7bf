from tests.testbed.running.bridges import routed


def test_a_default_route_leads_into_no_network() -> None:
    listed: list[dict[str, object]] = [
        {"dst_len": 0, "table": 254},
        {"dst": "192.0.2.0", "dst_len": 24, "table": 254},
        {"dst": "192.0.2.255", "dst_len": 32, "table": 255},
    ]
    assert list(map(str, routed(listed))) == ["192.0.2.0/24", "192.0.2.255/32"]
