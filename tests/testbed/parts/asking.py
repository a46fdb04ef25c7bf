"""One question to a daemon on loopback."""

import contextlib
import http.client
import json
import ssl
from pathlib import Path

from tests.testbed.running.ports import LOOPBACK

CALL_S = 60.0


def ask(
    port: int,
    path: str,
    *,
    ca_file: Path,
    token: str,
    method: str = "GET",
    given: object = None,
) -> tuple[int, str]:
    """Status and body; OSError when nobody answers. What is *given* goes as JSON."""
    context = ssl.create_default_context(cafile=str(ca_file))
    connection = http.client.HTTPSConnection(LOOPBACK, port, timeout=CALL_S, context=context)
    with contextlib.closing(connection):
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        body = None if given is None else json.dumps(given)
        connection.request(method, path, body=body, headers=headers)
        response = connection.getresponse()
        return response.status, response.read().decode()


def is_well(port: int, path: str, *, tls: bool = False) -> bool:
    """Whether a daemon says so itself; of its certificate nothing is asked."""
    unchecked = ssl.create_default_context()
    unchecked.check_hostname = False
    unchecked.verify_mode = ssl.CERT_NONE
    connection = (
        http.client.HTTPSConnection(LOOPBACK, port, timeout=CALL_S, context=unchecked)
        if tls
        else http.client.HTTPConnection(LOOPBACK, port, timeout=CALL_S)
    )
    with contextlib.closing(connection):
        try:
            connection.request("GET", path)
            return connection.getresponse().status == http.client.OK
        except (OSError, http.client.HTTPException):
            return False
