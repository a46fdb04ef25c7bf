"""The fake API server without HTTP: its store behind the informer's port, and ways to disturb it."""

import contextlib
import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterator

from nemutator_controller.kube.calls import Call
from nemutator_controller.kube.failures import KubeError, UnavailableError, from_answer

from tests.fakes.kube.kinds import PODS
from tests.fakes.kube.listing import list_objects
from tests.fakes.kube.selection import View, selection
from tests.fakes.kube.statuses import ApiError
from tests.fakes.kube.store import Store
from tests.fakes.kube.watching import Watch, open_watch

EVERYTHING, WHOLE = selection(PODS, "", {}), View()


class InProcess:
    """A `Transport` whose server may refuse, cut, lose answers and restart, when a test says so."""

    def __init__(self, store: Store, *, watch_list: bool, page: int) -> None:
        self._store = store
        self._watch_list = watch_list
        self._page = page
        self._watches: list[Watch] = []
        self.down = 0
        """So many calls from now on find nobody."""
        self.cut_after: int | None = None
        """The next stream breaks after so many lines, in the middle of one."""

    async def send(self, call: Call) -> bytes:
        query = {**call.query, "limit": str(self._page)}
        with self._answering(call):
            return json.dumps(list_objects(self._store, PODS, EVERYTHING, WHOLE, query)).encode()

    @contextlib.asynccontextmanager
    async def stream(self, call: Call, *, idle_s: float) -> AsyncIterator[AsyncIterator[bytes]]:
        # No time passes here: a watch ends when a test ends it.
        query = {key: value for key, value in call.query.items() if key != "timeoutSeconds"}
        with self._answering(call):
            watch = open_watch(
                self._store, PODS, EVERYTHING, WHOLE, query,
                bookmark_s=3600, watch_list=self._watch_list,
            )  # fmt: skip
        self._watches.append(watch)
        try:
            async with contextlib.aclosing(self._chunks(call, watch)) as chunks:
                yield chunks
        finally:
            self._watches.remove(watch)

    def cut(self) -> None:
        for watch in self._watches:
            watch.cut = True
        self._store.wake()

    def bookmark(self) -> None:
        """As the server sends one: only to a watch that has told everything."""
        for watch in self._watches:
            if watch.version == self._store.version:
                watch.injected.append(watch.bookmark())
        self._store.wake()

    def say(self, line: bytes) -> None:
        for watch in self._watches:
            watch.injected.append(line)
        self._store.wake()

    async def _chunks(self, call: Call, watch: Watch) -> AsyncGenerator[bytes, None]:
        lines = watch.lines()
        try:
            async for line in lines:
                if self.cut_after is not None:
                    self.cut_after -= 1
                    if self.cut_after < 0:
                        self.cut_after = None
                        yield line[: len(line) // 2]
                        raise UnavailableError(call.asked, "cut in the middle of a line")
                half = len(line) // 3
                yield line[:half]
                yield line[half:]
        finally:
            await lines.aclose()  # type: ignore[attr-defined]
        raise UnavailableError(call.asked, "cut")

    @contextlib.contextmanager
    def _answering(self, call: Call) -> Iterator[None]:
        if self.down > 0:
            self.down -= 1
            raise UnavailableError(call.asked, "nobody is there")
        try:
            yield
        except ApiError as error:
            raise _as_error(call, error) from error


def _as_error(call: Call, error: ApiError) -> KubeError:
    status = error.status
    return from_answer(call.asked, status["code"], json.dumps(status).encode())
