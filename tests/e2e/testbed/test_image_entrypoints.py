"""What an image starts by itself, and which digest its tag names, read from a registry over HTTP, in pods of a real
API server."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pytest
from nemutator_controller.images.documents import LARGEST_DOCUMENT, digest_of
from nemutator_controller.mutations.exec_commands import PROGRAM
from nemutator_controller.mutations.image_commands import AWAITED, ImageCommand

from tests.e2e.testbed.webhook import (
    Json,
    Webhook,
    asked,
    asking,
    create,
    define,
    pod,
    policy,
    standing,
)
from tests.fakes.registries import MANIFEST, FakeRegistry
from tests.testbed.parts.control_plane import Cluster, KubectlError
from tests.testbed.running.waiting import until

WEB = ImageCommand(("/entrypoint.sh", "--price=$5"), ("serve", "$(HOME)"))
VARIABLE = {"nemutator.io/env.TOKEN": "secret/app#token"}


@dataclass(frozen=True)
class Place:
    webhook: Webhook
    registry: FakeRegistry
    namespace: str

    def manifest(self, image: str, inject: str = "enabled", **container: object) -> Json:
        manifest = pod(labels={"nemutator.io/inject": inject}, annotations=VARIABLE)
        manifest["spec"]["containers"][0] |= {
            "image": f"{self.registry.host}/{image}",
            **container,
        }
        return manifest

    def create(self, manifest: Json) -> Json:
        return create(self.webhook.cluster, self.namespace, manifest)

    def until_unread(self, expected: Mapping[str, str]) -> None:
        """A pod with a container of each of these images is let in, and who creates it hears for each one why
        it starts without variables."""
        manifest = self.manifest("")
        [first] = manifest["spec"]["containers"]
        manifest["spec"]["containers"] = [
            {**first, "name": f"c{number}", "image": f"{self.registry.host}/{image}"}
            for number, image in enumerate(expected)
        ]
        cluster = self.webhook.cluster
        path = f"/api/v1/namespaces/{self.namespace}/pods"

        def unread() -> bool:
            with asking(cluster) as connection:
                status, _, warning = asked(connection, cluster, path, manifest)
            assert status == 201
            return all(f"{image}: {why}" in warning for image, why in expected.items())

        until(unread, f"these are not read: {', '.join(expected)}", within_s=60)


@pytest.fixture(scope="module")
def registry() -> Iterator[FakeRegistry]:
    with FakeRegistry() as fake:
        fake.token = "pull"
        yield fake


@pytest.fixture(scope="module")
def webhook(
    cluster: Cluster, registry: FakeRegistry, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Webhook]:
    define(cluster)
    folder = tmp_path_factory.mktemp("images")
    with standing(cluster, folder, brain=True, registries=registry.url) as hook:
        yield hook


@pytest.fixture
def place(webhook: Webhook, registry: FakeRegistry, namespace: str) -> Place:
    webhook.until_called(namespace)
    found = Place(webhook, registry, namespace)
    # Until it has the brain's list, the webhook lets in whom it should refuse.
    found.until_unread({"nobody/pushed:1": ""})
    return found


@pytest.mark.timeout(180)  # a control plane that may be busy, and two processes with their imports
def test_a_container_without_a_command_is_started_by_its_images_own(place: Place) -> None:
    digest = place.registry.push("shop/web", "1", {"amd64": WEB, "arm64": WEB})
    required = place.manifest("shop/web:1", inject="required")

    # Nobody has asked for this image before, and its pod may not start without its variables.
    with pytest.raises(KubectlError, match=f"cannot be injected: .*{AWAITED}"):
        place.create(required)

    made: list[Json] = []

    def let_in() -> bool:
        try:
            made.append(place.create(required))
        except KubectlError as refused:
            if AWAITED in str(refused):
                return False
            raise
        return True

    until(let_in, "the image is read", within_s=60)
    [container] = made[0]["spec"]["containers"]
    # kubelet makes one of each two `$` and replaces nothing behind them.
    assert container["command"] == [
        PROGRAM, "--", "/entrypoint.sh", "--price=$$5", "serve", "$$(HOME)",
    ]  # fmt: skip
    assert "args" not in container

    # Arguments of the container stand in for those of the image, which its digest names as well.
    by_digest = place.manifest(f"shop/web@{digest}", args=["migrate"])
    until(
        lambda: "command" in place.create(by_digest)["spec"]["containers"][0],
        "the image is read by its digest",
        within_s=60,
    )
    [container] = place.create(by_digest)["spec"]["containers"]
    assert container["command"] == [PROGRAM, "--", "/entrypoint.sh", "--price=$$5"]
    assert container["args"] == ["migrate"]
    tokens = [path for _, path, _ in place.registry.asked if path.startswith("/token")]
    assert "/token?service=fake&scope=repository:shop/web:pull" in tokens


@pytest.mark.timeout(180)
def test_a_hostile_registry_costs_its_own_images_alone(place: Place) -> None:
    registry = place.registry
    registry.push("evil/forged", "1", ImageCommand(("/as-pushed",), ()))
    forged = json.loads(registry.manifests["evil/forged", "1"][1])["config"]["digest"]
    own = b'{"config":{"Entrypoint":["/bin/sh","-c","id"]}}'
    registry.blobs[forged] = own
    assert digest_of(own) != forged
    registry.put("evil/large", "1", MANIFEST, b" " * (LARGEST_DOCUMENT + 1))
    registry.put("evil/nested", "1", MANIFEST, b"[" * 100_000)
    registry.push("evil/differs", "1", {"amd64": WEB, "arm64": ImageCommand(("/other",), ())})
    registry.push("shop/good", "1", ImageCommand(("/good",), ()))
    place.until_unread(
        {
            "evil/forged:1": "the registry's answer is not what its digest names",
            "evil/large:1": "the registry's answer is too long",
            "evil/nested:1": "the registry's answer is not a manifest",
            "evil/differs:1": "it starts other commands on other architectures",
            "evil/none:1": f"{registry.host} does not have it",
        }
    )
    # A challenge that sends the brain to the metadata of its machine is not followed.
    registry.challenge = 'Bearer realm="http://169.254.169.254/latest/",service="fake"'
    try:
        why = f"{registry.host} refers to where nemutator does not go"
        place.until_unread({"evil/elsewhere:1": why})
    finally:
        registry.challenge = None
    good = place.manifest("shop/good:1")
    until(
        lambda: "command" in place.create(good)["spec"]["containers"][0],
        "an image of that registry that is as it should be",
        within_s=60,
    )


@pytest.mark.timeout(180)
def test_a_policy_pins_a_tag_to_what_its_registry_names(place: Place) -> None:
    digest = place.registry.push("shop/pinned", "1", WEB)
    differs = place.registry.push(
        "shop/differs", "1", {"amd64": WEB, "arm64": ImageCommand((), ())}
    )
    cluster = place.webhook.cluster
    cluster.apply(policy("pins", place.namespace, {"image": {"pin": ["127.0.0.1:*/shop/*"]}}))
    expected = {"shop/pinned:1": digest, "shop/differs:1": differs}

    def pinned() -> bool:
        made = [place.create(place.manifest(image)) for image in expected]
        images = [each["spec"]["containers"][0]["image"] for each in made]
        return images == [
            f"{place.registry.host}/{image}@{named}" for image, named in expected.items()
        ]

    until(pinned, "both tags are pinned", within_s=60)
    # What is pinned is known by its tag, and started as before.
    [container] = place.create(place.manifest("shop/pinned:1"))["spec"]["containers"]
    assert container["command"][:3] == [PROGRAM, "--", "/entrypoint.sh"]
    cluster.kubectl("delete", "mutationpolicies", "pins")
