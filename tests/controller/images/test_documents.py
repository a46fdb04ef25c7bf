"""What registries serve is decoded as far as it is needed, and refused where it is something else."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.images.documents import (
    LONGEST_COMMAND,
    MOST_PLATFORMS,
    MOST_WORDS,
    Descriptor,
    ImageManifest,
    Platform,
    check_digest,
    digest_of,
    images_in,
    parse_command,
    parse_manifest,
    parse_token,
    the_one,
)
from nemutator_controller.images.failures import ImageUnreadableError
from nemutator_controller.mutations.image_commands import ImageCommand

DIGEST = f"sha256:{'a' * 64}"
CONFIG = {"digest": DIGEST, "size": 7, "mediaType": "application/vnd.oci.image.config.v1+json"}
OTHER = f"sha256:{'b' * 64}"


def encoded(document: Any) -> bytes:
    return json.dumps(document).encode()


def reason_of(failure: pytest.ExceptionInfo[ImageUnreadableError]) -> str:
    return failure.value.reason


def test_a_manifest_names_a_configuration_or_other_manifests() -> None:
    one = {"schemaVersion": 2, "mediaType": "x", "config": CONFIG, "layers": [{"digest": 1}]}
    assert parse_manifest(encoded(one)) == ImageManifest(2, Descriptor(DIGEST))
    platform = {"architecture": "arm64", "os": "linux", "variant": "v8"}
    several = {"schemaVersion": 2, "manifests": [{"digest": DIGEST, "platform": platform}]}
    assert parse_manifest(encoded(several)).manifests == (
        Descriptor(DIGEST, Platform("arm64", "linux")),
    )


@pytest.mark.parametrize(
    "document",
    [
        b"",
        b"<!DOCTYPE html><title>Sign in</title>",
        b"\xff\xfe",
        b"[" * 100_000,
        b"null",
        b"[]",
        encoded({"schemaVersion": 2}),
        encoded({"schemaVersion": 3, "config": CONFIG}),
        encoded({"config": CONFIG}),
        encoded({"schemaVersion": 2, "config": CONFIG, "manifests": []}),
        encoded({"schemaVersion": 1, "fsLayers": []}),
        encoded({"schemaVersion": 2, "config": {"digest": "../../secret"}}),
        encoded({"schemaVersion": 2, "config": {"digest": f"{DIGEST}\n"}}),
        encoded({"schemaVersion": 2, "config": {"digest": f"{DIGEST}/x"}}),
        encoded({"schemaVersion": 2, "manifests": [{"digest": 1}]}),
    ],
)
def test_what_is_no_manifest_is_refused(document: bytes) -> None:
    with pytest.raises(ImageUnreadableError) as failure:
        parse_manifest(document)
    assert reason_of(failure) == "invalid"


def test_of_a_list_only_machines_count_that_agents_run_on() -> None:
    def image(os: str, architecture: str, digest: str) -> Descriptor:
        return Descriptor(digest, Platform(architecture, os))

    listed = (
        image("linux", "amd64", DIGEST),
        image("windows", "amd64", OTHER),
        image("linux", "s390x", OTHER),
        image("unknown", "unknown", OTHER),
        Descriptor(OTHER),
        image("linux", "arm64", OTHER),
    )
    assert images_in(listed) == [DIGEST, OTHER]
    with pytest.raises(ImageUnreadableError, match="no image for Linux"):
        images_in(listed[1:5])
    with pytest.raises(ImageUnreadableError) as failure:
        images_in((image("linux", "amd64", DIGEST),) * (MOST_PLATFORMS + 1))
    assert reason_of(failure) == "too_large"


@pytest.mark.parametrize(
    ("document", "entrypoint", "arguments"),
    [
        (
            {"config": {"Entrypoint": ["/e", "a b"], "Cmd": ["c"], "Env": ["A=1"]}},
            ("/e", "a b"),
            ("c",),
        ),
        ({"config": {"Entrypoint": None, "Cmd": ["c"]}}, (), ("c",)),
        ({"config": {}}, (), ()),
        ({"config": None}, (), ()),
        ({"architecture": "amd64"}, (), ()),
    ],
)
def test_a_configuration_says_what_an_image_starts(
    document: Any, entrypoint: tuple[str, ...], arguments: tuple[str, ...]
) -> None:
    assert parse_command(encoded(document)) == ImageCommand(entrypoint, arguments)


@pytest.mark.parametrize(
    ("started", "reason"),
    [
        ({"Entrypoint": "/e"}, "invalid"),
        ({"Entrypoint": [1]}, "invalid"),
        ({"Entrypoint": ["a\0b"]}, "invalid"),
        ({"Cmd": ["a"] * (MOST_WORDS + 1)}, "too_large"),
        ({"Cmd": ["a" * (LONGEST_COMMAND + 1)]}, "too_large"),
    ],
)
def test_what_is_no_command_is_refused(started: Any, reason: str) -> None:
    with pytest.raises(ImageUnreadableError) as failure:
        parse_command(encoded({"config": started}))
    assert reason_of(failure) == reason


@given(st.binary(max_size=200) | st.recursive(
    st.none() | st.integers() | st.text(max_size=5), lambda inner: st.lists(inner) | st.dictionaries(
        st.sampled_from(["config", "Entrypoint", "Cmd", "schemaVersion", "manifests", "digest", "token"]), inner
    ), max_leaves=12,
).map(encoded))  # fmt: skip
def test_hostile_documents_are_understood_or_refused(document: bytes) -> None:
    for parse in (parse_manifest, parse_command, parse_token):
        with contextlib.suppress(ImageUnreadableError):
            parse(document)


def test_a_document_is_what_its_digest_names() -> None:
    check_digest(b"x", digest_of(b"x"))
    with pytest.raises(ImageUnreadableError) as failure:
        check_digest(b"y", digest_of(b"x"))
    assert reason_of(failure) == "digest"


def test_tokens_have_two_names_and_nothing_that_ends_a_header() -> None:
    assert parse_token(encoded({"token": "a", "access_token": "b"})) == "a"
    assert parse_token(encoded({"access_token": "b"})) == "b"
    for bad in ({}, {"token": ""}, {"token": "a\r\nX: y"}, {"token": "ü"}, {"token": 1}):
        with pytest.raises(ImageUnreadableError):
            parse_token(encoded(bad))


def test_architectures_that_start_different_commands_are_refused() -> None:
    one, other = ImageCommand(("/a",), ()), ImageCommand(("/b",), ())
    assert the_one([one, one]) == one
    with pytest.raises(ImageUnreadableError) as failure:
        the_one([one, other])
    assert reason_of(failure) == "differs"
