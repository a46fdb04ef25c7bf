"""One request and its response, on the standard library's client.

A command asks once and should answer at once: importing an asynchronous client takes longer than
the rest of the command.
"""

import http.client

from nemutator_common.secret import Secret

from nemutator_ctl.api import ApiResponse

ANSWER_S = 30.0
"""For an answer, on a machine that is very slow."""

LARGEST_ANSWER = 64 << 20
"""Thousands of nodes with all of their processes: no response of ours is larger."""


def exchange(
    connection: http.client.HTTPConnection,
    method: str,
    target: str,
    *,
    body: bytes | None,
    token: Secret,
) -> ApiResponse:
    """Raises what the connection raises; the caller closes it."""
    headers = {"Connection": "close", "Authorization": f"Bearer {token.reveal()}"}
    connection.request(method, target, body=body, headers=headers)
    response = connection.getresponse()
    content = response.read(LARGEST_ANSWER + 1)
    if len(content) > LARGEST_ANSWER:
        raise http.client.HTTPException(f"an answer larger than {LARGEST_ANSWER} bytes")
    return ApiResponse(response.status, content)


def reason(error: Exception) -> str:
    """Why an exchange failed, for people: an `OSError`'s own text repeats its number."""
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
