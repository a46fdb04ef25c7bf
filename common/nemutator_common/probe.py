#!/usr/bin/python3 -IS
"""`nemutator-probe OPERATION SOCKET`: what kubelet runs in a container to ask a process how it is.

It ends with 0 when the process answers `healthz` or `readyz` with 200, and else with 1 and one line
that kubelet shows as an Event. Kubelet runs it again and again on each node, so it imports nothing
but what the interpreter has loaded or compiled in: `socket` alone would double its time.
"""

import sys
from _socket import AF_UNIX, SOCK_STREAM, socket

TIMEOUT_S = 10.0
LARGEST_RESPONSE = 4096


def ask(operation: str, path: str, *, timeout_s: float = TIMEOUT_S) -> tuple[bool, str]:
    """Whether the answer was 200, and what to show of it."""
    connection = socket(AF_UNIX, SOCK_STREAM)
    connection.settimeout(timeout_s)
    try:
        connection.connect(path)
        connection.sendall(
            f"GET /{operation} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode()
        )
        response = b""
        while len(response) < LARGEST_RESPONSE and (more := connection.recv(LARGEST_RESPONSE)):
            response += more
    except OSError as error:
        # A timeout has no strerror.
        return False, f"{path}: {error.strerror or error}"
    finally:
        connection.close()
    head, _, body = response.partition(b"\r\n\r\n")
    return head.split(b" ")[1:2] == [b"200"], body.decode("utf-8", "replace").strip()


def main(arguments: list[str]) -> int:
    if len(arguments) != 2:
        sys.stderr.write("usage: nemutator-probe healthz|readyz SOCKET\n")
        return 1
    well, shown = ask(*arguments)
    sys.stdout.write(f"{shown}\n")
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
