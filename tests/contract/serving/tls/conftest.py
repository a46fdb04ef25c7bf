"""With TLS there is one way more: with buffers of the caller's own."""

from collections.abc import Iterator

import pytest

from tests.fakes.listeners import Listener


@pytest.fixture(
    autouse=True, params=[(True, False), (False, False), (True, True)],
    ids=["plain", "parsed", "buffered"],
)  # fmt: skip
def _way(request: pytest.FixtureRequest) -> Iterator[None]:
    """In place of the two of all other contracts."""
    Listener.answers_plainly, Listener.few_callers = request.param
    yield
    Listener.answers_plainly, Listener.few_callers = True, False
