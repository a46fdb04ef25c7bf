"""Run in a pid namespace of its own: who connected has ended, and its number is somebody else's.

Prints, for each way of holding on to a caller, or for those that are named, the step at which the
impostor was refused, and whether one was found out who had the number already at accept.
"""

import os
import socket
import sys
from pathlib import Path

from nemutator_agent.identity.failures import AttestationError
from nemutator_agent.identity.listen_queues import ListenQueues
from nemutator_agent.identity.peers import Hold, by_connection, by_number, open_peer

LAST_PID = Path("/proc/sys/kernel/ns_last_pid")

HOLDS: dict[str, Hold] = {"SO_PEERPIDFD": by_connection, "pidfd_open": by_number}


def main() -> int:
    for name in sys.argv[1:] or HOLDS:
        print(name, refused_at(HOLDS[name]), late(HOLDS[name]))
    return 0


def refused_at(hold: Hold) -> str:
    where = f"\0recycled-{os.getpid()}-{id(hold)}"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(where)
        listening.listen()
        go, wait = os.pipe()[::-1]
        caller = os.fork()
        if caller == 0:
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(where)
            os.read(wait, 1)
            os._exit(0)
        accepted, _ = listening.accept()
        peer = open_peer(accepted, hold=hold)
        assert peer.pid == caller
        peer.facts()
        os.write(go, b"x")
        os.waitpid(caller, 0)
        LAST_PID.write_text(str(caller - 1))
        impostor = os.fork()
        if impostor == 0:
            os.read(wait, 1)
            os._exit(0)
        try:
            assert impostor == caller, f"the number was not given again: {impostor}, not {caller}"
            peer.facts()
            return "nowhere"
        except AttestationError as refused:
            return refused.step
        finally:
            os.write(go, b"x")
            os.waitpid(impostor, 0)
            peer.close()
            accepted.close()


def late(hold: Hold) -> str:
    """Nobody accepts until the caller has ended and somebody else has its number."""
    queues = ListenQueues()
    where = f"\0late-{os.getpid()}-{id(hold)}"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(where)
        listening.listen()
        queues.add(listening)
        caller = os.fork()
        if caller == 0:
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(where)
            os._exit(0)
        os.waitpid(caller, 0)
        LAST_PID.write_text(str(caller - 1))
        wait, go = os.pipe()
        impostor = os.fork()
        if impostor == 0:
            os.read(wait, 1)
            os._exit(0)
        try:
            assert impostor == caller, f"the number was not given again: {impostor}, not {caller}"
            queues.poll()
            accepted, _ = listening.accept()
            with accepted:
                peer = open_peer(accepted, hold=hold, connected_after=queues.empty_at(listening))
                return "believed" if peer.facts().proven else "unproven"
        except AttestationError:
            return "refused"
        finally:
            os.write(go, b"x")
            os.waitpid(impostor, 0)


if __name__ == "__main__":
    sys.exit(main())
