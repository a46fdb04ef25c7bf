"""Which symbols the brain was told of: each once, as long as nothing suggests that it lacks them."""

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from nemutator_common.windows import (
    MOST_SYMBOLS,
    FunctionSymbol,
    SiteSymbol,
    SymbolFrame,
    WindowSymbols,
)

MOST_SENT = 32_768
"""Ids of 16 characters, about 4 MiB."""
AGAIN_S = 6 * 3600.0
"""All are sent anew after so long: the brain may have another database by now."""


@dataclass(slots=True)
class SentSymbols:
    node: str
    most: int = MOST_SENT
    _sent: OrderedDict[str, None] = field(default_factory=OrderedDict, init=False)
    _since: float = field(default=0.0, init=False)
    _dropped: int = field(default=0, init=False)

    def missing(
        self,
        sites: Mapping[str, tuple[SymbolFrame, ...]],
        functions: Mapping[str, FunctionSymbol],
        *,
        now: float,
        dropped: int,
    ) -> Iterator[WindowSymbols]:
        """The records to send before a reading with these ids; *dropped*: how many records were lost so
        far on the way."""
        if dropped != self._dropped or now >= self._since + AGAIN_S:
            self._sent.clear()
            self._since, self._dropped = now, dropped
        new_sites = [SiteSymbol(one, frames) for one, frames in sites.items() if self._is_new(one)]
        new = [one for identity, one in functions.items() if self._is_new(identity)]
        for at in range(0, len(new_sites), MOST_SYMBOLS):
            yield WindowSymbols(node=self.node, sites=tuple(new_sites[at : at + MOST_SYMBOLS]))
        for at in range(0, len(new), MOST_SYMBOLS):
            yield WindowSymbols(node=self.node, functions=tuple(new[at : at + MOST_SYMBOLS]))

    def _is_new(self, identity: str) -> bool:
        is_new = identity not in self._sent
        self._sent[identity] = None
        self._sent.move_to_end(identity)
        if len(self._sent) > self.most:
            self._sent.popitem(last=False)
        return is_new
