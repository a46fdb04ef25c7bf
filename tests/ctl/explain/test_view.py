from typing import Any

from nemutator_ctl.explain.histogram import Drawing
from nemutator_ctl.explain.view import chosen, decode, decode_histograms, nothing_of, view

NAMES = {"namespace": "shop", "owner_kind": "Deployment", "owner": "cart", "container": "app"}
USED = {
    "items": [
        {
            **NAMES,
            "cpu": [[0.04, 0.05, 0.5], [0.05, 0.06, 0.25], [0.19, 0.2, 0.25]],
            "memory_peaks": [1 << 20, 2 << 20, 2 << 20],
        }
    ]
}


def item(**changed: Any) -> dict[str, Any]:
    return {
        "namespace": "shop",
        "owner_kind": "Deployment",
        "owner": "cart",
        "container": "app",
        "strategy": "nemutator",
        "state": "firm",
        "reason": "no limit of memory before a day: 2 h of data",
        "points": 480,
        "span_s": 7_200.0,
        "use": {"cpu_p50": 0.05, "cpu_p95": 0.2, "memory_p95": 1, "memory_max": 2 << 20},
        "requests_now": {"cpu": "500m", "memory": None},
        "requests": {"cpu": "200m", "memory": "230M"},
        "limits": {"cpu": None, "memory": None},
        "lower": {"cpu": "50m", "memory": "200M"},
        "upper": {"cpu": "2600m", "memory": "990M"},
        **changed,
    }


def test_it_tells_what_was_seen_and_what_follows_from_it() -> None:
    assert view(decode({"items": [item()]})).splitlines() == [
        "shop Deployment/cart app: firm, by the strategy nemutator",
        "  seen      480 points over 2h",
        "  CPU       half of the time up to 50m; the busiest replica's percentile 200m",
        "            requests 500m, recommended 200m, may stay between 50m and 2600m",
        "            used half of the time ████ 50m",
        f"            used at most times    {'█' * 16} 200m",
        f"            requested             {'█' * 40} 500m",
        f"            recommended           {'█' * 16} 200m",
        "  memory    largest peak 2Mi",
        "            requests nothing, recommended 230M, may stay between 200M and 990M",
        "            largest peak ▍ 2Mi",
        f"            recommended  {'█' * 40} 230M",
        "  limits    CPU none, memory none",
        "  because   no limit of memory before a day: 2 h of data",
    ]


def test_what_a_policy_is_told_that_follows_use_hourly_is_said_with_its_reason() -> None:
    hour = {"strategy": "nemutator-hourly", "cpu": "120m", "reason": "from 14:00 UTC on: 90m"}
    text = view(decode({"items": [item(hourly={**hour, "begins_at": 0, "changes": 2})]}))
    assert text.splitlines()[-1] == (
        "  hourly    CPU 120m by nemutator-hourly, from 14:00 UTC on: 90m"
    )
    text = view(decode({"items": [item(hourly={**hour, "cpu": None, "reason": "too young"})]}))
    assert text.splitlines()[-1] == (
        "  hourly    CPU by the advice above, and not by nemutator-hourly: too young"
    )
    assert "hourly" not in view(decode({"items": [item(hourly=None)]}))


def test_the_margin_of_memory_is_told_where_it_counts() -> None:
    use = {**item()["use"], "memory_margin": 2.125}
    assert "largest peak 2Mi, times 2.12 after 2h of data\n" in view(
        decode({"items": [item(use=use)]})
    )
    nothing = item(use=use, requests={"cpu": "1m", "memory": None})
    assert "times 2.12" not in view(decode({"items": [nothing]}))


def test_of_a_workload_that_is_known_the_containers_are_named() -> None:
    rows = decode({"items": [item(), item(container="proxy")]})
    assert nothing_of("web", None, []) == "nothing was reported of 'web'"
    program = decode({"items": [item(container="-")]})
    assert nothing_of("shop", "app", program) == "shop has no containers: leave out 'app'"
    assert nothing_of("cart", "ap", rows) == (
        "cart has no container 'ap' of which anything was reported: it has app, proxy"
    )


def test_what_is_requested_in_plain_bytes_is_shown_in_units_also_without_a_recommendation() -> None:
    amounts = {
        "requests_now": {"cpu": None, "memory": "268435456"},
        "requests": {"cpu": "1m", "memory": None},
    }
    text = view(decode({"items": [item(**amounts)]}), decode_histograms(USED), Drawing(columns=62))
    assert "requests 256Mi, and no amount is recommended" in text
    assert "requested 256Mi ▶" in text
    assert "268435456" not in text


def test_how_often_it_used_how_much_is_drawn_with_its_marks() -> None:
    rows, used = decode({"items": [item()]}), decode_histograms(USED)
    lines = view(rows, used, Drawing(columns=62)).splitlines()
    begin = lines.index("            how much of the time it used how much CPU:")
    assert [line[12:] for line in lines[begin + 1 : begin + 12]] == [
        "    █",
        "    █",
        "    ██             █",
        "    ██             █",
        "─────┴──────────────┴────────────────────────────┴",
        "     ▲ p50 50m",
        "                    ▲ p95 200m",
        "                    ▲ max 200m",
        "                    ▲ recommended 200m",
        "                                  requested 500m ▲",
        "  memory    largest peak 2Mi"[12:],
    ]
    assert "            on how many days its peak was how large:" in lines


def test_in_a_terminal_without_unicode_nothing_else_is_used() -> None:
    rows, used = decode({"items": [item()]}), decode_histograms(USED)
    assert view(rows, used, Drawing(columns=10, unicode=False)).isascii()


def test_a_workload_is_found_by_its_name_with_or_without_its_kind() -> None:
    rows = decode({"items": [item(), item(container="side"), item(owner="web")]})
    assert len(chosen(rows, "cart", None)) == 2
    assert len(chosen(rows, "Deployment/cart", "side")) == 1
    assert len(chosen(rows, "deployment/cart", "side")) == 1
    assert chosen(rows, "StatefulSet/cart", None) == []
    assert chosen(rows, "Deployment/Cart", None) == []


def test_kills_stops_and_a_missing_amount_are_said() -> None:
    use = item()["use"] | {"kills": 3, "throttled": 0.2}
    nothing = {"cpu": None, "memory": None}
    text = view(decode({"items": [item(use=use, requests=nothing, owner="\x1b[2J")]}))
    assert "killed 3 times" in text
    assert "stopped at its limit in 20% of the time" in text
    assert text.count("no amount is recommended") == 2
    assert "\x1b" not in text


def test_what_its_runtime_makes_of_it_is_the_last_line() -> None:
    text = view(decode({"items": [item(remarks=["set -Xmx to \x1b384MiB"])]}))
    assert text.splitlines()[-1].startswith("  remark    set -Xmx to ")
    assert "\x1b" not in text
