from nemutator_controller.app.webhook import LIMITS

API_SERVER_IDLE_S = 90.0
"""For so long, Go's HTTP client keeps a connection that it does not use."""


def test_the_api_server_closes_an_idle_connection_before_we_do() -> None:
    assert LIMITS.idle_s > API_SERVER_IDLE_S
