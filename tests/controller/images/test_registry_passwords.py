"""Passwords for registries: whose they are, and what is no file of them."""

import base64
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.images.references import parse_image
from nemutator_controller.images.registry_passwords import (
    MOST_ENTRIES,
    RegistryPasswords,
    parse_registry_passwords,
)


def auth(pair: str) -> str:
    return base64.b64encode(pair.encode()).decode()


def secrets(**auths: str) -> RegistryPasswords:
    return parse_registry_passwords(
        json.dumps({"auths": {key: {"auth": auth(pair)} for key, pair in auths.items()}})
    )


def said(found: RegistryPasswords, image: str) -> str | None:
    password = found.of(parse_image(image))
    return base64.b64decode(password.reveal()).decode() if password is not None else None


@pytest.mark.parametrize(
    ("key", "image"),
    [
        ("registry.example", "registry.example/shop/web:1"),
        ("https://registry.example", "registry.example/shop/web:1"),
        ("https://registry.example/v2/", "registry.example/shop/web:1"),
        ("Registry.Example:5000", "registry.example:5000/web"),
        ("registry.example/shop", "registry.example/shop/web:1"),
        ("registry.example/shop/web", "registry.example/shop/web:1"),
        ("*.example", "registry.example/web"),
        ("https://index.docker.io/v1/", "nginx"),
        ("docker.io", "someone/web"),
    ],
)
def test_a_registry_is_named_as_docker_and_kubelet_name_it(key: str, image: str) -> None:
    assert said(secrets(**{key: "me:pass:word"}), image) == "me:pass:word"


@pytest.mark.parametrize(
    ("key", "image"),
    [
        ("registry.example", "registry.example:5000/web"),
        ("registry.example", "other.registry.example/web"),
        ("registry.example", "registry.example.evil.test/web"),
        ("registry.example/shop", "registry.example/shopping/web"),
        ("*.example", "a.b.example/web"),
        ("*", "registry.example/web"),
        ("docker.io", "registry.example/docker.io/web"),
    ],
)
def test_nobody_else_is_told_a_password(key: str, image: str) -> None:
    assert said(secrets(**{key: "me:word"}), image) is None


def test_the_longest_name_counts() -> None:
    found = secrets(**{"a.b": "all:1", "a.b/team": "team:2", "*.b": "any:3"})
    assert said(found, "a.b/team/web") == "team:2"
    assert said(found, "a.b/web") == "all:1"
    assert said(found, "c.b/web") == "any:3"


def test_user_and_password_may_stand_by_themselves_and_entries_without_one_are_nothing() -> None:
    text = json.dumps(
        {
            "auths": {
                "a.b": {"username": "me", "password": "word", "email": "me@a.b"},
                "c.d": {},
                "e.f": {"auth": auth("me:"), "identitytoken": "t"},
            },
            "credsStore": "desktop",
        }
    )
    found = parse_registry_passwords(text)
    assert said(found, "a.b/web") == "me:word"
    assert said(found, "c.d/web") is None
    assert said(found, "e.f/web") is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "expected a file as"),
        ("hunter2", "expected a file as"),
        ("{}", "expected a file as"),
        ('{"auths": ["hunter2"]}', "expected a file as"),
        ('{"auths": {"a.b": {"auth": "hunter2!"}}}', "`auth` of 'a.b' is not base64"),
        ('{"auths": {"a.b": {"auth": "/w=="}}}', "`auth` of 'a.b' is not base64"),
        ('{"auths": {"": {"auth": "aHVudGVyMg=="}}}', "'' is not the name"),
        (
            json.dumps({"auths": {f"h{n}": {} for n in range(MOST_ENTRIES + 1)}}),
            "more than 1000 registries",
        ),
    ],
)
def test_what_is_no_such_file_is_said_without_showing_it(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=re.escape(why)) as refused:
        parse_registry_passwords(text)
    assert "hunter2" not in str(refused.value)


def test_a_password_is_shown_nowhere() -> None:
    assert "hunter2" not in repr(secrets(**{"a.b": "me:hunter2"}))
    assert auth("me:hunter2") not in repr(secrets(**{"a.b": "me:hunter2"}))


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_names_and_words_are_a_password_or_refused(key: str, word: str) -> None:
    for login in ({"auth": word}, {"username": "me", "password": word}):
        try:
            found = parse_registry_passwords(json.dumps({"auths": {key: login}}))
        except ValueError:
            continue
        found.of(parse_image("registry.example/web"))
