"""A cluster by its kubeconfig: the one file that imports the `kubernetes` package, when it is asked for.

The package knows every corner of kubeconfigs and their plugins, and forwards a port of a pod through the
API server. It is 126 MB, so it is an extra of the command line and in no image.
"""

import contextlib
import logging
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from nemutator_common import names
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.secret import Secret

CALL_S = 20.0
BRAIN = "app.kubernetes.io/name=nemutator,app.kubernetes.io/component=brain"
PORT = "console"
AUTHORITY = "nemutator-ca"
LEADS = str(names.LEADS)
TOKEN_S = 600
FORWARDS = "Kubernetes port forward proxy"
"""How the package calls the thread that carries bytes."""


class ForwardedSocket(Protocol):
    """What TLS needs of a socket; the far end is a port of a pod."""

    def fileno(self) -> int: ...
    def settimeout(self, value: float | None) -> None: ...
    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class ClusterChoice:
    """Which cluster, and as whom."""

    kubeconfig: Path | None
    """None: where kubectl looks."""
    context: str
    """Empty: the current one."""
    namespace: str
    account: str
    """NAMESPACE/NAME of a service account whose token is asked for; empty: the person's own token."""


class ClusterAccess:
    """Every failure is an `OperatorError` for the person who typed the command."""

    def __init__(self, wanted: ClusterChoice) -> None:
        self._wanted = wanted
        self._configuration = _configuration(wanted)
        from kubernetes.client import ApiClient, CoreV1Api

        self._core: Any = CoreV1Api(ApiClient(self._configuration))
        self._where = str(self._configuration.host)

    def authority(self) -> str:
        """The certificates that the brain publishes (PEM)."""
        with self._told("read the ConfigMap nemutator-ca"):
            found = self._core.read_namespaced_config_map(
                AUTHORITY, self._wanted.namespace, _request_timeout=CALL_S
            )
        return str((found.data or {}).get("ca.crt", ""))

    def token(self) -> Secret:
        """Of whoever the kubeconfig names, or of the service account that was asked for."""
        if self._wanted.account:
            return self._token_of(self._wanted.account)
        keys = self._configuration.api_key
        bearer = str(keys.get("BearerToken") or keys.get("authorization") or "")
        if bearer and not bearer.startswith("Basic "):
            return Secret(bearer.removeprefix("Bearer "))
        raise OperatorError(
            "this kubeconfig has a certificate and no token, and the brain takes tokens only",
            remedy="ask as a service account that you may make tokens for: --as-account"
            " NAMESPACE/NAME (kubectl -n nemutator create serviceaccount anna)",
            code=ExitCode.USAGE,
        )

    def forwarded(self) -> ForwardedSocket:
        """A new connection to the console of the brain that leads."""
        import websocket
        from kubernetes.stream import portforward

        websocket.setdefaulttimeout(CALL_S)
        _mind_the_end_of_forwarding()
        name, port = self._brain()
        with self._told(f"forward port {port} of pod {name}"):
            way = portforward(
                self._core.connect_get_namespaced_pod_portforward,
                name,
                self._wanted.namespace,
                ports=str(port),
            )
        found: ForwardedSocket = way.socket(port)
        return found

    def _brain(self) -> tuple[str, int]:
        with self._told("list the pods of the brain"):
            listed = self._core.list_namespaced_pod(
                self._wanted.namespace, label_selector=BRAIN, _request_timeout=CALL_S
            )
        pods = sorted(listed.items, key=_worth, reverse=True)
        if not pods or not _worth(pods[0])[0]:
            raise OperatorError(
                f"no brain is ready in the namespace {self._wanted.namespace} at {self._where}",
                remedy=f"kubectl -n {self._wanted.namespace} get pods -l {BRAIN}",
                code=ExitCode.UNREACHABLE,
            )
        ports = {
            port.name: int(port.container_port)
            for container in pods[0].spec.containers
            for port in container.ports or ()
        }
        return str(pods[0].metadata.name), ports.get(PORT, 8420)

    def _token_of(self, account: str) -> Secret:
        namespace, _, name = account.rpartition("/")
        asked = {"spec": {"audiences": [], "expirationSeconds": TOKEN_S}}
        with self._told(f"make a token of the service account {account}"):
            made = self._core.create_namespaced_service_account_token(
                name, namespace or self._wanted.namespace, asked, _request_timeout=CALL_S
            )
        return Secret(str(made.status.token))

    @contextlib.contextmanager
    def _told(self, what: str) -> Iterator[None]:
        from kubernetes.client import ApiException
        from urllib3.exceptions import HTTPError

        try:
            yield
        except ApiException as error:
            said = {401: "who you are is not known there", 403: "you may not"}
            why = said.get(error.status) or f"{error.status or ''} {error.reason}".strip()
            # What the package says of a refused upgrade has the whole answer in it.
            why = " ".join(str(why).split())[:200]
            raise OperatorError(
                f"the API server at {self._where} does not let you {what}: {why}",
                remedy="docs/install.md, “Let people in”, has the role that this needs",
                code=ExitCode.UNREACHABLE,
            ) from error
        except (HTTPError, OSError) as error:
            raise OperatorError(
                f"the API server at {self._where} does not answer: {type(error).__name__}",
                remedy="see whether kubectl reaches it with the same context",
                code=ExitCode.UNREACHABLE,
            ) from error


def _mind_the_end_of_forwarding() -> None:
    """Its thread dies of a connection that we close before all of it is read: nobody has to know."""
    before = threading.excepthook
    if getattr(before, "is_ours", False):
        return

    def excepthook(failed: "threading.ExceptHookArgs") -> None:
        forwards = failed.thread is not None and failed.thread.name.startswith(FORWARDS)
        if not (forwards and issubclass(failed.exc_type, OSError)):
            before(failed)

    excepthook.is_ours = True  # type: ignore[attr-defined]
    threading.excepthook = excepthook


def _worth(pod: Any) -> tuple[bool, bool]:
    """Whether it is ready, and whether it leads."""
    conditions = pod.status.conditions or ()
    ready = any(each.type == "Ready" and each.status == "True" for each in conditions)
    return ready, (pod.metadata.labels or {}).get(LEADS) == "true"


def _configuration(wanted: ClusterChoice) -> Any:
    try:
        from kubernetes.client import Configuration
        from kubernetes.config import ConfigException
        from kubernetes.config.kube_config import (
            KUBE_CONFIG_DEFAULT_LOCATION,
            KubeConfigLoader,
            KubeConfigMerger,
        )
    except ImportError as error:
        raise OperatorError(
            "reaching a cluster by its kubeconfig needs the package `kubernetes`",
            remedy="install nemutator[cluster], or name the brain with --brain",
            code=ExitCode.USAGE,
        ) from error
    # The package only logs that a plugin failed, and goes on without credentials.
    complaints = _Complaints()
    logging.getLogger().addHandler(complaints)
    configuration: Any = Configuration()
    merge: Any = KubeConfigMerger  # untyped
    load: Any = KubeConfigLoader
    where = str(wanted.kubeconfig or KUBE_CONFIG_DEFAULT_LOCATION)
    try:
        merged = merge(str(Path(where).expanduser()) if wanted.kubeconfig else where).config
        if merged is None:
            raise ConfigException("no such file")
        load(config_dict=merged, active_context=wanted.context or None).load_and_set(configuration)
    except (ConfigException, OSError) as error:
        raise _unusable(where, str(error)[:300]) from error
    except Exception as error:  # noqa: BLE001 - see below
        # Whatever it trips over is in the file, and its message may quote a secret from there.
        raise _unusable(where, f"it is no kubeconfig ({type(error).__name__})") from None
    finally:
        logging.getLogger().removeHandler(complaints)
    if complaints.said:
        raise _unusable(where, "; ".join(complaints.said)[:300])
    return configuration


def _unusable(where: str, why: str) -> OperatorError:
    return OperatorError(
        f"{where}: {why}",
        remedy="name a kubeconfig with --kubeconfig, and one of its contexts with --context",
        code=ExitCode.USAGE,
    )


class _Complaints(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(record.getMessage())
