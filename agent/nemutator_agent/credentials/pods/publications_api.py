"""The API by which the mount process brings publications (`nemutator_agent.publications`)."""

import re
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass

import msgspec
from aiohttp import web
from nemutator_common.errors import OperatorError

from nemutator_agent.credentials.pods.publishing import PodPublisher
from nemutator_agent.publications import (
    INSTANCE_PATH,
    PUBLICATIONS_PATH,
    Instance,
    Publication,
)

_VOLUME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_LONGEST = 4096
_LONGEST_NAME = 253


@dataclass(eq=False, slots=True)
class PublicationsApi:
    """It is served on a socket that only root of the agent's own pod can open."""

    publisher: PodPublisher
    learn_pods_root: Callable[[str], None]
    """Raises a ValueError, which says what to do, when the place of pods is still not known."""
    _: KW_ONLY
    instance: str

    def routes(self) -> list[web.RouteDef]:
        return [
            web.put(f"{PUBLICATIONS_PATH}/{{volume}}", self._put),
            web.delete(f"{PUBLICATIONS_PATH}/{{volume}}", self._delete),
            web.get(INSTANCE_PATH, self._show_instance, allow_head=False),
        ]

    async def _put(self, request: web.Request) -> web.Response:
        volume = _volume(request)
        try:
            publication = msgspec.json.decode(await request.read(), type=Publication)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            # Without the decoder's message, which may quote a token.
            return _refusal(400, "this is not a publication", "send what publications.py describes")
        if not _is_sound(publication):
            return _refusal(400, "a name in this publication is missing or too long", "see kubelet")
        try:
            self.learn_pods_root(publication.pods_root)
            self.publisher.publish(volume, publication)
        except ValueError as error:
            return _refusal(503, f"no pod can be attested: {error}", "see credentials.pods_root")
        except OperatorError as error:
            return _refusal(503, error.what, error.remedy)
        return web.Response(status=204)

    async def _delete(self, request: web.Request) -> web.Response:
        await self.publisher.withdraw(_volume(request))
        return web.Response(status=204)

    async def _show_instance(self, _: web.Request) -> web.Response:
        return web.Response(
            body=msgspec.json.encode(Instance(self.instance)), content_type="application/json"
        )


def _volume(request: web.Request) -> str:
    volume = request.match_info["volume"]
    if not _VOLUME.fullmatch(volume):
        raise web.HTTPBadRequest(text="this is not the id of a volume")
    return volume


def _is_sound(publication: Publication) -> bool:
    pod = publication.pod
    names = (pod.namespace, pod.name, pod.uid, pod.service_account)
    directory = publication.directory.path
    return (
        all(name and len(name) <= _LONGEST_NAME and name.isprintable() for name in names)
        and directory.startswith("/")
        and "\0" not in directory
        and len(directory) <= _LONGEST
    )


def _refusal(status: int, what: str, remedy: str) -> web.Response:
    return web.json_response({"error": what, "remedy": remedy}, status=status)
