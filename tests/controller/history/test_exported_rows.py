from nemutator_controller.history.exported_rows import COLUMNS, exported_rows, is_settled
from nemutator_controller.history.usage_history import UsageHistory

from tests.controller.history.points import NOW, history, pod, points, quarters, settle

BEGIN = NOW - NOW % 3600


def used(minutes: int, *owners: str) -> UsageHistory:
    usage = history()
    pods = [pod(owner) for owner in owners]
    for minute in range(minutes):
        moment = BEGIN + 60 * minute
        told = [
            one
            for of in range(len(pods))
            for one in quarters(moment, 4, cpu=(of + 1) * 0.25, memory=1e9, of=of)
        ]
        usage.learn("n", points(pods, told), now=moment + 60)
        settle(usage, moment + 60)
    return usage


def lines(usage: UsageHistory, begin: float, end: float) -> list[dict[str, str | None]]:
    rows = range(usage.rows.used)
    found = exported_rows(usage, rows, begin=begin, end=end)
    return [dict(zip(COLUMNS, row, strict=True)) for row in found]


def test_an_hour_has_a_line_for_each_container_and_five_minutes() -> None:
    usage = used(100, "a", "b")
    assert is_settled(usage, BEGIN + 3600)
    found = lines(usage, BEGIN, BEGIN + 3600)
    assert len(found) == 2 * 12
    of_b = [one for one in found if one["owner"] == "b"]
    assert [one["time"] for one in of_b[:2]] == ["2023-11-14T22:00:00Z", "2023-11-14T22:05:00Z"]
    first = of_b[0]
    assert (first["namespace"], first["owner_kind"], first["container"]) == (
        *("shop", "Deployment", "app"),
    )
    assert first["pods"] == "1"
    assert abs(float(first["cpu_cores_mean"] or 0) - 0.5) < 0.001
    assert abs(float(first["memory_bytes_most"] or 0) / 1e9 - 1) < 0.001
    assert "e" not in (first["memory_bytes_most"] or "")
    # Nobody has reported the network.
    assert first["network_received_mean"] is None


def test_time_in_which_nothing_was_reported_has_no_line() -> None:
    usage = used(40, "a")
    settle(usage, BEGIN + 4 * 3600)
    assert len(lines(usage, BEGIN, BEGIN + 3600)) == 8
    assert lines(usage, BEGIN + 3600, BEGIN + 7200) == []
    # It is so long ago that another time is in its place.
    assert lines(usage, BEGIN - 7 * 86_400, BEGIN - 7 * 86_400 + 3600) == []


def test_an_hour_that_still_changes_is_not_settled() -> None:
    assert not is_settled(used(80, "a"), BEGIN + 3600)
    assert not is_settled(history(), BEGIN)
