"""What holds of a registry: of one that is asked over HTTP, and of the one in memory that tests use."""

import json
import ssl
from base64 import b64encode
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from nemutator_controller.images.documents import FoundImage
from nemutator_controller.images.failures import ImageUnreadableError
from nemutator_controller.images.ports import ImageRegistry
from nemutator_controller.images.references import parse_image
from nemutator_controller.images.registries import AllowedRegistries, parse_registries
from nemutator_controller.images.registry_http import RegistryOverHttp
from nemutator_controller.images.registry_passwords import (
    RegistryPasswords,
    parse_registry_passwords,
)
from nemutator_controller.mutations.image_commands import ImageCommand

from tests.certificates import Authority
from tests.fakes.registries import FakeRegistry, MemoryRegistry

WEB = ImageCommand(("/entrypoint.sh",), ("serve",))
OTHER = ImageCommand(("/other",), ())


@dataclass
class Place:
    registry: ImageRegistry
    host: str
    push: Callable[[str, str, ImageCommand], str]
    """Repository, tag, command; returns the digest."""
    push_differing: Callable[[], str]
    """`shop/differs:1`, which starts one command here and another one there; returns the digest."""


@pytest.fixture(params=["http", "memory"])
async def place(request: pytest.FixtureRequest) -> AsyncIterator[Place]:
    if request.param == "memory":
        memory = MemoryRegistry()

        def push(repository: str, tag: str, command: ImageCommand) -> str:
            digest = f"sha256:{abs(hash(command)):064x}"[:71]
            for version in (f":{tag}", f"@{digest}"):
                image = parse_image(f"memory.local/{repository}{version}")
                memory.images[image] = FoundImage(command, digest)
            return digest

        def differing() -> str:
            digest = f"sha256:{'d' * 64}"
            image = parse_image("memory.local/shop/differs:1")
            memory.images[image] = ImageUnreadableError("differs", "it differs", digest=digest)
            return digest

        yield Place(memory, "memory.local", push, differing)
        return
    with FakeRegistry() as fake:
        async with RegistryOverHttp(parse_registries(fake.url)) as registry:
            both = {"amd64": WEB, "arm64": OTHER}
            differing = partial(fake.push, "shop/differs", "1", both)
            yield Place(registry, fake.host, fake.push, differing)


async def test_a_tag_is_read_and_looked_at_again(place: Place) -> None:
    digest = place.push("shop/web", "1", WEB)
    image = parse_image(f"{place.host}/shop/web:1")
    assert await place.registry.read(image) == FoundImage(WEB, digest)
    assert await place.registry.digest(image) == digest
    moved = place.push("shop/web", "1", OTHER)
    assert moved != digest
    assert await place.registry.digest(image) == moved
    assert await place.registry.read(image) == FoundImage(OTHER, moved)
    by_digest = parse_image(f"{place.host}/shop/web@{digest}")
    assert (await place.registry.read(by_digest)).command == WEB


async def test_what_is_not_there_is_missing(place: Place) -> None:
    for ask in (place.registry.read, place.registry.digest):
        with pytest.raises(ImageUnreadableError) as failure:
            await ask(parse_image(f"{place.host}/shop/none:1"))
        assert failure.value.reason == "missing"


async def test_the_digest_is_known_where_only_the_command_is_not(place: Place) -> None:
    digest = place.push_differing()
    image = parse_image(f"{place.host}/shop/differs:1")
    with pytest.raises(ImageUnreadableError) as failure:
        await place.registry.read(image)
    assert (failure.value.reason, failure.value.digest) == ("differs", digest)
    assert await place.registry.digest(image) == digest


async def test_architectures_are_compared() -> None:
    with FakeRegistry() as fake:
        async with RegistryOverHttp(parse_registries(fake.url)) as registry:
            digest = fake.push("web", "same", {"amd64": WEB, "arm64": WEB, "s390x": OTHER})
            found = await registry.read(parse_image(f"{fake.host}/web:same"))
            assert found == FoundImage(WEB, digest)
            fake.push("web", "differ", {"amd64": WEB, "arm64": OTHER})
            with pytest.raises(ImageUnreadableError) as failure:
                await registry.read(parse_image(f"{fake.host}/web:differ"))
            assert failure.value.reason == "differs"


async def test_a_token_is_fetched_for_the_repository_and_shown_to_no_other_host() -> None:
    with FakeRegistry() as fake, FakeRegistry() as store:
        fake.token, fake.store = "t0ken", store
        fake.push("shop/web", "1", WEB)
        store.blobs = fake.blobs
        async with RegistryOverHttp(parse_registries(f"{fake.url},{store.url}")) as registry:
            found = await registry.read(parse_image(f"{fake.host}/shop/web:1"))
    assert found.command == WEB
    [token] = [path for _, path, _ in fake.asked if path.startswith("/token")]
    assert token == "/token?service=fake&scope=repository:shop/web:pull"
    [(_, path, headers)] = store.asked
    assert "Authorization" not in headers
    # What is signed arrives as it was written.
    assert path.startswith("/elsewhere/a%2Fb/sha256:")
    assert path.endswith("?sig=%2B")


@pytest.mark.parametrize("known", [True, False])
async def test_a_certificate_must_be_of_an_authority_that_is_known(
    tmp_path: Path, known: bool
) -> None:
    authority = Authority("registries")
    both = tmp_path / "server.pem"
    both.write_text(authority.server("127.0.0.1").both)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(both)
    trusted = ssl.create_default_context()
    if known:
        trusted.load_verify_locations(cadata=authority.certificate)
    with FakeRegistry(tls=server) as fake:
        fake.push("web", "1", WEB)
        image = parse_image(f"{fake.host}/web:1")
        async with RegistryOverHttp(AllowedRegistries({fake.host: False}), tls=trusted) as registry:
            if known:
                assert (await registry.read(image)).command == WEB
                return
            with pytest.raises(ImageUnreadableError) as failure:
                await registry.read(image)
            assert failure.value.reason == "unreachable"
            assert fake.asked == []


async def test_who_is_not_named_is_not_asked() -> None:
    with FakeRegistry() as fake:
        async with RegistryOverHttp(parse_registries("docker.io")) as registry:
            with pytest.raises(ImageUnreadableError) as failure:
                await registry.read(parse_image(f"{fake.host}/web:1"))
        assert failure.value.reason == "not_allowed"
        assert fake.asked == []


def passwords_for(registry: str, pair: str) -> Callable[[], RegistryPasswords]:
    login = {"auth": b64encode(pair.encode()).decode()}
    return lambda: parse_registry_passwords(json.dumps({"auths": {registry: login}}))


@pytest.mark.parametrize("token", ["t0ken", None])
async def test_what_takes_a_password_is_read_with_that_of_the_pull_secret(
    token: str | None,
) -> None:
    with FakeRegistry() as fake:
        fake.token, fake.password = token, "me:pass:word"
        digest = fake.push("shop/web", "1", WEB)
        image = parse_image(f"{fake.host}/shop/web:1")
        secrets = passwords_for(fake.host, fake.password)
        async with RegistryOverHttp(parse_registries(fake.url), passwords=secrets) as registry:
            assert await registry.read(image) == FoundImage(WEB, digest)
            assert await registry.digest(image) == digest


@pytest.mark.parametrize("token", ["t0ken", None])
@pytest.mark.parametrize(
    ("pair", "why"),
    [
        ("", "without a password, and no pull secret has one"),
        ("me:other", "does not give it to the user of the pull secret"),
    ],
)
async def test_without_the_right_password_it_is_denied_and_said_why(
    token: str | None, pair: str, why: str
) -> None:
    with FakeRegistry() as fake:
        fake.token, fake.password = token, "me:word"
        fake.push("web", "1", WEB)
        secrets = passwords_for(fake.host, pair)
        async with RegistryOverHttp(parse_registries(fake.url), passwords=secrets) as registry:
            with pytest.raises(ImageUnreadableError, match=why) as failure:
                await registry.read(parse_image(f"{fake.host}/web:1"))
    assert failure.value.reason == "denied"
    assert "other" not in str(failure.value)


async def test_a_password_goes_to_its_registry_alone_and_a_token_no_further() -> None:
    with FakeRegistry() as fake, FakeRegistry() as store:
        fake.password, fake.store = "me:word", store
        fake.push("web", "1", WEB)
        store.blobs = fake.blobs
        both = parse_registries(f"{fake.url},{store.url}")
        async with RegistryOverHttp(both, passwords=passwords_for(fake.host, "me:word")) as there:
            assert (await there.read(parse_image(f"{fake.host}/web:1"))).command == WEB
    [(_, _, headers)] = store.asked
    assert "Authorization" not in headers
