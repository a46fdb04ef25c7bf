"""A question to a server of others and its whole answer, within a time: one that sends a byte now and then would be waited for
without end, as a socket's own timeout begins anew with each."""

import http.client
import socket
import threading
from collections.abc import Mapping
from contextlib import closing, suppress


def asked(
    connection: http.client.HTTPConnection,
    target: str,
    *,
    body: bytes | str,
    headers: Mapping[str, str],
    most: int,
    within_s: float,
) -> tuple[http.client.HTTPResponse, bytes]:
    """The response and its content, up to *most* bytes and one more. Raises what the connection raises, and `TimeoutError`;
    the caller closes it."""
    over, late = threading.Event(), f"it has not answered within {within_s:g} s"
    connection.connect()
    sock = connection.sock

    def end() -> None:
        over.set()
        # The socket's own: that of TLS would forget what is being read.
        with suppress(OSError):
            socket.socket.shutdown(sock, socket.SHUT_RDWR)

    timer = threading.Timer(within_s, end)
    timer.daemon = True
    timer.start()
    try:
        connection.request("POST", target, body=body, headers=dict(headers))
        response = connection.getresponse()
        with closing(response):
            content = response.read(most + 1)
    except (OSError, http.client.HTTPException):
        if over.is_set():
            raise TimeoutError(late) from None
        raise
    finally:
        timer.cancel()
    # What was cut off may look like a whole answer.
    if over.is_set():
        raise TimeoutError(late)
    return response, content
