"""References of images are read as container runtimes read them, and written in full."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.mutations.globs import fits
from nemutator_controller.mutations.image_references import (
    LONGEST,
    PREFIX,
    ImageReference,
    ImageReferenceError,
    glob_faults,
    parse_image,
)

DIGEST = "sha256:" + "0123456789abcdef" * 4


@pytest.mark.parametrize(
    ("text", "registry", "path", "tag", "digest"),
    [
        ("ubuntu", "docker.io", "library/ubuntu", "", ""),
        ("ubuntu:14.04", "docker.io", "library/ubuntu", "14.04", ""),
        ("team/app", "docker.io", "team/app", "", ""),
        ("docker.io/ubuntu", "docker.io", "library/ubuntu", "", ""),
        ("index.docker.io/team/app:1", "docker.io", "team/app", "1", ""),
        ("host:5000/img", "host:5000", "img", "", ""),
        ("host:5000/img:2", "host:5000", "img", "2", ""),
        ("localhost/img", "localhost", "img", "", ""),
        ("gcr.io/a/b/c:v1.2-x_y", "gcr.io", "a/b/c", "v1.2-x_y", ""),
        (f"ubuntu@{DIGEST}", "docker.io", "library/ubuntu", "", DIGEST),
        (f"r.example/a:1@{DIGEST}", "r.example", "a", "1", DIGEST),
        ("[2001:db8::1]:5000/a", "[2001:db8::1]:5000", "a", "", ""),
        ("Registry.Example/a__b/c--d.e", "Registry.Example", "a__b/c--d.e", "", ""),
        ("Registry/img", "Registry", "img", "", ""),
        # A port alone is a tag.
        ("host:5000", "docker.io", "library/host", "5000", ""),
    ],
)
def test_each_form_is_understood(
    text: str, registry: str, path: str, tag: str, digest: str
) -> None:
    assert parse_image(text) == ImageReference(registry, path, tag, digest)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ubuntu",
        "ubuntu\n",
        "Ubuntu",
        "ubuntu:",
        "ubuntu@sha256:12",
        "ubuntu:a b",
        "-a",
        "a..b",
        "a//b",
        "https://example.com/a",
        "host:port/a",
        "my_host.example/a",
        "a:" + "t" * 129,
        "f" * 64,
        "a" * 256,
        "a/" * LONGEST,
        "ü",
    ],
)
def test_what_is_none_is_an_error(text: str) -> None:
    with pytest.raises(ImageReferenceError):
        parse_image(text)


def test_what_is_meant_when_nothing_is_written() -> None:
    assert parse_image("ubuntu").version == "latest"
    assert parse_image("ubuntu:1").version == "1"
    assert parse_image(f"ubuntu@{DIGEST}").version == ""


@pytest.mark.parametrize(
    ("text", "origin", "target", "moved"),
    [
        ("ubuntu:1", "docker.io", "m.example:5000/hub", "m.example:5000/hub/library/ubuntu:1"),
        ("ubuntu", "docker.io/library", "m.example", "m.example/ubuntu"),
        (f"a.example/x:1@{DIGEST}", "a.example", "b.example", f"b.example/x:1@{DIGEST}"),
        ("docker.io/team/app", "docker.io/tea", "m.example", None),
        ("docker.io.evil/team/app", "docker.io", "m.example", None),
        # Nothing would be left for a name.
        ("a.example/x", "a.example/x", "b.example", None),
        ("a.example/x", "a.example/x", "b.example/y", "b.example/y"),
    ],
)
def test_a_prefix_is_moved_at_its_slashes(
    text: str, origin: str, target: str, moved: str | None
) -> None:
    result = parse_image(text).moved(origin, target)
    assert (None if result is None else str(result)) == moved


folders = st.from_regex(r"[a-z0-9]{1,4}([._-][a-z0-9]{1,3})?", fullmatch=True)
references = st.builds(
    ImageReference,
    st.sampled_from(["docker.io", "localhost", "host:5000", "r.example", "r.example:1"]),
    st.lists(folders, min_size=2, max_size=4).map("/".join),
    st.sampled_from(["", "1", "v1.0-x_Y", "latest"]),
    st.sampled_from(["", DIGEST]),
)


@given(references)
def test_what_is_written_is_read_as_the_same(reference: ImageReference) -> None:
    assert parse_image(str(reference)) == reference


@given(references, st.sampled_from(["m.example", "m.example:5000/a/b"]))
def test_what_is_moved_can_be_moved_back(reference: ImageReference, target: str) -> None:
    moved = reference.moved(reference.registry, target)
    assert moved is not None
    assert parse_image(str(moved)) == moved
    assert moved.moved(target, reference.registry) == reference
    assert PREFIX.fullmatch(target)


@given(st.text(max_size=60))
def test_no_text_is_too_strange(text: str) -> None:
    try:
        again = parse_image(text)
    except ImageReferenceError:
        return
    assert parse_image(str(again)) == again


def test_hostile_length_costs_nothing() -> None:
    for text in ("a" * LONGEST + "!", "a-" * (LONGEST // 2), "a.a" * 340 + "!", "a_" * 500 + ":"):
        with pytest.raises(ImageReferenceError):
            parse_image(text)


@given(
    st.text("*?[]!@:/ab.", max_size=9) | st.text(max_size=9),
    st.sampled_from(["ubuntu", "host:5000/team/app:1", "a.example/b", f"a.example:80/b@{DIGEST}"]),
)
def test_what_may_fit_no_repository_fits_none(glob: str, image: str) -> None:
    if list(glob_faults([glob])):
        assert not fits(parse_image(image).repository, glob)


@pytest.mark.parametrize(
    "glob",
    [
        "*",
        "?*",
        "docker.io/library/ubuntu",
        "host:5000/*",
        "*:5000/a",
        "*/ubuntu",
        "[ab].example/c",
    ],
)
def test_what_may_fit_is_let_through(glob: str) -> None:
    assert list(glob_faults([glob])) == []
