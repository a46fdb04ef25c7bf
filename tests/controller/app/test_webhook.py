from itertools import islice

from nemutator_controller.app.webhook import LIMITS, fresh_ids

API_SERVER_IDLE_S = 90.0
"""For so long, Go's HTTP client keeps a connection that it does not use."""


def test_the_api_server_closes_an_idle_connection_before_we_do() -> None:
    assert LIMITS.idle_s > API_SERVER_IDLE_S


def test_no_two_decisions_have_the_same_id() -> None:
    ids = list(islice(fresh_ids(), 1_000))
    assert len(set(ids)) == len(ids)
    assert all(len(each) == 16 and int(each, 16) >= 0 for each in ids)
