"""A bucket that speaks S3 (AWS, MinIO, Ceph, Garage, SeaweedFS): three requests, each signed. An `ObjectStore`."""

import asyncio
import io
import logging
import ssl
from dataclasses import dataclass

import aiohttp
from nemutator_common import names
from nemutator_common.clocks import Clock
from nemutator_common.secret import Secret
from nemutator_common.shipping.files import RereadFile
from nemutator_common.shipping.links import LinkUnavailableError
from yarl import URL

from nemutator_controller.database.failures import Reason, StoreUnavailableError
from nemutator_controller.objects.signature_v4 import AccessKey, encoded_path, signed

log = logging.getLogger(__name__)

DEADLINE_S = 20.0
LARGEST = 64 << 20
"""Bytes of one object that is read: many times what a brain puts there."""
LONGEST_ANSWER = 16 << 10

_NOT_LET_IN = frozenset({301, 307, 308, 401, 403, 404})
"""The bucket is another region's, or none; or the key may not. Of other answers an operator's settings are not the cause."""
_OF_ANOTHER_REGION = "AuthorizationHeaderMalformed"
"""Its status is 400, as that of a body that was changed on its way."""


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class S3Objects:
    bucket: str
    """Its address, with what all keys begin with: `https://HOST/BUCKET/PREFIX`."""
    region: str
    access_key: str
    secret_key: RereadFile
    clock: Clock
    ca: RereadFile | None = None
    """Who signs its certificate, where the machine's own authorities do not."""
    deadline_s: float = DEADLINE_S

    async def put(self, key: str, content: bytes) -> None:
        answer = await self._exchange("PUT", key, content)
        if answer.status // 100 != 2:
            raise self._failure(answer)

    async def get(self, key: str) -> bytes | None:
        answer = await self._exchange("GET", key)
        if answer.status == 200:
            return answer.content
        # Of a bucket that is not there the status is 404, too.
        if answer.status == 404 and b"NoSuchKey" in answer.content:
            return None
        raise self._failure(answer)

    async def remove(self, key: str) -> None:
        answer = await self._exchange("DELETE", key)
        if answer.status // 100 != 2 and b"NoSuchKey" not in answer.content:
            raise self._failure(answer)

    async def _exchange(self, method: str, key: str, body: bytes = b"") -> _Answer:
        try:
            async with asyncio.timeout(self.deadline_s):
                return await self._asked(method, key, body)
        except TimeoutError:
            raise self._unavailable("deadline") from None
        except LinkUnavailableError as error:
            log.warning("object_store_unusable", {names.ERROR: str(error)})
            raise self._unavailable("denied") from None
        except ssl.SSLError as error:
            log.warning("object_store_unusable", {names.ERROR: type(error).__name__})
            raise self._unavailable("gone") from None
        except (aiohttp.ClientError, OSError) as error:
            if self.ca is not None:
                self.ca.invalidate()
            # Of some errors the text has the headers that were sent.
            log.warning("object_store_unreachable", {names.ERROR: type(error).__name__})
            raise self._unavailable("gone") from None

    async def _asked(self, method: str, key: str, body: bytes) -> _Answer:
        place = URL(self.bucket.rstrip("/"))
        path = f"{place.path.rstrip('/')}/{key}"
        access = AccessKey(self.access_key, Secret(self.secret_key.text()), self.region)
        host = place.raw_authority
        headers = signed(method, path, {"Host": host}, body, key=access, at=self.clock.now())
        context = None if self.ca is None else ssl.create_default_context(cadata=self.ca.text())
        address = URL(f"{place.scheme}://{host}{encoded_path(path)}", encoded=True)
        async with (
            aiohttp.ClientSession(
                cookie_jar=aiohttp.DummyCookieJar(), trust_env=False, auto_decompress=False
            ) as session,
            session.request(
                method,
                address,
                data=io.BytesIO(body) if method == "PUT" else None,
                headers={**headers, "User-Agent": names.PREFIX},
                ssl=context or True,
                # A signature is for one place alone.
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(total=None),
            ) as response,
        ):
            most = LARGEST if response.status == 200 and method == "GET" else LONGEST_ANSWER
            content = bytearray()
            async for some in response.content.iter_any():
                content += some
                if len(content) > most:
                    log.warning("object_too_large", {names.BYTES: len(content)})
                    raise self._unavailable("other")
            return _Answer(response.status, bytes(content))

    def _failure(self, answer: _Answer) -> StoreUnavailableError:
        said = answer.content.decode(errors="replace")[:200]
        shown = "".join(one if one.isprintable() else " " for one in said)
        log.warning("object_store_refuses", {names.STATUS: answer.status, names.ERROR: shown})
        if "RequestTimeTooSkewed" in said:
            return self._unavailable("clock")
        if answer.status in _NOT_LET_IN or _OF_ANOTHER_REGION in said:
            # The file may hold another secret by now.
            self.secret_key.invalidate()
            return self._unavailable("denied")
        if answer.status == 507 or "QuotaExceeded" in said or "StorageFull" in said:
            return self._unavailable("full")
        if answer.status in (408, 429, 503) or "RequestTimeout<" in said:
            return self._unavailable("busy")
        return self._unavailable("other" if answer.status < 500 else "io")

    def _unavailable(self, reason: Reason) -> StoreUnavailableError:
        return StoreUnavailableError(reason, self.bucket, "objects")
