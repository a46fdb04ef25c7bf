"""The page's pure modules, asked one by one in the browser that runs them."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.e2e.page_modules import Modules
from tests.fakes.console_brain import Json, node, process, workload


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
