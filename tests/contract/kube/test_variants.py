"""The line that says on which servers the suite has run."""

from tests.contract.kube.variants import ALONE, summary

HERE = "tests/contract/kube/test_api_server.py::test_it"


def test_it_tells_the_servers_apart_and_counts_what_only_the_fake_can() -> None:
    passed = [
        f"{HERE}[fake]",
        f"{HERE}[fake-apps-v1]",
        f"{HERE}[real]",
        f"{HERE}[cut-{ALONE}a real server does not]",
        f"{HERE}_without_a_server",
        "tests/contract/uplink/test_link.py::test_it[fake]",
    ]
    assert summary(passed).endswith(
        "on the fake server 2 tests, and 1 of what the real one cannot be made to do; on the real"
        " server 1 tests"
    )


def test_a_run_without_the_real_server_says_how_to_get_one() -> None:
    assert summary([f"{HERE}[fake]"]).endswith("on the real server none (make e2e runs them)")
    assert summary(["tests/contract/uplink/test_link.py::test_it[fake]"]) == ""
