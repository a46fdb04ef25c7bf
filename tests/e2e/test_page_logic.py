"""The page's pure modules, asked one by one in the browser that runs them."""

import json
import unicodedata
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import Browser, Page

from tests.fakes.console_brain import ORIGIN, FakeBrain, Json, node, points, process, workload
from tests.fakes.console_inventory import history


class Modules:
    """Calls exported functions by name: values in, values out."""

    def __init__(self, page: Page) -> None:
        self._page = page

    def run(self, module: str, body: str, *arguments: Any) -> Any:
        """Evaluate *body*, a JavaScript expression of the module's names and of `a`."""
        return self._page.evaluate(
            f"""async (a) => {{
                const m = await import("/{module}.js");
                return ((m, a) => {body})(m, a);
            }}""",
            list(arguments),
        )


@pytest.fixture(scope="module")
def modules(chromium: Browser) -> Iterator[Modules]:
    context = chromium.new_context()
    FakeBrain().serve(context)
    page = context.new_page()
    page.goto(f"{ORIGIN}/icon.svg")
    yield Modules(page)
    context.close()


@pytest.mark.parametrize(
    ("function", "value", "said"),
    [
        ("bytes", None, "—"),
        ("bytes", 0, "0 B"),
        ("bytes", 1023, "1023 B"),
        ("bytes", 1024, "1.0 KiB"),
        ("bytes", (1 << 20) - 1, "1.0 MiB"),
        ("bytes", 3 << 30, "3.0 GiB"),
        ("bytes", 5 << 60, "5120.0 PiB"),
        ("cores", None, "—"),
        ("cores", 0, "0.000"),
        ("cores", 0.0001, "<0.001"),
        ("cores", 1.25, "1.250"),
        ("percent", None, "—"),
        ("percent", 0, "0 %"),
        ("percent", 0.01, "<0.1 %"),
        ("percent", 1.26, "1.3 %"),
        ("percent", 12.6, "13 %"),
        ("span", None, "—"),
        ("span", -3, "0 s"),
        ("span", 119.4, "119 s"),
        ("span", 120, "2 min"),
        ("span", 7200, "2 h"),
        ("span", 172800, "2 d"),
        ("visible", "sh\u202e\n", "sh\\u{202e}\\u{a}"),
    ],
)
def test_a_value_is_said_in_few_letters_and_the_unknown_is_never_zero(
    modules: Modules, function: str, value: object, said: str
) -> None:
    assert modules.run("format", f"m.{function}(a[0])", value) == said


@pytest.mark.parametrize(
    ("name", "version", "said"),
    [
        ("go", "go1.26.8", "Go 1.26.8"),
        ("python", "3.11", "Python 3.11"),
        ("node", None, "Node.js"),
        ("constructor", None, "constructor"),
    ],
)
def test_a_runtime_is_called_what_people_call_it(
    modules: Modules, name: str, version: str | None, said: str
) -> None:
    assert modules.run("format", "m.runtime(a[0], a[1])", name, version) == said


@given(st.text())
def test_no_text_of_a_stranger_keeps_an_invisible_character(modules: Modules, text: str) -> None:
    said = modules.run("format", "m.visible(a[0])", text)
    assert not {"Cc", "Cf", "Cs", "Zl", "Zp"} & {unicodedata.category(one) for one in said}


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("API", {"api.service", "api"}),
        ("runtime:go", {"api.service", "api"}),
        ("runtime:python3.11", {"3f2a90c1d2e4", "gunicorn"}),
        ("kind:container", {"3f2a90c1d2e4"}),
        ("kind:container runtime:go", set()),
        ("kind:process -runtime:go -runtime:python", {"systemd", "sshd"}),
        ("pid:200", {"sshd"}),
        ("path:docker- kind:process", {"gunicorn"}),
        ("nonsense:go", set()),
        ("runtime:", set()),
        ("constructor:x", set()),
    ],
)
def test_a_filter_finds_what_all_its_words_ask_for(
    modules: Modules, typed: str, found: set[str]
) -> None:
    assert names_found(modules, node(), typed) == found


def names_found(modules: Modules, shown: Json, typed: str) -> set[str]:
    matching = modules.run(
        "tree",
        """import("/filter.js").then(({parse}) => {
            const found = [];
            const walk = (entries) => entries.forEach((entry) => {
                if (parse(a[1])(entry)) found.push(entry.name);
                walk(entry.children);
            });
            walk(m.build(a[0]));
            return found;
        })""",
        shown,
        typed,
    )
    return set(matching)


def test_an_empty_filter_asks_nothing(modules: Modules) -> None:
    assert modules.run("filter", "m.parse(a[0])", "  ") is None


@given(st.text())
def test_no_filter_that_a_person_can_type_fails(modules: Modules, typed: str) -> None:
    assert modules.run(
        "filter",
        """[m.parse(a[0])].every((matches) => matches === null ||
            typeof matches({name: "x", path: "/x", kind: "unit", pid: 1, script: "", runtimes: []})
                === "boolean")""",
        typed,
    )


def test_what_hangs_below_what_follows_the_paths(modules: Modules) -> None:
    shown = node(
        workloads=[
            workload("/", "root"),
            workload("/a.slice", "slice"),
            # /a.slice/b.slice is left out by the agent.
            workload("/a.slice/b.slice/c.service", "unit"),
        ],
        processes=[
            process(7, "c", "/a.slice/b.slice/c.service/worker"),
            process(8, "lost", "/elsewhere"),
            process(9, "nowhere", ""),
        ],
    )
    assert outline(modules, shown) == [
        "1 whole machine",
        "2 a.slice",
        "3 c.service",
        "4 c",
        "2 lost",
        "1 nowhere",
    ]


def test_a_folded_group_says_what_runs_in_it_and_one_of_groups_only_is_open(
    modules: Modules,
) -> None:
    shown = node(
        workloads=[workload("/outer", "group"), workload("/outer/inner", "group")],
        processes=[process(pid, f"p{pid % 5}", "/outer/inner") for pid in range(9)],
    )
    outer = modules.run("tree", "m.build(a[0])[0]", shown)
    (inner,) = outer["children"]
    assert (outer["detail"], outer["open"], outer["count"]) == ("group", True, 9)
    assert (inner["detail"], inner["open"]) == ("group · p0, p1, p2, …", False)


def test_programs_that_live_for_seconds_are_one_row_that_can_be_unfolded(modules: Modules) -> None:
    shown = node(
        workloads=[workload("/a", "unit"), workload("/b", "unit")],
        processes=[
            *(process(pid, f"sh{pid}", "/a", cpu_cores=0.25, started_at=95.0) for pid in (1, 2)),
            process(3, "stays", "/a", started_at=5.0),
            process(4, "new", "/b", started_at=99.0),
        ],
        seen_at=100.0,
    )
    a, b = modules.run("tree", "m.build(a[0])", shown)
    brief, stays = a["children"]
    assert (brief["name"], brief["cpu"], brief["open"]) == (
        "2 programs that live for seconds",
        0.5,
        False,
    )
    assert brief["detail"] == "sh1, sh2"
    assert stays["name"] == "stays"
    assert a["count"] == 3
    # One alone is no crowd.
    assert [child["name"] for child in b["children"]] == ["new"]
    assert outline(modules, shown, "sh2") == ["1 a", "2 2 programs that live for seconds", "3 sh2"]
    assert modules.run("tree", "m.summary(m.build(a[0]))", shown) == "2 groups, 4 processes"


def test_rows_of_one_program_are_told_apart_by_what_they_run(modules: Modules) -> None:
    scripts = ["/srv/shop/main.py", "-m gunicorn", None]
    shown = node(
        workloads=[workload("/a", "unit")],
        processes=[process(pid, "python3", "/a", script=one) for pid, one in enumerate(scripts)],
    )
    unit = modules.run("tree", "m.build(a[0])[0]", shown)
    assert unit["detail"] == "unit · python3, python3 -m gunicorn, python3 main.py"
    assert [child["detail"] for child in unit["children"]] == [
        "/srv/shop/main.py · pid 0",
        "-m gunicorn · pid 1",
        "pid 2",
    ]
    assert names_found(modules, shown, "kind:process gunicorn") == {"python3"}


def outline(modules: Modules, shown: Json, matching: str = "") -> list[str]:
    said = modules.run(
        "tree",
        """import("/filter.js").then(({parse}) => {
            const roots = m.build(a[0]);
            const all = a[1] ? m.narrow(roots, parse(a[1])) : roots;
            return m.flatten(all, {
                order: m.ordering("name", false),
                isOpen: (entry) => !a[1] || entry.open,
                limitOf: () => Infinity,
            }).map((row) => `${row.level} ${row.entry.name}`);
        })""",
        shown,
        matching,
    )
    assert isinstance(said, list)
    return said


def test_a_match_is_shown_with_its_way_down_and_can_be_unfolded(modules: Modules) -> None:
    assert outline(modules, node(), "gunicorn") == [
        "1 whole machine",
        "2 system.slice",
        "3 3f2a90c1d2e4",
        "4 gunicorn",
    ]
    assert outline(modules, node(), "kind:unit") == [
        "1 whole machine",
        "2 system.slice",
        "3 api.service",
        "3 ssh.service",
    ]


paths = st.lists(st.sampled_from("abc"), max_size=4).map(lambda parts: "/" + "/".join(parts))
machines = st.builds(
    lambda groups, leaves: node(
        workloads=[workload(path, "root" if path == "/" else "unit") for path in sorted(groups)],
        processes=[process(pid, f"p{pid}", path) for pid, path in enumerate(leaves)],
    ),
    st.sets(paths, max_size=12),
    st.lists(paths, max_size=12),
)


@given(machines)
def test_everything_is_shown_exactly_once(modules: Modules, shown: Json) -> None:
    assert len(outline(modules, shown)) == len(shown["workloads"]) + len(shown["processes"])


@given(machines, st.sampled_from(["a", "p1", "-a", "kind:process", "c p"]))
def test_narrowing_keeps_every_match_and_nothing_that_leads_to_none(
    modules: Modules, shown: Json, typed: str
) -> None:
    said = modules.run(
        "tree",
        """import("/filter.js").then(({parse}) => {
            const matches = parse(a[1]);
            const roots = m.build(a[0]);
            const kept = m.narrow(roots, matches);
            const leads = (entry) => matches(entry) || entry.children.some(leads);
            return [m.count(roots, matches), m.count(kept, matches), kept.every(leads)];
        })""",
        shown,
        typed,
    )
    before, after, all_lead = said
    assert before == after
    assert all_lead


def test_siblings_are_in_order_with_the_unknown_last_either_way(modules: Modules) -> None:
    for descending in (True, False):
        said = modules.run(
            "tree",
            """[{cpu: 1, name: "b", kind: "unit"}, {cpu: null, name: "x", kind: "unit"},
                {cpu: 9, name: "p", kind: "process"}, {cpu: 1, name: "a10", kind: "unit"},
                {cpu: 2, name: "c", kind: "unit"}, {cpu: 1, name: "a9", kind: "unit"}]
                .sort(m.ordering("cpu", a[0])).map((entry) => entry.name).join(" ")""",
            descending,
        )
        assert said == ("c a9 a10 b x p" if descending else "a9 a10 b c x p")


def test_the_document_stays_bounded_whatever_is_unfolded(modules: Modules) -> None:
    crowd = node(
        workloads=[workload("/", "root")]
        + [workload(f"/g{group}", "unit") for group in range(100)],
        processes=[process(pid, "p", f"/g{pid % 100}", started_at=0.0) for pid in range(5000)],
    )
    said = modules.run(
        "tree",
        """[40, Infinity].map((limit) => m.flatten(m.build(a[0]), {
            order: m.ordering("name", false), isOpen: () => true, limitOf: () => limit,
        }).map(({says}) => says ?? "")).map((rows) => [rows.length, rows.at(-1), rows[42]])""",
        crowd,
    )
    limited, unlimited = said
    assert limited[0] <= 1501
    assert limited[2] == "Show 10 more, 10 are hidden"
    assert unlimited[:2] == [1501, "Only 1500 rows are shown: fold some, or filter"]


moments = st.lists(st.integers(0, 9000).map(float), max_size=30)


@given(moments, moments)
def test_history_has_each_moment_once_in_order_and_no_more_than_an_hour(
    modules: Modules, known: list[float], fresh: list[float]
) -> None:
    merged = modules.run(
        "history",
        "m.merge(m.merge([], a[0].map((at) => ({at}))), a[1].map((at) => ({at}))).map((p) => p.at)",
        known,
        fresh,
    )
    newest = max(known + fresh, default=0)
    assert merged == sorted({at for at in known + fresh if at >= newest - 3600})


def test_a_line_stops_where_nobody_looked_or_nothing_is_known(modules: Modules) -> None:
    shown = points(10)
    shown[3]["cpu_cores"] = None
    del shown[6:8]  # A report or two that were lost are no gap yet.
    shown += points(5, until=shown[-1]["at"] + 600)
    runs = modules.run("history", "m.runs(a[0], 'cpu_cores').map((run) => run.length)", shown)
    assert runs == [3, 4, 5]


@given(st.lists(st.none() | st.floats(0, 1e12), max_size=40))
def test_a_drawing_stays_in_its_frame(modules: Modules, values: list[float | None]) -> None:
    shown = [{"at": 3.0 * index, "v": value} for index, value in enumerate(values)]
    drawn = modules.run("history", "m.drawing(a[0], 'v', 300, 56)", shown)
    numbers = [
        float(number)
        for path in drawn.values()
        for number in "".join(c if c in "0123456789.-" else " " for c in path).split()
    ]
    assert all(0 <= number <= 300 for number in numbers)
    assert "NaN" not in json.dumps(drawn)


def test_only_what_is_new_is_asked_for(modules: Modules) -> None:
    assert modules.run("history", "m.lacking([], 5000)") == 3600
    assert modules.run("history", "m.lacking([{at: 4990}], 5000)") == 15
    assert modules.run("history", "m.lacking([{at: 10}], 50000)") == 3600


def test_a_machine_is_drawn_with_its_gaps(modules: Modules) -> None:
    shown = points(10)
    shown[0]["cpu_cores"] = shown[4]["cpu_cores"] = None
    [cpu, memory] = modules.run("history", "m.lastHour(a[0])", shown)
    [used] = [layer["values"] for layer in cpu["layers"]]
    assert used[0] is None
    assert [value is None for value in used].count(True) == 2
    assert cpu["moments"] == sorted(cpu["moments"])
    assert (cpu["moments"][0], cpu["moments"][-1]) == (shown[0]["at"], shown[-1]["at"])
    assert memory["layers"][0]["values"] == [one["memory_used_bytes"] for one in shown]
    assert modules.run("history", "m.lastHour(a[0])", shown[:1]) == []


def test_what_stands_in_a_plot(modules: Modules) -> None:
    """A limit far above all use is told and not drawn; marks stand in the middle of their steps."""
    document = history(pods=[2.0] * 6)
    at = float(document["from_at"])
    demand = {"cpu_cores": {"request": 0.25, "limit": 9.0, "advised": None}}
    marks = {"changed": [2, 2], "deployed": [5], "busy": [True, True, False, False, True, False]}
    [cpu, _] = modules.run("plots", "m.plots(a[0], a[1], a[2])", document, demand, marks)
    assert [layer["name"] for layer in cpu["layers"]] == [
        "usual",
        "range",
        "request",
        "most",
        "mean",
    ]
    assert cpu["layers"][2]["values"] == [0.5] * 6
    assert cpu["words"].endswith("its limit is 9.000 cores, above this plot")
    assert cpu["marks"] == {
        "busy": [[at, at + 120], [at + 240, at + 300]],
        "deployed": [at + 330],
        "changed": [at + 150],
    }
    said = "m.plots(a[0], a[1], a[2])[0].at(2)"
    assert modules.run("plots", said, document, demand, marks) == {
        "amounts": "nothing is known of this moment",
        "events": "2 changes",
    }


WHOLE = {
    "from": 0.0,
    "to": 600.0,
    "step": 10.0,
    "moments": [10.0 * index + 5 for index in range(60)],
}
edges = st.floats(-900, 1500)


@given(edges, edges)
def test_what_is_zoomed_to_lies_in_what_is_known(
    modules: Modules, one: float, other: float
) -> None:
    wanted = sorted([one, other])
    shown = modules.run("timerange", "m.clipped(a[0], a[1])", wanted, WHOLE)
    if shown is not None:
        assert 0 <= shown[0] <= shown[1] <= 600
        assert 30 <= shown[1] - shown[0] < 600
        first, last = modules.run("timerange", "m.within(a[0], a[1])", WHOLE["moments"], shown)
        assert 0 <= first <= last < 60


@given(edges, st.floats(0, 600), st.sampled_from([0.5, 2, 1e9]))
def test_zooming_leaves_the_moment_that_is_read_in_sight(
    modules: Modules, begin: float, around: float, factor: float
) -> None:
    before = modules.run("timerange", "m.clipped(a[0], a[1])", [begin, begin + 200], WHOLE)
    shown = modules.run(
        "timerange", "m.scaled(a[0], a[1], a[2], a[3])", before, around, factor, WHOLE
    )
    if shown is None:
        assert factor > 1
    else:
        assert -0.001 <= shown[0] < shown[1] <= 600.001
        inside = before is None or before[0] <= around <= before[1]
        assert not inside or shown[0] - 0.001 <= around <= shown[1] + 0.001


@given(st.lists(st.integers(0, 100), min_size=1, unique=True).map(sorted), st.floats(-10, 110))
def test_the_moment_that_is_read_is_the_nearest(
    modules: Modules, moments: list[int], at: float
) -> None:
    index = modules.run("timerange", "m.nearest(a[0], a[1])", moments, at)
    assert abs(moments[index] - at) == min(abs(moment - at) for moment in moments)


def test_an_axis_says_the_day_at_midnight_and_where_days_are_apart(modules: Modules) -> None:
    midnight = "new Date(2026, 4, 9).getTime() / 1000"
    said = f"m.timeLabels([{midnight}, {midnight} + 3600], a[0])"
    [day, hour] = modules.run("timerange", said, 3600)
    assert "9" in day
    assert "1" in hour
    assert ":" in hour
    assert ":" not in day
    assert all("9" in label for label in modules.run("timerange", said, 86400))
