"""Lines of the log that are written again and again, and are new in their time alone."""

import logging
from collections.abc import Mapping
from types import MappingProxyType

from nemutator_common import names

NOTHING_MORE: Mapping[names.Key, object] = MappingProxyType({})


class RepeatedLine:
    """A line that is logged again and again with the same keys. It comes out like any other, and all of it
    but its time, and what is bound, is made once where the formatter can do so."""

    __slots__ = ("event", "keys", "level", "log", "made")

    def __init__(
        self, log: logging.Logger, level: int, event: str, keys: Mapping[names.Key, object]
    ) -> None:
        self.log, self.level, self.event, self.keys = log, level, event, keys
        self.made: tuple[object, str, str] | None = None
        """By a formatter: it, and what it has made."""

    def log_again(self, more: Mapping[names.Key, object] = NOTHING_MORE) -> None:
        """*more*: further keys of this time alone."""
        if not self.log.isEnabledFor(self.level):
            return
        handlers = logging.root.handlers
        if (
            len(handlers) == 1
            and isinstance(handlers[0], RepeatsLines)
            and handlers[0].repeat(self, more)
        ):
            return
        self.log.log(self.level, self.event, {**self.keys, **more} if more else self.keys)


class RepeatsLines(logging.Handler):
    """A handler that can write them."""

    def repeat(self, line: RepeatedLine, more: Mapping[names.Key, object] = NOTHING_MORE) -> bool:
        """Write *line*; False, and nothing has happened, when it has to come in the usual way."""
        return False


class RepeatingFormatter(logging.Formatter):
    """A formatter that makes most of a line once."""

    def format_again(
        self, line: RepeatedLine, more: Mapping[names.Key, object] = NOTHING_MORE
    ) -> str | None:
        """What `format` would make of *line* now; None when it has to."""
        return None
