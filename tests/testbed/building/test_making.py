import threading
from collections.abc import Callable
from pathlib import Path

from tests.testbed.building import making
from tests.testbed.building.cache import Cache, MissingPartError
from tests.testbed.building.made import PARTS
from tests.testbed.building.making import Workshop
from tests.testbed.building.recipes import Recipe


class Bench:
    """Three parts, of which some cannot be made, and what was said and made meanwhile."""

    def __init__(self, folder: Path, *, impossible: frozenset[str] = frozenset()) -> None:
        self.cache = Cache(folder)
        self.said: list[str] = []
        self.made: list[str] = []
        self.impossible = impossible

    def make(self, *names: str, say: Callable[[str], None] | None = None) -> bool:
        workshop = Workshop(
            recipes={name: self._recipe(name) for name in ("node", "vault", "kube")},
            makers=dict.fromkeys(("node", "vault", "kube"), self._make),
        )
        return making.make_all(names, self.cache, say or self.said.append, workshop)

    def make_one(self, name: str) -> None:
        self._make(self._recipe(name)(), self.cache, self.said.append)

    def _recipe(self, name: str) -> Callable[[], Recipe]:
        return lambda: Recipe(name, {}, estimate_s=1, room_gb=0)

    def _make(self, recipe: Recipe, cache: Cache, say: Callable[[str], None]) -> None:
        self.made.append(recipe.part)
        with cache.making(recipe):
            if recipe.part in self.impossible:
                raise MissingPartError("needs root")


def test_what_is_missing_is_made_in_the_order_of_the_parts(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    assert bench.make("node", "vault", "kube")
    assert bench.made == ["node", "vault", "kube"]


def test_what_is_there_is_not_made_again(tmp_path: Path) -> None:
    assert Bench(tmp_path).make("vault")
    bench = Bench(tmp_path)
    assert bench.make("node", "vault", "kube")
    assert bench.made == ["node", "kube"]


def test_when_all_is_there_nothing_is_said_and_nothing_waited_for(tmp_path: Path) -> None:
    assert Bench(tmp_path).make("node", "vault")
    bench = Bench(tmp_path)
    with Cache(tmp_path).locked(bench.said.append):
        assert bench.make("node", "vault")
    assert bench.said == []
    assert bench.made == []


def test_what_cannot_be_made_is_told_and_the_rest_is_made(tmp_path: Path) -> None:
    bench = Bench(tmp_path, impossible=frozenset({"node"}))
    assert not bench.make("node", "vault", "kube")
    assert bench.said == ["node: needs root"]
    assert bench.made == ["node", "vault", "kube"]


def test_what_another_build_made_meanwhile_is_not_made_again(tmp_path: Path) -> None:
    first, second, waiting = Bench(tmp_path), Bench(tmp_path), threading.Event()
    answers: list[bool] = []

    def say(line: str) -> None:
        assert line.startswith("another build works in ")
        waiting.set()

    thread = threading.Thread(target=lambda: answers.append(second.make("vault", say=say)))
    with first.cache.locked(say):
        thread.start()
        assert waiting.wait(timeout=60)
        first.make_one("vault")
    thread.join(timeout=60)
    assert answers == [True]
    assert second.made == []


def test_a_cache_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    bench = Bench(tmp_path / "file")
    assert not bench.make("vault")
    assert "remedy: TESTBED_CACHE=" in bench.said[0]


def test_there_is_a_maker_for_every_part() -> None:
    assert set(making.MAKERS) == set(PARTS)
