"""What a person does with any list: narrow it, sort it, send its address, save it, and read a change."""

import csv
import io
import json
from pathlib import Path

import pytest
import yaml
from playwright.sync_api import Page, expect

from tests.e2e.accessibility import SCHEMES, Scheme, complaints
from tests.e2e.page_modules import Modules
from tests.fakes.console_brain import ORIGIN, FakeBrain, Json
from tests.fakes.console_inventory import workload_item
from tests.fakes.console_lists import advice, mutation

MUTATIONS = "/api/v1/mutations"
EVIL = '"><img src=x>\n- a: b'


def row(key: str, *texts: str) -> Json:
    return {"key": key, "cells": [{"text": text} for text in texts]}


COLUMNS = ["Workload", "Memory request", "State"]
ROWS = [
    row("a", "shop/api", "2.0 GiB", "done"),
    row("b", "shop/web:8080", "900.0 MiB", "refused"),
    row("c", "jobs/batch", "—", "done"),
]


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("shop", ["a", "b"]),
        ("SHOP -api", ["b"]),
        ("state:done", ["a", "c"]),
        ("-state:done", ["b"]),
        ("memory>1GiB", ["a"]),
        ("memory-request<1G", ["b"]),
        ("mem<3Gi state:done", ["a"]),
        ("web:8080", ["b"]),
        ("nothing:else", []),
        ("id:c", ["c"]),
        (">3", []),
        ("-", []),
        ("  ", ["a", "b", "c"]),
    ],
)
def test_a_list_is_narrowed_by_words_columns_and_amounts(
    modules: Modules, typed: str, found: list[str]
) -> None:
    body = "a[0].filter(m.parse(a[1], a[2]) ?? (() => true)).map(({ key }) => key)"
    assert modules.run("listfilter", body, ROWS, typed, COLUMNS) == found


@pytest.mark.parametrize(
    ("texts", "rising"),
    [
        (["2.0 GiB", "—", "900.0 MiB", "10 B"], ["10 B", "900.0 MiB", "2.0 GiB", "—"]),
        (["3 min ago", "50 s ago", "2 d ago"], ["50 s ago", "3 min ago", "2 d ago"]),
        (["used 10.000 cores", "used 9.000 cores"], ["used 9.000 cores", "used 10.000 cores"]),
        (["worker-10", "worker-9", "—"], ["worker-9", "worker-10", "—"]),
    ],
)
def test_a_column_is_sorted_by_what_it_amounts_to(
    modules: Modules, texts: list[str], rising: list[str]
) -> None:
    body = "m.sorted(a[0], { column: 0, descending: a[1] }).map(({ cells }) => cells[0].text)"
    rows = [row(str(index), text) for index, text in enumerate(texts)]
    assert modules.run("listfilter", body, rows, False) == rising
    known = [text for text in rising if text != "—"]
    unknown = ["—"] * (len(rising) - len(known))
    assert modules.run("listfilter", body, rows, True) == [*reversed(known), *unknown]


def test_a_saved_file_holds_every_text_and_no_formula(modules: Modules) -> None:
    rows = [row("a", 'say "x", y\nz', "=HYPERLINK(1)", "-4.5"), row("b", "@x", "—", "-a")]
    text = modules.run("exported", "m.csv(a[0], a[1])", ["A", "B", "C"], rows)
    assert list(csv.reader(io.StringIO(text))) == [
        ["A", "B", "C"],
        ['say "x", y\nz', "'=HYPERLINK(1)", "-4.5"],
        ["'@x", "", "'-a"],
    ]


@pytest.mark.parametrize("kind", ["Deployment", "CronJob", "program"])
def test_advice_is_written_as_a_manifest_whatever_the_names_are(
    modules: Modules, kind: str
) -> None:
    one = advice(
        owner_kind=kind,
        owner=EVIL,
        container="- no: yes",
        limits={"cpu": None, "memory": "241M"},
    )
    document = yaml.safe_load(modules.run("advice", "m.yaml(a[0])", one))
    wanted = {"requests": {"cpu": "260m", "memory": "241M"}, "limits": {"memory": "241M"}}
    if kind == "program":
        assert document == {"resources": wanted}
        return
    assert document["metadata"] == {"name": EVIL, "namespace": "shop"}
    spec = document["spec"] if kind == "Deployment" else document["spec"]["jobTemplate"]["spec"]
    [container] = spec["template"]["spec"]["containers"]
    assert container == {"name": "- no: yes", "resources": wanted}


def test_savings_are_those_of_all_and_not_of_what_was_sent(modules: Modules) -> None:
    totals = {
        "containers": 400,
        "requested_cpu_cores": 10.0,
        "used_cpu_cores": 2.5,
        "freed_cpu_cores": 7.5,
        "requested_memory_bytes": 10 << 30,
        "used_memory_bytes": 2 << 30,
        "freed_memory_bytes": -(1 << 30),
    }
    assert modules.run("advice", "m.savings(a[0])", totals) == (
        "400 containers with a request and advice: you request 10 cores and use 2.50 cores (p95); "
        "you request 10.0 GiB of memory and use 2.0 GiB at most. "
        "Following the advice frees 7.50 cores and 1.0 GiB more."
    )
    assert modules.run("advice", "m.savings(a[0])", {**totals, "containers": 0}) == ""
    assert modules.run("advice", "m.savings(undefined)") == ""


@pytest.mark.parametrize(
    ("typed", "asked"),
    [
        ("", None),
        ("-test memory>2Gi state:firm", None),
        ("workload:api -test", {"search": "api", "besides": False}),
        ("WORKLOAD:api firm workload:shop", {"search": "api shop", "besides": False}),
        ("-workload:api", None),
        ("api  Shop -test cpu>1", {"search": "api Shop", "besides": True}),
        ("x" * 300, {"search": "x" * 200, "besides": True}),
        ("node:n1", {"search": "n1", "besides": False}),
    ],
)
def test_the_brain_is_asked_for_names_among_all(
    modules: Modules, typed: str, asked: Json | None
) -> None:
    key = "node" if typed.startswith("node:") else "workload"
    assert modules.run("searching", "m.searchOf(a[0], a[1])", typed, key) == asked


def test_what_a_search_finds_stands_once_beside_what_was_there(modules: Modules) -> None:
    join = "m.joined(a[0], a[1], (item) => item.name)"
    first = {"items": [{"name": "a"}, {"name": "b"}], "remaining": 7, "totals": {"x": 1}}
    found = {"items": [{"name": "b"}, {"name": "z"}], "remaining": 0}
    assert modules.run("searching", join, first, found) == {
        "items": [{"name": "a"}, {"name": "b"}, {"name": "z"}],
        "remaining": 6,
        "totals": {"x": 1},
    }


def test_a_change_is_read_as_a_diff_with_its_policy_and_its_reason(
    page: Page, brain: FakeBrain
) -> None:
    edit = {"path": "metadata.labels[team]", "before": ["<b>"], "after": ["x\u202e"]}
    brain.lists[MUTATIONS] = [mutation(edits=[{**edit, "policy": "teams", "reason": "labels"}])]
    page.goto(f"{ORIGIN}/#mutations")
    page.get_by_role("button", name="Diff").click()
    lines = page.locator("#details-lines li")
    expect(lines).to_have_text(
        ["metadata.labels[team]", '"<b>"', '"x\\u{202e}"', "by teams: labels"]
    )
    signs = [line.get_attribute("data-sign") for line in lines.all()]
    assert signs == ["path", "-", "+", "note"]
    page.keyboard.press("Escape")
    expect(page.locator("#details")).to_be_hidden()


def test_what_is_typed_is_in_the_address_and_the_address_narrows(
    page: Page, brain: FakeBrain
) -> None:
    brain.lists[MUTATIONS] = [mutation(), mutation(id="m2", state="conflict")]
    page.goto(f"{ORIGIN}/#mutations/state%3Aconflict")
    rows = page.locator("#list-rows tr")
    expect(rows).to_have_count(1)
    expect(page.locator("#list-filter")).to_have_value("state:conflict")
    page.locator("#list-filter").fill("state:observed now")
    expect(page).to_have_url(f"{ORIGIN}/#mutations/state%3Aobserved%20now")
    page.locator("#list-filter").fill("")
    expect(page).to_have_url(f"{ORIGIN}/#mutations")
    expect(rows).to_have_count(2)
    page.goto(f"{ORIGIN}/#profiles/shop%20api")
    expect(page.locator("#ask input[name=target]")).to_have_value("shop api")
    page.wait_for_function("document.title.startsWith('Profiles')")
    assert any("search=shop+api" in query for query in brain.queries)


def test_a_list_is_sorted_and_saved_as_it_is_shown(page: Page, brain: FakeBrain) -> None:
    brain.lists["/api/v1/workloads"] = [
        workload_item(name=f"api-{n}", restarts=n) for n in range(3)
    ]
    page.goto(f"{ORIGIN}/#workloads")
    names = page.locator("#list-rows td:first-child")
    expect(names).to_have_text(["shop/api-0", "shop/api-1", "shop/api-2"])
    heading = page.get_by_role("button", name="Workload", exact=True)
    heading.click()
    expect(names).to_have_text(["shop/api-2", "shop/api-1", "shop/api-0"])
    expect(page.locator("#list-head th").first).to_have_attribute("aria-sort", "descending")
    page.locator("#list-filter").fill("-api-1")
    for kind in ("CSV", "JSON"):
        with page.expect_download() as saved:
            page.get_by_role("button", name=kind, exact=True).click()
        path = Path(saved.value.path())
        assert saved.value.suggested_filename == f"nemutator-workloads.{kind.lower()}"
        content = path.read_text()
        if kind == "JSON":
            assert [item["name"] for item in json.loads(content)] == ["api-2", "api-0"]
        else:
            firsts = [line[0] for line in csv.reader(io.StringIO(content))]
            assert firsts == ["Workload", "shop/api-2", "shop/api-0"]


def test_all_that_are_asked_for_are_taken_back_after_their_plans_were_seen(
    page: Page, brain: FakeBrain
) -> None:
    brain.lists[MUTATIONS] = [mutation(id=f"m{n}") for n in range(3)] + [
        mutation(id="m9", state="reversed")
    ]

    def path(number: int, plan: str) -> str:
        return f"{MUTATIONS}/m{number}/rollback?plan={plan}"

    step = {"path": "metadata.labels[team]", "live": ["x"], "before": [], "what": "is removed"}
    reverse = {**step, "verdict": "reverse", "way": "patch"}
    pod = {**step, "verdict": "reverse", "way": "new pod"}
    brain.answers[path(0, "true")] = (200, {"steps": [reverse, {**step, "verdict": "conflict"}]})
    brain.answers[path(1, "true")] = (409, {"error": "it is gone", "remedy": "nothing to do"})
    brain.answers[path(2, "true")] = (200, {"steps": [reverse, pod]})
    brain.answers[path(0, "false")] = (200, {"state": "partly", "object": {"name": "api-0"}})
    brain.answers[path(2, "false")] = (200, {"state": "reversed", "object": {"name": "api-0"}})
    page.goto(f"{ORIGIN}/#mutations")
    page.get_by_role("button", name="Take back all 3 …").click()
    expect(page.locator("#rollback-outcome")).to_have_text(
        "2 of 3 can be taken back, without evicting a pod."
    )
    expect(page.locator("#rollback-steps > li > span")).to_have_text(
        [
            "1 field to take back, 1 in conflict",
            "it is gone → nothing to do",
            "2 fields to take back, a part stays until the pod is replaced",
        ]
    )
    assert all("plan=true" in target for target, _ in brain.posted)
    page.get_by_role("button", name="Take back", exact=True).click()
    expect(page.locator("#list-outcome")).to_have_text("1 partly, 1 reversed")
    assert [target for target, _ in brain.posted[3:]] == [path(0, "false"), path(2, "false")]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_everybody_can_read_why_and_take_the_manifest(
    page: Page, brain: FakeBrain, scheme: Scheme
) -> None:
    brain.lists["/api/v1/advice"] = [advice()]
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"{ORIGIN}/#advice")
    page.get_by_role("button", name="Why").click()
    expect(page.locator("#details-lines")).to_contain_text("should request 260m")
    assert complaints(page) == []
    page.get_by_role("button", name="Close").click()
    page.get_by_role("button", name="YAML").click()
    expect(page.locator("#details-lines")).to_contain_text("kind: Deployment")
    page.get_by_role("button", name="Copy").click()
    expect(page.locator("#details-outcome")).not_to_be_empty()
