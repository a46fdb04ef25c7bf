import fcntl
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from nemutator_common.settings import resolve
from nemutator_ctl.settings import CtlSettings

from tests.testbed.building import cache as caching
from tests.testbed.building.cache import GIGABYTE, Cache, MissingPartError
from tests.testbed.building.recipes import Recipe
from tests.testbed.parts.machine.machine import ACCELERATOR
from tests.testbed.running.leftovers import MARK, RUNS

REPOSITORY = Path(__file__).parents[3]

# A build that is killed in the middle; its part is that of recipe().
KILLED = """
import os, sys
from pathlib import Path
from tests.testbed.building.cache import Cache
from tests.testbed.building.recipes import Recipe

cache = Cache(Path(sys.argv[1]))
with cache.locked(print), cache.making(Recipe("vault", {"input": b"1"}, 1, 15)) as folder:
    (folder / "file").write_text("half")
    with cache.scratch("vault"):
        os.kill(os.getpid(), 9)
"""


def recipe(part: str = "vault", content: bytes = b"1", room_gb: int = 15) -> Recipe:
    return Recipe(part, {"input": content}, estimate_s=1, room_gb=room_gb)


def silent(line: str) -> None:
    raise AssertionError(f"nothing was to be said, and this was: {line}")


def make(cache: Cache, made: Recipe) -> Path:
    with cache.locked(silent), cache.making(made) as folder:
        (folder / "file").write_text("made")
    return cache.folder(made)


def test_what_is_not_made_is_missing_and_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(MissingPartError, match="vault is not built yet; remedy: make testbed"):
        Cache(tmp_path).folder(recipe())


def test_what_is_made_is_found(tmp_path: Path) -> None:
    folder = make(Cache(tmp_path / "not" / "there" / "yet"), recipe())
    assert (folder / "file").read_text() == "made"
    assert folder.stat().st_mode & 0o777 == 0o755


def test_nothing_is_found_before_the_end(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    with cache.locked(silent), cache.making(recipe()):
        assert not cache.has(recipe())
    assert cache.has(recipe())


def test_a_failed_build_leaves_nothing(tmp_path: Path) -> None:
    cache = Cache(tmp_path)

    def fail() -> None:
        with (
            cache.locked(silent),
            cache.making(recipe()) as folder,
            cache.scratch("vault") as scratch,
        ):
            (folder / "file").write_text("half")
            (scratch / "objects").mkdir()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert [path.name for path in tmp_path.iterdir()] == ["lock"]


def test_a_killed_build_is_not_taken_for_a_finished_one_and_goes_with_the_next(
    tmp_path: Path,
) -> None:
    cache = Cache(tmp_path)
    killed = subprocess.run([sys.executable, "-c", KILLED, tmp_path], cwd=REPOSITORY, check=False)
    assert killed.returncode == -signal.SIGKILL
    left = sorted(path.name for path in tmp_path.iterdir() if path.name != "lock")
    assert len(left) == 2
    assert not cache.has(recipe())
    said: list[str] = []
    with cache.locked(said.append):
        assert [path.name for path in tmp_path.iterdir()] == ["lock"]
    assert sorted(said) == [f"removing what a killed build has left: {name}" for name in left]


def test_older_keys_of_the_part_go_when_a_new_one_is_made(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    older, newer = recipe(content=b"1"), recipe(content=b"2")
    # Its name begins with that of the part, and it is another.
    neighbour = recipe(part="vault-plugins")
    for each in (older, neighbour, newer):
        make(cache, each)
    assert cache.has(newer)
    assert cache.has(neighbour)
    assert not cache.has(older)


def test_a_failed_build_keeps_the_older_key(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    older = recipe(content=b"1")
    make(cache, older)
    with (
        pytest.raises(ZeroDivisionError),
        cache.locked(silent),
        cache.making(recipe(content=b"2")),
    ):
        raise ZeroDivisionError
    assert cache.has(older)


def test_a_second_build_says_that_it_waits_and_goes_on_after_the_first(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    waiting, order = threading.Event(), []

    def second() -> None:
        def say(line: str) -> None:
            order.append(line)
            waiting.set()

        with Cache(tmp_path).locked(say):
            order.append("second")

    thread = threading.Thread(target=second)
    with cache.locked(silent):
        thread.start()
        assert waiting.wait(timeout=60)
        order.append("first ends")
    thread.join(timeout=60)
    assert order[0].startswith("another build works in ")
    assert order[1:] == ["first ends", "second"]


def test_the_lock_is_free_after_a_failure(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), Cache(tmp_path).locked(silent):
        raise ZeroDivisionError
    with (tmp_path / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_cache_that_cannot_be_written_names_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = Cache(tmp_path / "file" / "cache")
    with pytest.raises(MissingPartError, match="TESTBED_CACHE="), cache.locked(silent):
        pass


def test_a_full_disk_is_told_with_what_there_is_and_what_is_needed() -> None:
    told = caching.disk_shortage(recipe(), 14_960_000_000)
    assert told == "making vault needs 15 GB, and 14.9 GB are free"
    assert caching.disk_shortage(recipe(), 15 * GIGABYTE) == ""


def test_a_disk_that_is_too_small_names_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(MissingPartError, match="TESTBED_CACHE=") as raised:
        Cache(tmp_path).check_disk(recipe(room_gb=10**9))
    assert str(tmp_path) in str(raised.value)
    Cache(tmp_path).check_disk(recipe(room_gb=0))


@pytest.mark.parametrize("variable", [caching.VARIABLE, MARK, RUNS, ACCELERATOR])
def test_commands_of_the_product_take_no_variable_of_the_testbed_for_a_setting(
    variable: str,
) -> None:
    resolve(CtlSettings, file={}, environment={variable: "/x"}, flags={})


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"TESTBED_CACHE": "/disk/cache", "XDG_CACHE_HOME": "/x"}, Path("/disk/cache")),
        ({"TESTBED_CACHE": "", "XDG_CACHE_HOME": "/x"}, Path("/x/nemutator")),
        ({}, Path.home() / ".cache" / "nemutator"),
    ],
)
def test_the_cache_is_where_the_user_says(environment: dict[str, str], expected: Path) -> None:
    assert caching.directory(environment) == expected
