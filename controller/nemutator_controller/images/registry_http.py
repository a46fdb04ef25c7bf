"""The real `ImageRegistry`: the distribution API of Docker and OCI registries over HTTPS; anonymously, but where
a pull secret has a password for them.

A registry is a stranger that the installation's setting names. What it sends is bounded, is believed only where
its digest is known or it is the answer for a tag, and sends us to nobody inside (`AllowedRegistries`). Nothing
that it sends is shown to anybody but the command of an image.
"""

import asyncio
import contextlib
import ssl
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import aiohttp
from nemutator_common import names
from nemutator_common.secret import Secret
from yarl import URL

from nemutator_controller.images.challenges import parse_challenge, wants_password
from nemutator_controller.images.documents import (
    LARGEST_DOCUMENT,
    MANIFESTS,
    FoundImage,
    ImageManifest,
    check_digest,
    digest_of,
    images_in,
    parse_command,
    parse_manifest,
    parse_token,
    the_one,
)
from nemutator_controller.images.failures import ImageUnreadableError, Reason
from nemutator_controller.images.references import ImageName
from nemutator_controller.images.registries import AllowedRegistries
from nemutator_controller.images.registry_passwords import RegistryPasswords
from nemutator_controller.mutations.image_commands import ImageCommand
from nemutator_controller.setting_checks import is_private

READ_S = 30.0
"""All of an image: its manifests, its configurations, and a token for them."""

MOST_REDIRECTS = 3
"""Large registries keep what they serve elsewhere, and say where."""

CONNECTIONS = 8

_REDIRECTS = (301, 302, 303, 307, 308)


@dataclass(slots=True)
class _Visit:
    """One image is read: what proves us is good for that."""

    image: ImageName
    origin: str
    password: Secret | None
    """Of the pull secret."""
    proof: Secret | None = None
    """What the registry is shown (`Authorization`)."""

    def url(self, path: str) -> URL:
        return URL(f"{self.origin}/v2/{self.image.repository}/{path}", encoded=True)


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes


class RegistryOverHttp:
    """Use it as an async context manager."""

    def __init__(
        self,
        allowed: AllowedRegistries,
        *,
        tls: ssl.SSLContext | None = None,
        passwords: Callable[[], RegistryPasswords] = RegistryPasswords,
    ) -> None:
        """*tls* has the authorities that sign registries' certificates; None: those of the system.

        *passwords* raises ImageUnreadableError, where they cannot be had.
        """
        self._allowed = allowed
        self._passwords = passwords
        self._tls = tls or True
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=CONNECTIONS),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"User-Agent": names.PREFIX, "Accept-Encoding": "identity"},
            # Digests are of the bytes as they are sent; and what grows as it is unpacked has no bound.
            auto_decompress=False,
            trust_env=False,
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._session is not None:
            await self._session.close()

    async def read(self, image: ImageName) -> FoundImage:
        visit = self._visit(image)
        with _refusals(image):
            async with asyncio.timeout(READ_S):
                return await self._read(visit)

    async def digest(self, image: ImageName) -> str:
        visit = self._visit(image)
        with _refusals(image):
            async with asyncio.timeout(READ_S):
                answer = await self._ask(visit, "HEAD", f"manifests/{image.version}")
        return answer.headers.get("Docker-Content-Digest", "")

    def _visit(self, image: ImageName) -> _Visit:
        origin = self._allowed.origin(image.registry)
        if origin is None:
            why = f"{image.registry} is not in the setting brain.image_registries"
            raise ImageUnreadableError("not_allowed", why)
        password = self._passwords().of(image)
        return _Visit(image, origin, password)

    async def _read(self, visit: _Visit) -> FoundImage:
        document = (await self._ask(visit, "GET", f"manifests/{visit.image.version}")).body
        if visit.image.digest:
            check_digest(document, visit.image.digest)
        manifest = parse_manifest(document)
        try:
            command = the_one(await self._commands(visit, manifest))
        except ImageUnreadableError as error:
            error.digest = digest_of(document)
            raise
        return FoundImage(command, digest_of(document))

    async def _commands(self, visit: _Visit, manifest: ImageManifest) -> list[ImageCommand]:
        if manifest.manifests is None:
            return [await self._command(visit, manifest)]
        commands: list[ImageCommand] = []
        for digest in images_in(manifest.manifests):
            one = parse_manifest(await self._known(visit, f"manifests/{digest}", digest))
            commands.append(await self._command(visit, one))
        return commands

    async def _command(self, visit: _Visit, manifest: ImageManifest) -> ImageCommand:
        if manifest.config is None:
            raise ImageUnreadableError("invalid", "its list of images has lists in it")
        digest = manifest.config.digest
        return parse_command(await self._known(visit, f"blobs/{digest}", digest))

    async def _known(self, visit: _Visit, path: str, digest: str) -> bytes:
        document = (await self._ask(visit, "GET", path)).body
        check_digest(document, digest)
        return document

    async def _ask(self, visit: _Visit, method: str, path: str) -> _Answer:
        answer = await self._call(visit, method, visit.url(path), visit.proof)
        if answer.status == 401 and visit.proof is None:
            visit.proof = await self._proof(visit, answer.headers.get("WWW-Authenticate", ""))
            answer = await self._call(visit, method, visit.url(path), visit.proof)
        if answer.status != 200:
            raise _refused(visit, answer)
        return answer

    async def _proof(self, visit: _Visit, header: str) -> Secret:
        """What the registry asks for: the password itself, or a token that is given for it, or to anybody."""
        registry = visit.image.registry
        if wants_password(header) and visit.password is not None:
            return _basic(visit, visit.password, visit.url(""))
        challenge = parse_challenge(header)
        if challenge is None:
            why = f"{registry} gives nothing without a password, and no pull secret has one"
            raise ImageUnreadableError("denied", why)
        realm = self._checked(visit, challenge.realm)
        scope = {"scope": f"repository:{visit.image.repository}:pull"}
        service = {"service": challenge.service} if challenge.service else {}
        proof = None if visit.password is None else _basic(visit, visit.password, realm)
        answer = await self._call(visit, "GET", realm.update_query({**service, **scope}), proof)
        if answer.status != 200:
            raise _refused(visit, answer)
        return Secret(f"Bearer {parse_token(answer.body)}")

    async def _call(self, visit: _Visit, method: str, url: URL, shown: Secret | None) -> _Answer:
        """Whatever it answers, after redirects. Raises ImageUnreadableError."""
        if self._session is None:
            raise RuntimeError("used outside of `async with`")
        proof = {"Authorization": shown.reveal()} if shown is not None else {}
        registry = visit.image.registry
        try:
            for _ in range(MOST_REDIRECTS + 1):
                async with self._session.request(
                    method,
                    url,
                    headers={"Accept": ", ".join((*MANIFESTS, "*/*")), **proof},
                    allow_redirects=False,
                    ssl=self._tls,
                    timeout=aiohttp.ClientTimeout(total=None),
                ) as response:
                    if response.status not in _REDIRECTS:
                        body = b"" if response.status != 200 else await _body(response)
                        return _Answer(response.status, response.headers, body)
                    to = self._checked(visit, response.headers.get("Location", ""), url)
                    if to.origin() != url.origin():
                        proof = {}
                    url = to
        except (aiohttp.ClientError, OSError) as error:
            # Its text may quote what the registry has sent.
            why = f"no registry answers at {registry} ({type(error).__name__})"
            raise ImageUnreadableError("unreachable", why) from error
        raise ImageUnreadableError("invalid", f"{registry} redirects without end")

    def _checked(self, visit: _Visit, text: str, base: URL | None = None) -> URL:
        """Where the registry sends us, which is signed: not a byte of it may be quoted anew."""
        refused = ImageUnreadableError(
            "invalid", f"{visit.image.registry} refers to where nemutator does not go"
        )
        try:
            url = URL(text, encoded=True)
            url = base.join(url) if base is not None else url
            host, netloc = url.host or "", url.raw_authority
            is_same = bool(host) and str(url.origin()) == visit.origin
        except ValueError:
            raise refused from None
        allowed = self._allowed.may_be_sent_to(url.scheme, host, netloc)
        if not (host and (allowed or is_same)):
            raise refused
        return url


async def _body(response: aiohttp.ClientResponse) -> bytes:
    body = bytearray()
    async for piece in response.content.iter_any():
        body += piece
        if len(body) > LARGEST_DOCUMENT:
            raise ImageUnreadableError("too_large", "the registry's answer is too long")
    return bytes(body)


@contextlib.contextmanager
def _refusals(image: ImageName) -> Iterator[None]:
    """Whatever a registry answers costs its image, and not the task that reads images."""
    try:
        yield
    except TimeoutError:
        why = f"{image.registry} took more than {READ_S:g} s"
        raise ImageUnreadableError("timeout", why) from None
    except ValueError:
        # An address or a header that cannot be written; its text may quote what the registry has sent.
        why = f"{image.registry} refers to where nobody can go"
        raise ImageUnreadableError("invalid", why) from None


def _basic(visit: _Visit, password: Secret, url: URL) -> Secret:
    if url.scheme != "https" and not is_private(str(url.origin())):
        why = f"a password for {visit.image.registry} would go over plain HTTP"
        raise ImageUnreadableError("pull_secret", why)
    return Secret(f"Basic {password.reveal()}")


def _refused(visit: _Visit, answer: _Answer) -> ImageUnreadableError:
    status, registry = answer.status, visit.image.registry
    if status in (401, 403):
        why = f"{registry} gives it to nobody without a password, and no pull secret has one"
        if visit.password is not None:
            why = f"{registry} does not give it to the user of the pull secret"
        return ImageUnreadableError("denied", why)
    if status == 404:
        return ImageUnreadableError("missing", f"{registry} does not have it")
    if status == 429:
        text = answer.headers.get("Retry-After", "")
        after_s = float(text) if text.isascii() and text.isdigit() and len(text) < 6 else 0.0
        why = f"{registry} answers 429: too many requests"
        return ImageUnreadableError("busy", why, retry_after_s=after_s)
    reason: Reason = "unreachable" if status >= 500 else "invalid"
    return ImageUnreadableError(reason, f"{registry} answers {status}")
