import socket

from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.usage.flows import MOST_PEERS, flows_between, table
from nemutator_agent.usage.sock_diag import TcpSocket
from nemutator_common.wire_activity import Flow

SERVER = TcpSocket(b"l", True, 8080, b"\0" * 4, 0, 0, 0)


def connection(
    cookie: str,
    received: int,
    sent: int,
    *,
    peer: str = "10.0.0.7",
    local_port: int = 40_000,
    port: int = 5432,
) -> TcpSocket:
    address = socket.inet_aton(peer)
    return TcpSocket(cookie.encode(), False, local_port, address, port, received, sent)


def test_what_was_moved_between_two_readings_is_summed_by_peer() -> None:
    before = table(10.0, [connection("a", 100, 10), connection("gone", 5, 5)])
    after = table(70.0, [connection("a", 150, 30), connection("b", 1000, 1, local_port=40_001)])
    assert flows_between(before, after, "u") == (
        Flow(
            pod_uid="u",
            address="10.0.0.7",
            port=5432,
            protocol="tcp",
            direction="out",
            received=1050,
            sent=21,
            connections=2,
            from_at=10.0,
            to_at=70.0,
        ),
    )


def test_a_port_that_listens_tells_the_direction() -> None:
    peers = [connection(str(n), 1, 1, local_port=8080, port=50_000 + n) for n in range(3)]
    [flow] = flows_between(table(0.0, []), table(1.0, [SERVER, *peers]), "u")
    assert (flow.direction, flow.port, flow.connections) == ("in", 8080, 3)
    # One that stopped to listen meanwhile did listen.
    [flow] = flows_between(table(0.0, [SERVER]), table(1.0, peers), "u")
    assert flow.direction == "in"


def test_a_pod_that_talks_to_itself_has_no_peer() -> None:
    itself = connection("a", 1, 1, peer="127.0.0.1")
    six = TcpSocket(b"c", False, 1, b"\0" * 15 + b"\1", 2, 5, 5)
    assert flows_between(table(0.0, []), table(1.0, [itself, six]), "u") == ()


sockets = st.lists(
    st.builds(
        lambda cookie, peer, received, sent: connection(
            f"c{cookie}", received, sent, peer=f"10.0.0.{peer}"
        ),
        st.integers(0, 200),
        st.integers(0, 60),
        st.integers(0, 2**63),
        st.integers(0, 2**63),
    ),
    max_size=200,
)


@given(sockets, sockets)
def test_there_are_few_peers_none_negative_and_those_with_most(
    earlier: list[TcpSocket], later: list[TcpSocket]
) -> None:
    found = flows_between(table(0.0, earlier), table(1.0, later), "u")
    assert len(found) <= MOST_PEERS
    moved = [one.received + one.sent for one in found]
    assert moved == sorted(moved, reverse=True)
    assert all(one.received >= 0 and one.sent >= 0 and one.connections > 0 for one in found)
