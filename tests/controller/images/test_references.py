"""Names of images, read as container runtimes read them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.images.failures import ImageUnreadableError
from nemutator_controller.images.references import ImageName, parse_image

DIGEST = f"sha256:{'a' * 64}"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("nginx", ("docker.io", "library/nginx", "latest", "")),
        ("nginx:1.27", ("docker.io", "library/nginx", "1.27", "")),
        ("team/web", ("docker.io", "team/web", "latest", "")),
        ("docker.io/nginx", ("docker.io", "library/nginx", "latest", "")),
        ("index.docker.io/team/web:2", ("docker.io", "team/web", "2", "")),
        ("localhost/a:1", ("localhost", "a", "1", "")),
        ("Registry.Example:5000/a/b_c/d--e:v", ("registry.example:5000", "a/b_c/d--e", "v", "")),
        (f"ghcr.io/a/b@{DIGEST}", ("ghcr.io", "a/b", "latest", DIGEST)),
        (f"ghcr.io/a/b:1@{DIGEST}", ("ghcr.io", "a/b", "1", DIGEST)),
    ],
)
def test_what_a_name_leaves_out_is_added(name: str, expected: tuple[str, ...]) -> None:
    reference = parse_image(name)
    assert reference == ImageName(*expected)
    assert reference.version == (reference.digest or reference.tag)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "/",
        ":",
        "@",
        "nginx:",
        "nginx@",
        f"nginx@{DIGEST}x",
        f"nginx@sha512:{'a' * 128}",
        "nginx@sha256:" + "A" * 64,
        "Nginx",
        "a//b",
        "a/../b",
        "a/%2e%2e/b",
        "a b",
        "a\0",
        "a\n",
        "http://a.b/c",
        "a.b:/c",
        "a.b:123456/c",
        "-a.b/c",
        "user:pw@a.b/c",
        "a.b/c?x=1",
        "a.b/c#x",
        "nginx:" + "t" * 129,
        "a" * 513,
        "é",
    ],
)
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(ImageUnreadableError) as failure:
        parse_image(name)
    assert failure.value.reason == "name"


@given(st.text(max_size=80) | st.text("ab./:@-_A0", max_size=40))
def test_whatever_is_let_through_can_stand_in_an_address(name: str) -> None:
    try:
        reference = parse_image(name)
    except ImageUnreadableError:
        return
    path = f"{reference.registry}/{reference.repository}/{reference.version}"
    assert path.isascii()
    assert not set(path) & set(" ?#%@\\\0\n")
    assert ".." not in reference.repository.split("/")
