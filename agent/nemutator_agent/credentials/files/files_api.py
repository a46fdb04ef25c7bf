"""`GET /v1/files` on a pod's socket: the answer comes when all files of the pod are in its volume."""

from dataclasses import dataclass

from aiohttp import web
from nemutator_common.serving.connection import accepted_peer_of

from nemutator_agent.credentials.connection_peer import UnknownPeer
from nemutator_agent.credentials.files.following import FileFollower
from nemutator_agent.identity.peers import Peer

FILES_PATH = "/v1/files"


@dataclass(eq=False, slots=True)
class FilesApi:
    files: FileFollower

    def routes(self) -> list[web.RouteDef]:
        return [web.get(FILES_PATH, self._write, allow_head=False)]

    async def _write(self, request: web.Request) -> web.Response:
        peer = accepted_peer_of(request)
        assert isinstance(peer, Peer | UnknownPeer)
        caller = self.files.handler.admit(peer)
        written = await self.files.write(caller.files)
        return web.json_response({"files": written}, headers={"Cache-Control": "no-store"})
