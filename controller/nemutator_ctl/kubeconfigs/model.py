"""A kubeconfig: which server and which user one of its contexts names.

Read as kubectl reads it: of several files the first that has a name counts, and a relative path is
relative to the file that it stands in. No message quotes a value, because any of them may be a secret.
"""

import base64
import binascii
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from nemutator_common.secret import Secret

Named = TypeVar("Named", "_NamedCluster", "_NamedUser", "_NamedContext")

Pem = Path | Secret
"""Certificates or a key: in a file, or written into the kubeconfig."""


class KubeconfigError(ValueError):
    """Why these files do not say how to reach a server."""

    remedy = "name a kubeconfig with --kubeconfig, and one of its contexts with --context"


class PluginError(KubeconfigError):
    """What a kubeconfig names to make credentials makes none, most often because somebody's sign-in has expired."""

    remedy = (
        "sign in again as its provider says, and see whether kubectl works with the same context"
    )


class PluginVariable(msgspec.Struct, frozen=True):
    name: str
    value: str


class Plugin(msgspec.Struct, frozen=True, rename="camel"):
    """A program that makes credentials (`exec`)."""

    command: str
    api_version: str
    args: list[str] | None = None
    env: list[PluginVariable] | None = None
    install_hint: str = ""
    interactive_mode: str = "IfAvailable"
    provide_cluster_info: bool = False


class _Cluster(msgspec.Struct, frozen=True, rename="kebab"):
    server: str = ""
    certificate_authority: str = ""
    certificate_authority_data: str = ""
    insecure_skip_tls_verify: bool = False
    tls_server_name: str = ""
    proxy_url: str = ""
    extensions: list[dict[str, Any]] | None = None


class _User(msgspec.Struct, frozen=True, rename="kebab"):
    token: str = ""
    token_file: str = msgspec.field(default="", name="tokenFile")
    client_certificate: str = ""
    client_certificate_data: str = ""
    client_key: str = ""
    client_key_data: str = ""
    username: str = ""
    password: str = ""
    plugin: Plugin | None = msgspec.field(default=None, name="exec")
    auth_provider: dict[str, Any] | None = None
    impersonated: str = msgspec.field(default="", name="as")


class _Context(msgspec.Struct, frozen=True):
    cluster: str = ""
    user: str = ""


class _NamedCluster(msgspec.Struct, frozen=True):
    name: str
    cluster: _Cluster


class _NamedUser(msgspec.Struct, frozen=True):
    name: str
    user: _User | None = None


class _NamedContext(msgspec.Struct, frozen=True):
    name: str
    context: _Context


class _File(msgspec.Struct, frozen=True, rename="kebab"):
    clusters: list[_NamedCluster] | None = None
    users: list[_NamedUser] | None = None
    contexts: list[_NamedContext] | None = None
    current_context: str | None = None


@dataclass(frozen=True, slots=True)
class KubeServer:
    """An API server, and how it proves who it is."""

    url: str
    authority: Pem | None
    """None: the authorities that this machine trusts."""
    name: str
    """In its certificate; empty: as in the address."""
    is_insecure: bool
    proxy: str
    extension: Any
    """For a plugin: what the kubeconfig keeps for it at this server."""


@dataclass(frozen=True, slots=True)
class KubeUser:
    """Who asks: at most one of these ways has a token."""

    token: Secret | None
    token_file: Path | None
    certificate: Pem | None
    key: Pem | None
    plugin: Plugin | None
    folder: Path
    """Of the kubeconfig: a plugin with a relative path is looked for from there."""
    needs_package: bool
    """It has an `auth-provider`, as kubectl had them until 1.25."""
    impersonates: bool
    password: Secret | None
    """`NAME:PASSWORD`, for a proxy before the server: API servers themselves take none."""


@dataclass(frozen=True, slots=True)
class KubeEntry:
    server: KubeServer
    user: KubeUser


def entry_of(files: Sequence[tuple[Path, object]], context: str) -> KubeEntry:
    """What *context*, or the current one, names in *files*, documents as they were read.

    Raises KubeconfigError.
    """
    read = [(path, _file(path, document)) for path, document in files]
    wanted = context or next((one.current_context for _, one in read if one.current_context), "")
    if not wanted:
        raise KubeconfigError("no context is current: name one")
    _, found = _named(((path, one.contexts) for path, one in read), wanted, "context")
    path, cluster = _named(
        ((path, one.clusters) for path, one in read), found.context.cluster, "cluster"
    )
    server = _server(path.parent, cluster.cluster)
    if not found.context.user:
        return KubeEntry(server, _user(path.parent, _User()))
    path, user = _named(((path, one.users) for path, one in read), found.context.user, "user")
    return KubeEntry(server, _user(path.parent, user.user or _User()))


def _file(path: Path, document: object) -> _File:
    try:
        return msgspec.convert(document, _File)
    except (msgspec.ValidationError, UnicodeError) as error:
        raise KubeconfigError(f"{path} is no kubeconfig: {error}") from None


def _named(
    lists: Iterable[tuple[Path, Sequence[Named] | None]], name: str, kind: str
) -> tuple[Path, Named]:
    names: list[str] = []
    for path, given in lists:
        for each in given or ():
            if each.name == name:
                return path, each
            names.append(each.name)
    known = f"; it has {', '.join(sorted(names)[:10])}" if kind == "context" and names else ""
    raise KubeconfigError(f"there is no {kind} {name!r}{known}")


def _server(folder: Path, given: _Cluster) -> KubeServer:
    if not given.server:
        raise KubeconfigError("its cluster names no server")
    return KubeServer(
        url=given.server.rstrip("/"),
        authority=_pem(
            folder, given.certificate_authority, given.certificate_authority_data, "authority"
        ),
        name=given.tls_server_name,
        is_insecure=given.insecure_skip_tls_verify,
        proxy=given.proxy_url,
        extension=_extension(given.extensions),
    )


def _extension(given: list[dict[str, Any]] | None) -> Any:
    for each in given or ():
        if each.get("name") == "client.authentication.k8s.io/exec":
            return each.get("extension")
    return None


def _user(folder: Path, given: _User) -> KubeUser:
    return KubeUser(
        token=Secret(given.token) if given.token else None,
        token_file=folder / given.token_file if given.token_file else None,
        certificate=_pem(
            folder, given.client_certificate, given.client_certificate_data, "client certificate"
        ),
        key=_pem(folder, given.client_key, given.client_key_data, "client key"),
        plugin=given.plugin,
        folder=folder,
        needs_package=given.auth_provider is not None,
        impersonates=bool(given.impersonated),
        password=Secret(f"{given.username}:{given.password}") if given.username else None,
    )


def _pem(folder: Path, file: str, data: str, what: str) -> Pem | None:
    if data:
        try:
            return Secret(base64.b64decode("".join(data.split()), validate=True).decode("ascii"))
        except (binascii.Error, UnicodeDecodeError):
            raise KubeconfigError(f"its {what} is no base64 of PEM") from None
    return folder / file if file else None


def plugin_question(plugin: Plugin, server: KubeServer, *, interactive: bool) -> Mapping[str, Any]:
    """What a plugin is told (KUBERNETES_EXEC_INFO)."""
    spec: dict[str, Any] = {"interactive": interactive}
    if plugin.provide_cluster_info:
        cluster: dict[str, Any] = {"server": server.url}
        if server.name:
            cluster["tls-server-name"] = server.name
        if server.is_insecure:
            cluster["insecure-skip-tls-verify"] = True
        if isinstance(server.authority, Secret):
            encoded = base64.b64encode(server.authority.reveal().encode()).decode()
            cluster["certificate-authority-data"] = encoded
        if server.proxy:
            cluster["proxy-url"] = server.proxy
        if server.extension is not None:
            cluster["config"] = server.extension
        spec["cluster"] = cluster
    return {"apiVersion": plugin.api_version, "kind": "ExecCredential", "spec": spec}


class PluginStatus(msgspec.Struct, frozen=True, rename="camel"):
    """What a plugin found."""

    token: str = ""
    client_certificate_data: str = ""
    client_key_data: str = ""


class _PluginAnswer(msgspec.Struct, frozen=True, rename="camel"):
    api_version: str
    status: PluginStatus


def plugin_status(plugin: Plugin, answer: bytes) -> PluginStatus:
    """Raises KubeconfigError."""
    try:
        found = msgspec.json.decode(answer, type=_PluginAnswer)
    except (msgspec.DecodeError, UnicodeError) as error:
        raise KubeconfigError(f"its plugin answers no ExecCredential: {error}") from None
    if found.api_version != plugin.api_version:
        raise KubeconfigError("its plugin answers in another version than it was asked in")
    if not (found.status.token or found.status.client_certificate_data):
        raise KubeconfigError("its plugin answers neither a token nor a certificate")
    return found.status
