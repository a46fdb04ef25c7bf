"""WATCH: changes as lines of JSON, from a version on or after everything that there is."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.kube.encoding import encoded
from tests.fakes.kube.kinds import Kind
from tests.fakes.kube.selection import NotAVersionError, Selection, View, version_of
from tests.fakes.kube.statuses import ApiError, Cause, invalid_options, too_old, unexplained
from tests.fakes.kube.store import Change, Store

Json = dict[str, Any]

INITIAL_EVENTS_END = "k8s.io/initial-events-end"


@dataclass(slots=True, eq=False)
class Watch:
    """One watch request while it runs; a test may disturb it, see `controls.py`."""

    store: Store
    kind: Kind
    chosen: Selection
    shown: View
    bookmarks: bool
    timeout_s: float | None
    bookmark_s: float
    injected: deque[bytes] = field(default_factory=deque)
    cut: bool = False
    """Close the connection in the middle, as a proxy that dies does."""
    stalled: bool = False
    """Say nothing any more and keep the connection open."""
    ending: bool = False
    """End in good order once what is injected has been sent."""
    bookmark_now: bool = False
    version: int = 0
    initial: bool = False
    initial_end: bool = False

    async def lines(self) -> AsyncIterator[bytes]:
        """Until the time is over, or `cut`; an error of the history is a line of its own."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self.timeout_s if self.timeout_s is not None else None
        bookmark_at = loop.time() + self.bookmark_s
        if self.initial:
            for line in self._initial():
                yield line
        while not self.cut:
            now = loop.time()
            if not self.stalled:
                for line in self._news():
                    yield line
                while self.injected:
                    yield self.injected.popleft()
                if self.ending:
                    return
                if self.version < self.store.oldest(self.kind) and self._missed():
                    yield self.error(too_old(self.version, self.store.version))
                    return
                if self.bookmark_now or (self.bookmarks and now >= bookmark_at):
                    self.bookmark_now = False
                    yield self.bookmark()
            if now >= bookmark_at:
                bookmark_at = now + self.bookmark_s
            if deadline is not None and now >= deadline:
                return
            until = bookmark_at if deadline is None else min(bookmark_at, deadline)
            await self.store.changed(self._has_news, max(0.0, until - now))

    def bookmark(self, annotations: Mapping[str, str] | None = None) -> bytes:
        noted = {"annotations": dict(annotations)} if annotations else {}
        metadata = {"resourceVersion": str(self.version), "creationTimestamp": None, **noted}
        return _line("BOOKMARK", self.shown.of(self.kind, {"metadata": metadata}))

    def error(self, error: ApiError) -> bytes:
        return _line("ERROR", error.status)

    def _initial(self) -> list[bytes]:
        self.version = self.store.version
        lines = [
            _line("ADDED", self.shown.of(self.kind, manifest))
            for manifest in self.store.all(self.kind)
            if self.chosen.takes(manifest)
        ]
        if self.initial_end and self.bookmarks:
            lines.append(self.bookmark({INITIAL_EVENTS_END: "true"}))
        return lines

    def _has_news(self) -> bool:
        if self.cut:
            return True
        asked = self.injected or self.ending or self.bookmark_now
        return not self.stalled and bool(asked or self.version < self.store.version)

    def _missed(self) -> bool:
        """Whether the history was cut off before this watch had seen it all."""
        return self.version < self.store.version

    def _news(self) -> list[bytes]:
        if self.version < self.store.oldest(self.kind):
            return []
        changes = self.store.changes_after(self.kind, self.version)
        self.version = self.store.version
        return [line for change in changes if (line := self._told(change))]

    def _told(self, change: Change) -> bytes | None:
        """As this selection sees it: entering it is ADDED and leaving it is DELETED."""
        before = change.previous is not None and self.chosen.takes(change.previous)
        now = change.type != "DELETED" and self.chosen.takes(change.object)
        if now:
            type_ = "MODIFIED" if before else "ADDED"
            return _line(type_, self.shown.of(self.kind, change.object))
        if not before or change.previous is None:
            return None
        metadata = {**change.previous["metadata"], "resourceVersion": str(change.version)}
        last = {**change.previous, "metadata": metadata}
        return _line("DELETED", self.shown.of(self.kind, last))


def open_watch(
    store: Store,
    kind: Kind,
    chosen: Selection,
    shown: View,
    query: Mapping[str, str],
    *,
    bookmark_s: float,
    watch_list: bool,
) -> Watch:
    """What the parameters ask for, or the refusal that the real server gives."""
    initial_end = _initial_events(query, watch_list=watch_list)
    wanted = query.get("resourceVersion", "")
    try:
        version = version_of(wanted or "0")
    except NotAVersionError as error:
        raise unexplained(str(error)) from error
    timeout = query.get("timeoutSeconds")
    initial = initial_end or (version == 0 and "sendInitialEvents" not in query)
    return Watch(
        store=store,
        kind=kind,
        chosen=chosen,
        shown=shown,
        bookmarks=query.get("allowWatchBookmarks") in ("true", "1"),
        timeout_s=float(timeout) if timeout else None,
        bookmark_s=bookmark_s,
        version=version or store.version,
        initial=initial,
        initial_end=initial_end,
    )


def _initial_events(query: Mapping[str, str], *, watch_list: bool) -> bool:
    match = query.get("resourceVersionMatch", "")
    asked = query.get("sendInitialEvents")
    if asked is None:
        if match:
            raise invalid_options(
                "ListOptions",
                _forbidden(
                    "resourceVersionMatch",
                    "resourceVersionMatch is forbidden for watch unless sendInitialEvents is"
                    " provided",
                ),
            )
        return False
    causes: list[Cause] = []
    if match != "NotOlderThan":
        why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
        causes.append(_forbidden("resourceVersionMatch", why))
        if match:
            why = f'Unsupported value: "{match}": supported values: "NotOlderThan"'
            causes.append(("FieldValueNotSupported", "resourceVersionMatch", why))
    elif not watch_list:
        why = (
            "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled"
        )
        causes.append(_forbidden("sendInitialEvents", why))
    if causes:
        raise invalid_options("ListOptions", *causes)
    return asked in ("true", "1")


def _forbidden(field_: str, why: str) -> Cause:
    return "FieldValueForbidden", field_, f"Forbidden: {why}"


def _line(type_: str, manifest: Json) -> bytes:
    return encoded({"type": type_, "object": manifest}) + b"\n"
