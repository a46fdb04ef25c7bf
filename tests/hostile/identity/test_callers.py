"""Real processes that end, pass their connection on or become another program, on both holds."""

import os
import socket
import struct
import sys
from pathlib import Path

import pytest
from nemutator_agent.identity.facts import has_ended
from nemutator_agent.identity.failures import AttestationError
from nemutator_agent.identity.peers import Hold, by_connection, by_number, names_peers, open_peer

from tests.hostile.identity.callers import CONNECTS_S, calling
from tests.testbed.running.waiting import until

HOLDS = [
    pytest.param(
        by_connection,
        id="SO_PEERPIDFD",
        marks=pytest.mark.skipif(not names_peers(), reason="SO_PEERPIDFD needs Linux 6.5"),
    ),
    pytest.param(by_number, id="pidfd_open"),
]


@pytest.mark.parametrize("hold", HOLDS)
def test_who_connects_and_lives_is_known(tmp_path: Path, hold: Hold) -> None:
    with calling(tmp_path) as caller:
        peer = open_peer(caller.connection, hold=hold)
        assert (peer.pid, peer.uid, peer.gid) == (caller.process.pid, os.geteuid(), os.getegid())
        facts = peer.facts()
        assert facts == peer.facts()
        assert facts.cgroup == Path("/proc", str(peer.pid), "cgroup").read_text()
        assert facts.executable == os.path.realpath(sys.executable)
        peer.close()


@pytest.mark.parametrize("hold", HOLDS)
@pytest.mark.parametrize("is_held_before", [True, False])
def test_who_goes_on_without_its_first_thread_is_the_same(
    tmp_path: Path, hold: Hold, is_held_before: bool
) -> None:
    with calling(tmp_path) as caller:
        process = Path("/proc", str(caller.process.pid))
        before = open_peer(caller.connection, hold=hold) if is_held_before else None
        known = (process / "cgroup").read_text()
        caller.order("retire")
        until(lambda: has_ended((process / "stat").read_bytes()), "its end", within_s=CONNECTS_S)
        peer = before or open_peer(caller.connection, hold=hold)
        facts = peer.facts()
        assert (facts.cgroup, facts.executable) == (known, os.path.realpath(sys.executable))
        caller.leave()
        with pytest.raises(AttestationError) as refused:
            peer.facts()
        assert refused.value.step == "alive"
        peer.close()


@pytest.mark.parametrize("hold", HOLDS)
def test_who_ends_after_it_was_taken_hold_of_is_refused(tmp_path: Path, hold: Hold) -> None:
    with calling(tmp_path) as caller:
        peer = open_peer(caller.connection, hold=hold)
        peer.facts()
        caller.leave()
        with pytest.raises(AttestationError) as refused:
            peer.facts()
        assert refused.value.step == "alive"
        peer.close()


@pytest.mark.parametrize("hold", HOLDS)
def test_who_ended_before_it_was_looked_at_is_refused(tmp_path: Path, hold: Hold) -> None:
    with calling(tmp_path) as caller:
        caller.leave()
        with pytest.raises(AttestationError) as refused:
            open_peer(caller.connection, hold=hold).facts()
        assert refused.value.step in {"pidfd", "alive"}


@pytest.mark.parametrize("hold", HOLDS)
def test_an_heir_of_the_connection_does_not_speak_for_who_made_it(
    tmp_path: Path, hold: Hold
) -> None:
    """Passed on by fork: as with SCM_RIGHTS, the connection is the same and lives on."""
    with calling(tmp_path) as caller:
        peer = open_peer(caller.connection, hold=hold)
        caller.order("heir")
        heir = int(caller.answer())
        peer.facts()
        caller.leave()
        assert Path("/proc", str(heir)).exists()
        with pytest.raises(AttestationError) as refused:
            peer.facts()
        assert refused.value.step == "alive"
        peer.close()


@pytest.mark.parametrize("hold", HOLDS)
def test_a_connection_that_was_handed_over_still_names_who_made_it(
    tmp_path: Path, hold: Hold
) -> None:
    """The receiver of a passed descriptor gets no identity of its own, and none of ours changes."""
    with calling(tmp_path) as caller:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            socket.send_fds(ours, [b"x"], [caller.connection.fileno()])
            _, (passed,), _, _ = socket.recv_fds(theirs, 1, 1)
        with socket.socket(fileno=passed) as connection:
            peer = open_peer(connection, hold=hold)
            assert peer.pid == caller.process.pid != os.getpid()
            caller.leave()
            with pytest.raises(AttestationError):
                peer.facts()
            peer.close()


@pytest.mark.parametrize("hold", HOLDS)
def test_another_process_under_the_same_number_is_refused(tmp_path: Path, hold: Hold) -> None:
    """What a recycled number looks like to us: the hold is on one process, the number another's."""
    with calling(tmp_path) as caller:
        peer = open_peer(caller.connection, hold=hold)
        peer.facts()
        caller.leave()
        peer.pid = os.getpid()
        with pytest.raises(AttestationError) as refused:
            peer.facts()
        assert refused.value.step == "alive"
        peer.close()


@pytest.mark.parametrize("hold", HOLDS)
def test_a_name_with_parentheses_moves_no_field(tmp_path: Path, hold: Hold) -> None:
    with calling(tmp_path) as caller:
        peer = open_peer(caller.connection, hold=hold)
        started = peer.facts().started_ticks
        caller.order("become")
        until(
            lambda: peer.facts().executable == os.path.realpath("/bin/sleep"),
            "it has become another program",
            within_s=60,
        )
        stat = Path("/proc", str(peer.pid), "stat")
        # The kernel shows the program before it shows the name.
        until(lambda: b"(x) S 1 2 ()" in stat.read_bytes(), "it has its name", within_s=60)
        assert peer.facts().started_ticks == started
        peer.close()


def test_a_released_peer_is_refused(tmp_path: Path) -> None:
    with calling(tmp_path) as caller:
        peer = open_peer(caller.connection)
        peer.close()
        peer.close()
        with pytest.raises(AttestationError) as refused:
            peer.facts()
        assert refused.value.step == "alive"


def test_a_socket_that_names_nobody_is_refused() -> None:
    with socket.socket(socket.AF_INET) as connection, pytest.raises(AttestationError) as refused:
        open_peer(connection)
    assert refused.value.step == "credentials"


def test_a_caller_from_no_namespace_of_ours_is_refused() -> None:
    class Foreign(socket.socket):
        def getsockopt(self, *_: int) -> bytes:  # type: ignore[override]  # as SO_PEERCRED answers
            return struct.pack("iII", 0, 0, 0)

    with Foreign(socket.AF_UNIX) as connection, pytest.raises(AttestationError) as refused:
        open_peer(connection)
    assert refused.value.step == "credentials"
    assert "hostPID" in refused.value.why
