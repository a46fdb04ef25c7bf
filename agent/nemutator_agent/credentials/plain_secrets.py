"""The same answers as those of `/v1/secret/<name>` in `http_api.py`, for plain requests and at once."""

from dataclasses import dataclass
from functools import lru_cache

from nemutator_common.serving.accepted_peer import AcceptedPeer
from nemutator_common.serving.plain_path import PlainAnswer
from nemutator_common.serving.plain_requests import PlainRequest

from nemutator_agent.credentials.connection_peer import UnknownPeer
from nemutator_agent.credentials.http_api import LARGE_BYTES
from nemutator_agent.credentials.ports import PodCallerHandler
from nemutator_agent.identity.peers import Peer

_PATH = "/v1/secret/"
_IS_RAW = {"": False, "raw=0": False, "raw=1": True}
_UNCACHED = "Cache-Control: no-store\r\n"


@dataclass(frozen=True, slots=True)
class PlainSecrets:
    handler: PodCallerHandler

    def answer(self, request: PlainRequest, peer: AcceptedPeer | None) -> PlainAnswer | None:
        """The secret that is asked for, where the node has it at hand and nothing is to be refused."""
        name, raw = _wanted(request)
        if not name:
            return None
        assert isinstance(peer, Peer | UnknownPeer)
        found = self.handler.secret_at_hand(peer, name, most=LARGE_BYTES)
        if found is None:
            return None
        body, content_type, marks = found.show(raw=raw)
        headers = _UNCACHED
        if marks:
            headers += "".join(f"{key}: {value}\r\n" for key, value in marks.items())
        return PlainAnswer(body, content_type, headers, found.record)


@lru_cache(maxsize=1024)
def _wanted(request: PlainRequest) -> tuple[str, bool]:
    """The name of a secret, and whether its value alone is wanted; no name where something else is."""
    path, query = request
    name = path.removeprefix(_PATH)
    raw = _IS_RAW.get(query)
    if raw is None or len(name) == len(path) or "/" in name:
        return "", False
    return name, raw
