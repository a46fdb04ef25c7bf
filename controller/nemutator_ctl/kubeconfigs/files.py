"""Kubeconfigs on disk: those that kubectl would read, and the credentials that they name."""

import os
from dataclasses import dataclass
from pathlib import Path

from nemutator_common.secret import Secret
from nemutator_controller.yaml_documents import DocumentError, parsed

from nemutator_ctl.kubeconfigs.model import (
    KubeconfigError,
    KubeEntry,
    KubeServer,
    Pem,
    entry_of,
)
from nemutator_ctl.kubeconfigs.plugin_process import answer_of

LARGEST = 2 << 20
LARGEST_TOKEN = 64 << 10


@dataclass(frozen=True, slots=True)
class KubeCredentials:
    """Who asks, ready for use."""

    token: Secret | None = None
    password: Secret | None = None
    """`NAME:PASSWORD`."""
    certificate: Pem | None = None
    key: Pem | None = None


def searched(kubeconfig: Path | None) -> tuple[Path, ...]:
    """Where to look: what a person named, or as kubectl does."""
    if kubeconfig is not None:
        return (kubeconfig.expanduser(),)
    listed = [each for each in os.environ.get("KUBECONFIG", "").split(os.pathsep) if each]
    return tuple(
        Path(each).expanduser() for each in listed or (str(Path.home() / ".kube" / "config"),)
    )


def entry_in(paths: tuple[Path, ...], context: str) -> KubeEntry:
    """What *context*, or the current one, names there; raises KubeconfigError."""
    found = []
    for path in paths:
        try:
            with path.open("rb") as file:
                content = file.read(LARGEST + 1)
        except FileNotFoundError:
            # One of several may be missing.
            continue
        except OSError as error:
            raise KubeconfigError(f"{path}: {error.strerror or error}") from error
        try:
            documents = parsed(content)
        except DocumentError:
            # Its message may quote what stands there.
            raise KubeconfigError(f"{path} is no kubeconfig") from None
        found += [(path, document) for document in documents[:1]]
    if not found:
        raise KubeconfigError("there is no kubeconfig")
    return entry_of(found, context)


def credentials_of(entry: KubeEntry, paths: tuple[Path, ...], context: str) -> KubeCredentials:
    """Asks whom the entry names: a file, a plugin, the package; raises KubeconfigError."""
    user = entry.user
    if user.impersonates:
        raise KubeconfigError(
            "its user speaks as somebody else (`as`), which the brain cannot see:"
            " ask as a service account (--as-account)"
        )
    token = user.token
    if user.needs_package:
        from nemutator_ctl.kubeconfigs.package_tokens import token_of_provider

        token = token_of_provider(os.pathsep.join(str(each) for each in paths), context)
    elif user.token_file is not None:
        token = _token_in(user.token_file)
    elif token is None and user.plugin is not None:
        return _of_plugin(entry.server, entry)
    return KubeCredentials(
        token, user.password if token is None else None, user.certificate, user.key
    )


def _of_plugin(server: KubeServer, entry: KubeEntry) -> KubeCredentials:
    user = entry.user
    assert user.plugin is not None
    found = answer_of(user.plugin, server, user.folder)
    has_certificate = bool(found.client_certificate_data)
    return KubeCredentials(
        token=Secret(found.token) if found.token else None,
        certificate=Secret(found.client_certificate_data) if has_certificate else user.certificate,
        key=Secret(found.client_key_data) if has_certificate else user.key,
    )


def _token_in(path: Path) -> Secret:
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_TOKEN)
    except OSError as error:
        raise KubeconfigError(f"{path}: {error.strerror or error}") from error
    word = content.strip()
    # A private key, say, must not get into a header.
    if not word or not word.isascii() or not word.decode().isprintable() or b" " in word:
        raise KubeconfigError(f"{path}: there is no token in it")
    return Secret(word.decode())
