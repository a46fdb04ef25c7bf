"""What a newcomer sees in the first minutes: each command that `up` prints, exactly as printed."""

import json
import os
import re
import shlex
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import copy2

import psutil
import pytest
from nemutator_common.errors import ExitCode
from playwright.sync_api import Page, expect

from tests.e2e.standing import COMMAND, START_S, Person, Ran, Standing, standing, starting
from tests.house.tree import REPOSITORY
from tests.processes import alive
from tests.testbed.running.waiting import until

SAMPLE = REPOSITORY / "scripts" / "sample"

PROFILED_S = 120.0
"""Of 10 s, after the sample was recognised as Go."""

ADVISED_S = 120.0
COMMAND_S = 120.0

AGED_S = 600.0
"""The leak takes a minute to pass the floor, and has had the time of all the tests before. With a
load of 17 on two CPUs, 280 s were not enough."""

# Advice needs eight summaries: of a quarter of a minute each, outside of tests. A process is read for
# the first time once it is a minute old, then twice a minute, and for two and a half minutes; and Go's
# runtime records one leak in thirty of this size, where its own setting does not have it record all. A
# test machine runs other Go programs, whose readings come out of the same budget.
QUICK = Person(environment={
    "NEMUTATOR_OBSERVE_INTERVAL_S": "0.5",
    "NEMUTATOR_OBSERVE_SUMMARY_S": "1",
    "NEMUTATOR_OBSERVE_WINDOW_AGE_S": "1",
    "NEMUTATOR_OBSERVE_WINDOW_EVERY_S": "5",
    "NEMUTATOR_OBSERVE_WINDOW_CPU_PERCENT": "100",
    "NEMUTATOR_BRAIN_AGEING_AFTER_S": "20",
    "GODEBUG": "memprofilerate=4096",
})  # fmt: skip

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may sample with BPF")


@dataclass(frozen=True, slots=True)
class Shown:
    up: Standing

    def command(self, job: str) -> str:
        """The command line that was printed last for *job*."""
        printed: list[str] = re.findall(rf"^    {job} {{2,}}(\S.*)$", self.up.said(), re.MULTILINE)
        return printed[-1]

    def typed(self, job: str, *, answer: str | None = None, more: str = "") -> Ran:
        """What comes of typing it, with *more* behind, where `up` was started."""
        line = self.command(job) + more
        person, terminal = os.openpty()
        try:
            os.write(person, f"{answer}\n".encode() if answer else b"\x04")
            done = subprocess.run(
                ["sh", "-c", line],
                stdin=terminal,
                capture_output=True,
                text=True,
                timeout=COMMAND_S,
                check=False,
                cwd="/",
                env={**os.environ, **(self.up.person.environment or {})},
                user=self.up.person.uid,
                group=self.up.person.uid,
                extra_groups=None if self.up.person.uid is None else [],
            )
        finally:
            os.close(terminal)
            os.close(person)
        print(f"$ {line}\n{done.stdout}{done.stderr}")
        return Ran(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="module")
def built() -> Path:
    """The sample, which takes a while to build the first time."""
    done = subprocess.run([SAMPLE, "--path"], check=True, capture_output=True, text=True)
    return REPOSITORY / done.stdout.strip()


@pytest.fixture(scope="module")
def shown(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    folder = tmp_path_factory.mktemp("first-commands")
    with standing(folder, "--sample", str(SAMPLE), person=QUICK) as up:
        up.wait_until(lambda: "  Try\n" in up.said(), "commands to try", within_s=START_S)
        yield Shown(up)
        # Its own end proves that nothing stays behind, the sample included.


def test_the_page_stands_before_there_is_anything_to_try(shown: Shown) -> None:
    said = shown.up.said()
    assert 0 < said.index("  Open   http://") < said.index("  Try\n")


def test_a_secret_is_read_by_the_printed_curl(shown: Shown) -> None:
    ran = shown.typed("a secret")
    assert ran.code == 0
    assert '"hello from nemutator"' in ran.stdout


def test_a_secret_is_in_the_environment_of_a_command(shown: Shown) -> None:
    words = ("--env", "GREETING=greeting", "--", "printenv", "GREETING")
    assert shown.up.run("exec", *words).stdout == "hello from nemutator\n"
    gone = shown.up.run("exec", "--env", "GREETING=nope", "--", "printenv", "GREETING")
    assert gone.code == ExitCode.NOT_STARTED


@as_root
def test_a_profile_names_the_functions_of_the_sample(shown: Shown) -> None:
    shown.up.wait_until(lambda: "  Seen\n" in shown.up.said(), "a profile", within_s=PROFILED_S)
    folded = shown.up.output.with_name("shop.folded")
    # The last of two options counts.
    ran = shown.typed("a profile", more=f" --seconds 10 -o {folded}")
    assert ran.code == 0, ran.stderr
    lines = folded.read_text().splitlines()
    priced = [line for line in lines if "main.priceBasket" in line]
    assert any("main.withTax" in line or "main.item.total" in line for line in priced), lines[:20]
    assert "main.serveVisitors;main.priceBasket" in priced[0]


def test_advice_is_given_for_the_sample(shown: Shown) -> None:
    def row() -> str:
        ran = shown.typed("advice")
        assert ran.code == 0, ran.stderr
        return next((row for row in ran.stdout.splitlines() if "/shop " in row), "")

    shown.up.wait_until(lambda: "provisional" in row(), "advice on shop", within_s=ADVISED_S)
    # A tenth of one core, as its source says; a busy machine makes it less, or its bursts denser.
    millis = re.search(r"(\d+)m ", found := row())
    assert millis is not None
    assert 20 <= int(millis[1]) <= 1100, found


def test_a_mutation_is_taken_back_after_one_yes(shown: Shown) -> None:
    mutation = shown.command("a rollback").split()[-1]
    refused = shown.typed("a rollback", answer="n")
    assert refused.code != 0
    assert "nothing was done" in refused.stderr
    assert shown.up.api(f"/api/v1/mutations/{mutation}").document["state"] != "reversed"
    assert shown.typed("a rollback", answer="y").code == 0
    assert shown.up.api(f"/api/v1/mutations/{mutation}").document["state"] == "reversed"


def test_what_the_sample_wastes_is_on_the_page(shown: Shown, page: Page) -> None:
    page.goto(shown.up.another_link())
    page.locator('#views a[href="#advice"]').click()
    row = page.locator("#list-rows tr").filter(has_text=re.compile(r"/shop\b")).filter(has_text="→")
    expect(row.first).to_contain_text(re.compile(r"\d+ cores"))


def test_a_mutation_is_taken_back_on_the_page(shown: Shown, page: Page, tmp_path: Path) -> None:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "of-the-page", "namespace": "sample"},
        "spec": {"containers": [{"name": "app", "image": "example.com/app:1"}]},
    }
    manifest = tmp_path / "pod.json"
    manifest.write_text(json.dumps(pod))
    assert shown.up.run("apply", str(manifest)).code == 0
    page.goto(shown.up.another_link())
    page.locator('#views a[href="#mutations"]').click()
    row = page.locator("#list-rows tr").filter(has_text="of-the-page")
    row.get_by_role("button", name="Take back …").click()
    expect(page.locator("#rollback-steps")).to_contain_text("metadata.labels[team]")
    page.get_by_role("button", name="Take back", exact=True).click()
    expect(page.locator("#list-outcome")).to_have_text("of-the-page: reversed")
    expect(row.get_by_role("button", name="Take back …")).to_have_count(0)
    labels = shown.up.api("/api/v1/objects").document["items"]
    assert not [one for one in labels if one["name"] == "of-the-page" and one.get("labels")]


@as_root
def test_the_flame_graph_of_the_sample_opens_from_the_page(shown: Shown, page: Page) -> None:
    shown.up.wait_until(lambda: "  Seen\n" in shown.up.said(), "a profile", within_s=PROFILED_S)
    page.goto(shown.up.another_link())
    page.locator('#views a[href="#profiles"]').click()
    expect(page.locator("#list-rows tr").last).to_contain_text("shop (pid ")
    with page.context.expect_page() as opening:
        page.locator("#list-rows tr").last.get_by_text("flame graph").click()
    graph = opening.value
    expect(graph.locator("#functions")).to_contain_text("main.priceBasket")
    graph.locator("#search").fill("main.priceBasket")
    expect(graph.locator("#matches")).to_contain_text("samples")


def readme_commands() -> list[tuple[str, ...]]:
    """What the README says to type beside a `make run`, one command for each job."""
    _, _, section = (REPOSITORY / "README.md").read_text().partition("## One command for each job")
    block = section.partition("```sh\n")[2].partition("```")[0]
    return [tuple(line.split()[1:]) for line in block.splitlines()]


@as_root
@pytest.mark.parametrize("words", readme_commands(), ids=" ".join)
def test_each_command_of_the_readme_works(shown: Shown, words: tuple[str, ...]) -> None:
    shown.up.wait_until(lambda: "  Seen\n" in shown.up.said(), "a profile", within_s=PROFILED_S)
    (pid,) = re.findall(r"pid:\d+", shown.command("a profile"))
    done = subprocess.run(
        # By its name others are meant, too: those that other tests have started on this machine.
        [*COMMAND, *(pid if word == "shop" else word for word in words)],
        input="a value\n",
        capture_output=True,
        text=True,
        timeout=COMMAND_S,
        check=False,
        env={**os.environ, "NEMUTATOR_DATA_DIR": str(shown.up.data_dir)},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_a_set_changes_the_file_and_wakes_the_watch_of_the_readme(shown: Shown) -> None:
    readme = (REPOSITORY / "README.md").read_text()
    keep, watch = re.findall(
        r"^\.venv/bin/nemutator (secret set .* --file|secret watch .*)$", readme, re.MULTILINE
    )
    environment = {**os.environ, "NEMUTATOR_DATA_DIR": str(shown.up.data_dir)}

    def set_to(value: str) -> str:
        return subprocess.run(
            [*COMMAND, *keep.split()],
            input=value,
            capture_output=True,
            text=True,
            timeout=COMMAND_S,
            check=True,
            env=environment,
        ).stdout

    (where,) = re.findall(r", in (/\S+)$", set_to("one"))
    assert Path(where).read_text() == "one"
    with subprocess.Popen(
        [*COMMAND, *watch.split()],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    ) as watcher:
        try:
            assert watcher.stderr is not None
            assert watcher.stdout is not None
            assert "watching" in watcher.stderr.readline()
            version = re.findall(r"version \d+", set_to("two"))[0]
            assert watcher.stdout.readline() == f"db: {version}\n"
            assert Path(where).read_text() == "two"
        finally:
            watcher.terminate()


@as_root
@pytest.mark.timeout(900)  # longer than what it waits for
def test_that_the_sample_leaks_is_told_unasked_by_terminal_api_command_and_page(
    shown: Shown, page: Page
) -> None:
    up = shown.up
    leak = re.compile(
        r"shop: leak \(provisional\): (?:heap grows since its start, \d+\.\d MB/min"
        r"|memory grows since its start, \d+\.\d MB/min, \d+\.\d MB/min of it)"
        r" in main\.\(\*sessions\)\.remember, main\.go:(\d+)"
    )
    up.wait_until(lambda: leak.search(up.said()), "the leak of shop", within_s=AGED_S)
    (line,) = {*leak.findall(up.said())}
    source = (REPOSITORY / "deploy" / "sample" / "main.go").read_text().splitlines()
    assert "make([]byte, leakBytes)" in source[int(line) - 1]

    items = up.api("/api/v1/ageing").document["items"]
    # Others may run one, too: the machine belongs to nobody alone.
    shops = [one for one in items if one["workload"]["program"] == "shop"]
    (item,) = [one for one in shops if _shops(up) & _processes(up, one["id"])]
    assert (item["verdict"], item["state"]) == ("leak", "provisional")
    assert leak.match(item["sentence"])
    assert len(item["points"]) >= 6
    assert [item["stack"][0][0], item["stack"][-1][0]] == [
        item["sites"][0]["function"],
        "runtime.main",
    ]
    # Of its source's 4.9 MB a minute; a busy machine makes it less.
    assert 0.2e6 < item["sites"][0]["rate_bytes_per_min"] < 8e6

    told = up.run("ageing", item["id"])
    print(told.stdout)
    assert leak.match(told.stdout)

    page.goto(up.another_link())
    page.locator('#views a[href="#ageing"]').click()
    row = page.locator("#list-rows tr").filter(has=page.locator(f'a[href*="{item["id"]}"]'))
    expect(row).to_contain_text("shop in ")
    expect(row).to_contain_text("leak (provisional)")
    expect(row).to_contain_text("MB/min")
    expect(row).to_contain_text(f"main.(*sessions).remember main.go:{line}")
    with page.context.expect_page() as opening:
        row.get_by_text("what grew").click()
    expect(opening.value.locator("#functions")).to_contain_text("main.(*sessions).remember")

    reasons = [one["reason"] for one in up.api("/api/v1/advice").document["items"]]
    assert "this memory grows: see ageing" in " ".join(reasons)


def test_the_sample_ends_with_up_even_when_that_is_killed(built: Path, tmp_path: Path) -> None:
    with starting(tmp_path, "--sample", str(built)) as up:
        up.wait_until(lambda: _shops(up), "the sample", within_s=START_S)
        shops = _shops(up)
        up.process.send_signal(signal.SIGKILL)
        up.process.wait()
        until(lambda: not alive(shops), "the sample's end", within_s=60)


def test_the_memory_of_the_sample_is_bounded() -> None:
    done = subprocess.run([SAMPLE, "--test"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ok" in done.stderr


def test_an_ordinary_user_is_told_why_there_is_no_profile(
    built: Path, open_folder: Path, home: Path, ordinary: Person
) -> None:
    shop = open_folder / "shop"
    copy2(built, shop)
    command = open_folder / "nemutator"
    command.write_text(f'#!/bin/sh\nexec {shlex.join(map(str, ordinary.command))} "$@"\n')
    command.chmod(0o755)
    path = {"PATH": f"{open_folder}:/usr/bin:/bin"}
    ordinary = replace(ordinary, environment={**(ordinary.environment or {}), **path})
    with standing(home, "--privileges", "never", "--sample", str(shop), person=ordinary) as up:
        up.wait_until(
            lambda: "  Not shown\n" in up.said(), "what is not shown", within_s=PROFILED_S
        )
        shown = Shown(up)
        print(up.said())
        refused = r"  Not shown\n    the profile was refused: .*\n      remedy: .*as root.*\n"
        assert re.search(refused, up.said())
        assert "    a profile " not in up.said(), "it cannot work"
        assert '"hello from nemutator"' in shown.typed("a secret").stdout
        assert shown.typed("advice").code == 0
        assert shown.typed("a rollback", more=" --yes").code == 0
        assert "Traceback" not in up.said()


def _processes(up: Standing, workload: str) -> set[int]:
    """Those that a workload's figures are of."""
    series = up.api(f"/api/v1/ageing/{workload}").document["series"]
    return {one["pid"] for one in series}


def _shops(up: Standing) -> set[int]:
    def named(pid: int) -> bool:
        try:
            return psutil.Process(pid).name() == "shop"
        except psutil.NoSuchProcess:
            return False

    return {pid for pid in up.family() if named(pid)}
