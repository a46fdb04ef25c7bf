"""What pods declare: read from either spelling, refused by name when it makes no sense."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common import names
from nemutator_common.declarations import (
    MOST,
    DeclarationError,
    Declarations,
    FileFormat,
    Reference,
    file_group_of,
    from_annotations,
    from_volume,
    is_name,
    parse_file,
    parse_reference,
    to_volume,
)
from nemutator_common.on_rotate import ContainerSignal

segments = st.text("abcXYZ019_-+", min_size=1, max_size=8)
references = st.builds(
    Reference,
    st.lists(segments, min_size=2, max_size=4).map("/".join),
    st.none() | st.text("abc.#-_ ", min_size=1, max_size=8),
)
declared = st.builds(
    Declarations,
    secrets=st.dictionaries(st.from_regex(r"[a-z]([a-z-]{0,6}[a-z])?", fullmatch=True), references),
    environment=st.dictionaries(st.from_regex(r"[A-Z_]{1,6}", fullmatch=True), references),
    role=st.none() | st.just("team.app"),
    vault_namespace=st.none()
    | st.lists(st.text("aZ09-_", min_size=1, max_size=8), min_size=1, max_size=4).map("/".join),
    run_as_user=st.none() | st.integers(0, 2**31),
    run_as_group=st.none() | st.integers(0, 2**31),
    fs_group=st.none() | st.integers(0, 2**31),
    on_rotate=st.none() | st.just(ContainerSignal("HUP", "web")),
)


@given(declared)
def test_what_is_written_into_a_volume_is_read_back(declarations: Declarations) -> None:
    kubelets = {"csi.storage.k8s.io/pod.name": "p", "csi.storage.k8s.io/ephemeral": "true"}
    assert from_volume(to_volume(declarations) | kubelets) == declarations


def test_a_signal_that_makes_no_sense_is_named_by_its_annotation() -> None:
    with pytest.raises(DeclarationError, match="on-rotate: expected signal:HUP@container"):
        from_annotations({names.ON_ROTATE: "signal:KILL@web"})
    assert from_annotations({names.ON_ROTATE: "none"}) == Declarations()


def test_secrets_or_variables_alone_are_a_declaration() -> None:
    one = {"db": Reference("secret/app/db")}
    assert Declarations(secrets=one)
    assert Declarations(environment=one)
    assert not Declarations(role="team.app", run_as_user=1)


def test_annotations_and_volume_say_the_same() -> None:
    annotations = {
        f"{names.SECRET_PREFIX}db": "secret/app/db#password",
        f"{names.ENVIRONMENT_PREFIX}TOKEN": "secret/app/api",
        f"{names.SECRET_PREFIX}tls": "pki/issue/a?common_name=a.b&ip_sans=::1,10.0.0.1#chain",
        names.VAULT_ROLE: "app",
        names.VAULT_NAMESPACE: "team-a/web",
        "example.com/secret.db": "not ours",
    }
    read = from_annotations(annotations)
    issued = Reference("pki/issue/a?common_name=a.b&ip_sans=::1,10.0.0.1", "chain")
    assert read.secrets == {"db": Reference("secret/app/db", "password"), "tls": issued}
    assert read.environment == {"TOKEN": Reference("secret/app/api")}
    assert (read.role, read.vault_namespace) == ("app", "team-a/web")
    assert from_volume(to_volume(read)) == read


def test_a_pod_that_declares_nothing_is_none() -> None:
    assert not from_annotations({"a": "b", names.SKIP: "true"})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "secret",
        "/app",
        "secret/",
        "secret//db",
        "secret/../sys/x",
        "secret/a?b",
        "pki/issue/a?",
        "pki/issue/a?=b",
        "pki/issue/a?b=",
        "pki/issue/a?b=c&",
        "pki/issue/a?b=%20",
        "pki/issue/a?b=c?d=e",
        "pki?b=c",
        f"pki/issue/a?b={'c' * 254}",
        "pki/issue/a?" + "&".join(f"{name * 60}={'c' * 100}" for name in "abcd"),
        "a/b#",
        "secret/a b",
        "secret/a\nb",
        "secret/%2e%2e/x",
        "a/" + "b" * 600,
        "a/b#" + "k" * 300,
    ],
)
def test_a_reference_that_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        parse_reference(text)


@pytest.mark.parametrize("name", ["..", ".", "", "a/b", "-a", "a..b", "a" * 64, "a\n"])
def test_what_cannot_be_a_file_is_no_name(name: str) -> None:
    assert not is_name(name)


def test_every_fault_is_named() -> None:
    words = {
        "secret.ok": "secret/a",
        "secret.../up": "secret/a",
        "env.1X": "secret/a",
        "secret.bad": "nowhere",
        "vault-role": "a b",
        "vault-namespace": "team//web",
        "run-as-user": "root",
    }
    with pytest.raises(DeclarationError) as caught:
        from_volume(words)
    assert len(caught.value.problems) == 6
    assert str(caught.value) == "; ".join(caught.value.problems)


@pytest.mark.parametrize("key", ["run-as-user", "run-as-group", "fs-group"])
@pytest.mark.parametrize("number", ["", "-1", "4294967295", "0x10", "1e3", "٣", "1\n", "9" * 99])
def test_what_is_no_user_or_group_is_refused_with_what_was_expected(key: str, number: str) -> None:
    with pytest.raises(DeclarationError, match=f"^{key}: expected a number below 4000000000$"):
        from_volume({key: number})


def test_files_are_for_the_fs_group_and_else_for_the_group_that_all_run_as() -> None:
    assert file_group_of({"fs-group": "7", "run-as-group": "8"}) == 7
    assert file_group_of({"run-as-group": "8"}) == 8
    assert file_group_of({"fs-group": "root", "run-as-user": "8"}) is None


def test_there_is_a_most() -> None:
    with pytest.raises(DeclarationError, match=str(MOST)):
        from_volume({f"secret.s{n}": "a/b" for n in range(MOST + 1)})


DOTENV = "dotenv USER=secret/app/db#user PASSWORD=secret/app/db#password"


def test_a_file_of_several_secrets_is_read_and_written() -> None:
    declared = from_annotations({"nemutator.io/file.app.env": f"  {DOTENV} "})
    file = declared.files["app.env"]
    assert file.format is FileFormat.DOTENV
    assert file.entries["USER"] == Reference("secret/app/db", "user")
    assert to_volume(declared) == {"file.app.env": DOTENV}
    assert from_volume(to_volume(declared)) == declared


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("", "expected json, dotenv, properties"),
        ("dotenv", "expected json, dotenv, properties"),
        ("yaml A=secret/app/db#user", "expected json, dotenv, properties"),
        ("dotenv A-B=secret/app/db#user", "'A-B' is no key"),
        ("json A=secret/a#b A=secret/a#c", "stands there twice"),
        ("json =secret/a#b", "'' is no key"),
        ("json A=secret/a", "expected one key of a secret"),
        ("json A=secret/../a#b", "expected mount/path#key"),
        ("json A", "expected mount/path#key"),
        ("json ../../etc=secret/a#b", "is no key"),
    ],
)
def test_a_file_that_is_not_understood_says_what_was_expected(value: str, why: str) -> None:
    with pytest.raises(DeclarationError) as raised:
        from_annotations({"nemutator.io/file.app": value})
    assert why in str(raised.value)
    assert str(raised.value).startswith("file.app: ")


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".hidden", "a\0"])
def test_a_file_cannot_be_outside_of_its_folder(name: str) -> None:
    with pytest.raises(DeclarationError, match="a name of a file"):
        from_annotations({f"nemutator.io/file.{name}": DOTENV})


def test_no_name_stands_for_two_files_and_entries_count() -> None:
    with pytest.raises(DeclarationError, match=r"file.db: secret.db is there, too"):
        from_volume({"secret.db": "secret/app/db", "file.db": DOTENV})
    many = " ".join(f"K{number}=secret/a#b" for number in range(MOST + 1))
    with pytest.raises(DeclarationError, match="more than"):
        from_volume({"file.db": f"json {many}"})


@given(st.text(max_size=60))
def test_whatever_stands_there_is_a_file_or_refused(text: str) -> None:
    try:
        file = parse_file(text)
    except ValueError:
        return
    assert parse_file(str(file)) == file
