"""A registry that means harm: it gets nothing, holds nobody up, and fills no memory."""

import json
from base64 import b64encode
from collections.abc import Callable, Mapping

import pytest
from nemutator_controller.images.documents import LARGEST_DOCUMENT
from nemutator_controller.images.failures import ImageUnreadableError
from nemutator_controller.images.references import parse_image
from nemutator_controller.images.registries import parse_registries
from nemutator_controller.images.registry_http import MOST_REDIRECTS, RegistryOverHttp
from nemutator_controller.images.registry_passwords import parse_registry_passwords
from nemutator_controller.mutations.image_commands import ImageCommand

from tests.fakes.registries import FakeRegistry, Reply

WEB = ImageCommand(("/entrypoint.sh",), ())
HTML = b"<!DOCTYPE html><html><title>Sign in</title></html>"


async def refusal(fake: FakeRegistry, name: str = "web:1") -> ImageUnreadableError:
    async with RegistryOverHttp(parse_registries(fake.url)) as registry:
        with pytest.raises(ImageUnreadableError) as failure:
            await registry.read(parse_image(f"{fake.host}/{name}"))
    return failure.value


def at(part: str, reply: Reply) -> Callable[[str, Mapping[str, str]], Reply | None]:
    return lambda path, _: reply if part in path else None


@pytest.mark.parametrize("part", ["/manifests/", "/blobs/"])
@pytest.mark.parametrize(
    ("reply", "reasons"),
    [
        (Reply(HTML), {"invalid", "digest"}),
        (Reply(b" " * (LARGEST_DOCUMENT + 1)), {"too_large"}),
        (Reply(b"{", headers={"Content-Length": str(1 << 40)}, closes=True), {"unreachable"}),
        (Reply(b"{}", headers={"Content-Encoding": "gzip"}), {"invalid", "digest"}),
        (Reply(HTML, 403), {"denied"}),
        (Reply(HTML, 500), {"unreachable"}),
        (Reply(HTML, 418), {"invalid"}),
        (Reply(HTML, 429, {"Retry-After": "30"}), {"busy"}),
        (Reply(b"", 302), {"invalid", "unreachable"}),
        (Reply(b"", 302, {"Location": "http://169.254.169.254/latest/meta-data"}), {"invalid"}),
        (Reply(b"", 302, {"Location": "https://127.0.0.1:6443/api"}), {"invalid"}),
        (Reply(b"", 302, {"Location": "file:///etc/passwd"}), {"invalid"}),
        (Reply(b"", 302, {"Location": "http://[::1"}), {"invalid"}),
        (Reply(b"", 200, {"X": "a" * 100_000}), {"unreachable"}),
    ],
)
async def test_what_it_answers_is_refused(part: str, reply: Reply, reasons: set[str]) -> None:
    with FakeRegistry() as fake:
        fake.push("web", "1", WEB)
        fake.scripted = at(part, reply)
        error = await refusal(fake)
    assert error.reason in reasons
    assert error.retry_after_s == (30 if error.reason == "busy" else 0)
    # Nothing of what it has sent is shown to people, whose terminals it might reach.
    assert "Sign in" not in str(error)
    assert str(error).isprintable()


async def test_redirects_end() -> None:
    with FakeRegistry() as fake:
        fake.scripted = lambda path, _: Reply(b"", 302, {"Location": f"{path}x"})
        error = await refusal(fake)
        assert (error.reason, len(fake.asked)) == ("invalid", MOST_REDIRECTS + 1)


async def test_a_blob_is_what_its_digest_names() -> None:
    with FakeRegistry() as fake:
        fake.push("web", "1", WEB)
        [digest] = fake.blobs
        fake.blobs[digest] = json.dumps({"config": {"Entrypoint": ["/bin/evil"]}}).encode()
        assert (await refusal(fake)).reason == "digest"


async def test_a_manifest_is_what_the_pod_names() -> None:
    with FakeRegistry() as fake:
        digest = fake.push("web", "1", WEB)
        fake.push("web", "2", ImageCommand(("/bin/evil",), ()))
        fake.manifests["web", digest] = fake.manifests["web", "2"]
        assert (await refusal(fake, f"web:1@{digest}")).reason == "digest"


async def test_lists_of_lists_end() -> None:
    with FakeRegistry() as fake:
        fake.push("web", "1", {"amd64": WEB})
        inner = fake.manifests["web", "1"][1]
        digest = fake.put("web", "inner", "x", inner)
        platform = {"os": "linux", "architecture": "amd64"}
        outer = {"schemaVersion": 2, "manifests": [{"digest": digest, "platform": platform}]}
        fake.put("web", "1", "x", json.dumps(outer).encode())
        assert (await refusal(fake)).reason == "invalid"


@pytest.mark.parametrize(
    ("challenge", "reason"),
    [
        ('Basic realm="x"', "denied"),
        ("", "denied"),
        ('Bearer realm="http://169.254.169.254/token"', "invalid"),
        ('Bearer realm="https://10.0.0.1/token"', "invalid"),
        ('Bearer realm="file:///etc/passwd"', "invalid"),
        ('Bearer realm="//["', "invalid"),
        ('Bearer realm="//a.invalid/x"', "invalid"),
        ('Bearer realm="https://a..b/x"', "invalid"),
        ('Bearer realm="https://a.invalid:99999/"', "invalid"),
        ('Bearer realm="/relative"', "invalid"),
    ],
)
async def test_it_sends_nobody_inside_for_a_token(challenge: str, reason: str) -> None:
    with FakeRegistry() as fake:
        fake.push("web", "1", WEB)
        fake.token, fake.challenge = "t0ken", challenge or "?"
        assert (await refusal(fake)).reason == reason
        assert len(fake.asked) == 1


@pytest.mark.parametrize("token", [b"", HTML, b"{}", b'{"token": "a\\r\\nX-Evil: 1"}'])
async def test_what_is_no_token_is_not_sent(token: bytes) -> None:
    with FakeRegistry() as fake:
        fake.push("web", "1", WEB)
        fake.token = "t0ken"
        fake.scripted = at("/token", Reply(token))
        assert (await refusal(fake)).reason == "invalid"
        assert not any("Authorization" in headers for _, _, headers in fake.asked)


async def test_a_token_that_does_not_help_is_asked_for_once() -> None:
    with FakeRegistry() as fake:
        fake.push("web", "1", WEB)
        fake.token = "t0ken"
        fake.scripted = at("/token", Reply(b'{"token": "other"}'))
        assert (await refusal(fake)).reason == "denied"
        assert len(fake.asked) == 3


async def test_a_registry_that_names_the_tokens_of_another_is_told_no_password_of_that_one() -> (
    None
):
    with FakeRegistry() as honest, FakeRegistry() as evil:
        honest.token = evil.token = "t"
        evil.challenge = f'Bearer realm="{honest.url}/token",service="fake"'
        evil.push("web", "1", WEB)
        config = {"auths": {honest.host: {"auth": b64encode(b"me:word").decode()}}}
        async with RegistryOverHttp(
            parse_registries(f"{honest.url},{evil.url}"),
            passwords=lambda: parse_registry_passwords(json.dumps(config)),
        ) as registry:
            await registry.read(parse_image(f"{evil.host}/web:1"))
    assert honest.asked
    for _, _, headers in (*honest.asked, *evil.asked):
        assert not headers.get("Authorization", "").startswith("Basic")


async def test_no_password_goes_over_a_network_in_plain_http() -> None:
    config = {"auths": {"registry.test": {"auth": b64encode(b"me:word").decode()}}}
    with FakeRegistry() as fake:
        fake.challenge = 'Bearer realm="http://registry.test/token"'
        fake.token, fake.password = "t", "me:word"
        fake.push("web", "1", WEB)
        config["auths"][fake.host] = config["auths"]["registry.test"]
        async with RegistryOverHttp(
            parse_registries(f"{fake.url},http://registry.test"),
            passwords=lambda: parse_registry_passwords(json.dumps(config)),
        ) as registry:
            with pytest.raises(ImageUnreadableError, match="over plain HTTP") as failure:
                await registry.read(parse_image(f"{fake.host}/web:1"))
    assert failure.value.reason == "pull_secret"
