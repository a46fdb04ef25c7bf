"""A bucket that speaks S3 over HTTP and believes nobody: it works the signature of each request out by itself."""

import contextlib
import hashlib
import hmac
import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from ssl import SSLContext

from aiohttp import web
from nemutator_controller.database.failures import Reason, StoreUnavailableError

KEY_ID, SECRET, REGION = "our-key", "nobody/knows+this", "eu-test-1"
LONGEST_SKEW_S = 900.0

_PROOF = re.compile(
    r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/s3/aws4_request, ?"
    r"SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})"
)

_AS_BAD_REQUESTS = ("AuthorizationHeaderMalformed", "XAmzContentSHA256Mismatch")


@dataclass
class MemoryObjects:
    """An `ObjectStore`."""

    kept: dict[str, bytes] = field(default_factory=dict)
    fails: Reason | None = None

    async def put(self, key: str, content: bytes) -> None:
        self._work()
        self.kept[key] = content

    async def get(self, key: str) -> bytes | None:
        self._work()
        return self.kept.get(key)

    async def remove(self, key: str) -> None:
        self._work()
        self.kept.pop(key, None)

    def _work(self) -> None:
        if self.fails is not None:
            raise StoreUnavailableError(self.fails, "memory", "objects")


@dataclass
class FakeBucket:
    """Answers to `/BUCKET/KEY` alone, as MinIO and Ceph do where the bucket is in the path."""

    now: Callable[[], float]
    bucket: str = "team"
    kept: dict[str, bytes] = field(default_factory=dict)
    answers: list[tuple[int, bytes]] = field(default_factory=list)
    """What it says to the next requests, whatever they are."""
    asked: list[str] = field(default_factory=list)
    url: str = ""

    @contextlib.asynccontextmanager
    async def serving(self, tls: SSLContext | None = None) -> AsyncIterator["FakeBucket"]:
        application = web.Application(client_max_size=64 << 20)
        application.add_routes([web.route("*", "/{path:.*}", self._answer)])
        runner = web.AppRunner(application)
        await runner.setup()
        try:
            site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls)
            await site.start()
            scheme = "http" if tls is None else "https"
            self.url = f"{scheme}://127.0.0.1:{runner.addresses[0][1]}/{self.bucket}"
            yield self
        finally:
            await runner.cleanup()

    async def _answer(self, request: web.Request) -> web.Response:
        body = await request.read()
        self.asked.append(f"{request.method} {request.raw_path}")
        if self.answers:
            status, said = self.answers.pop(0)
            return web.Response(status=status, body=said, headers={"Location": "/elsewhere"})
        if refusal := self._refusal(request, body):
            return _error(400 if refusal in _AS_BAD_REQUESTS else 403, refusal)
        bucket, _, key = request.path.lstrip("/").partition("/")
        if bucket != self.bucket:
            return _error(404, "NoSuchBucket")
        if request.method == "PUT":
            self.kept[key] = body
            return web.Response(status=200)
        if request.method == "DELETE":
            self.kept.pop(key, None)
            return web.Response(status=204)
        found = self.kept.get(key)
        return _error(404, "NoSuchKey") if found is None else web.Response(body=found)

    def _refusal(self, request: web.Request, body: bytes) -> str:
        """The code of what is wrong with who asks; empty: nothing."""
        proof = _PROOF.fullmatch(request.headers.get("Authorization", ""))
        if proof is None:
            return "AccessDenied"
        identity, day, region, names, signature = proof.groups()
        stamp = request.headers["x-amz-date"]
        moment = datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
        if abs(moment.timestamp() - self.now()) > LONGEST_SKEW_S:
            return "RequestTimeTooSkewed"
        if request.headers["x-amz-content-sha256"] != hashlib.sha256(body).hexdigest():
            return "XAmzContentSHA256Mismatch"
        if (region, day) != (REGION, stamp[:8]):
            return "AuthorizationHeaderMalformed"
        if identity != KEY_ID:
            return "InvalidAccessKeyId"
        wanted = {"host", "x-amz-content-sha256", "x-amz-date"}
        if not wanted <= set(names.split(";")):
            return "AccessDenied"
        path, _, query = request.raw_path.partition("?")
        told = [request.method, path, query]
        told += [f"{name}:{request.headers[name].strip()}" for name in names.split(";")]
        told += ["", names, request.headers["x-amz-content-sha256"]]
        scope = f"{day}/{region}/s3/aws4_request"
        digest = hashlib.sha256("\n".join(told).encode()).hexdigest()
        key = b"AWS4" + SECRET.encode()
        for part in scope.split("/"):
            key = hmac.digest(key, part.encode(), "sha256")
        text = f"AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{digest}"
        ours = hmac.digest(key, text.encode(), "sha256").hex()
        return "" if hmac.compare_digest(ours, signature) else "SignatureDoesNotMatch"


def _error(status: int, code: str) -> web.Response:
    text = f'<?xml version="1.0"?><Error><Code>{code}</Code></Error>'
    return web.Response(status=status, text=text, content_type="application/xml")
