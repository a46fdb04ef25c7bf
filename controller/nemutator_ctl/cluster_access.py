"""A cluster by its kubeconfig: what the command line asks of its API server, and a way to the brain's port."""

import contextlib
import http.client
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nemutator_common import names
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.secret import Secret
from nemutator_controller.prometheus_services import FoundService, ServiceFacts

from nemutator_ctl.exchanges import LARGEST_ANSWER
from nemutator_ctl.kubeconfigs.api_server import ApiServer, ApiServerError
from nemutator_ctl.kubeconfigs.files import credentials_of, entry_in, searched
from nemutator_ctl.kubeconfigs.forwarded_port import ForwardedPort
from nemutator_ctl.kubeconfigs.model import KubeconfigError
from nemutator_ctl.terminal_text import visible

BRAIN = "app.kubernetes.io/name=nemutator,app.kubernetes.io/component=brain"
PORT, USUAL_PORT = "console", 8420
AUTHORITY = "nemutator-ca"
LEADS = str(names.LEADS)
TOKEN_S = 600
MOST_SERVICES = 20_000


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
        paths = searched(wanted.kubeconfig)
        try:
            entry = entry_in(paths, wanted.context)
            self._credentials = credentials_of(entry, paths, wanted.context)
            self.server = ApiServer(entry.server, self._credentials)
        except KubeconfigError as error:
            where = ", ".join(str(each) for each in paths)
            raise OperatorError(
                f"{where}: {visible(str(error), limit=300)}",
                remedy=error.remedy,
                code=ExitCode.USAGE,
            ) from error

    def authority(self) -> str:
        """The certificates that the brain publishes (PEM)."""
        with self.told("read the ConfigMap nemutator-ca"):
            found = self.server.ask("GET", f"{self._own()}/configmaps/{AUTHORITY}")
            return str((found.get("data") or {}).get("ca.crt", ""))

    def token(self) -> Secret:
        """Of whoever the kubeconfig names, or of the service account that was asked for."""
        if self._wanted.account:
            return self._token_of(self._wanted.account)
        if self._credentials.token is not None:
            return self._credentials.token
        raise OperatorError(
            "this kubeconfig has a certificate and no token, and the brain takes tokens only",
            remedy="ask as a service account that you may make tokens for: --as-account"
            " NAMESPACE/NAME (kubectl -n nemutator create serviceaccount anna)",
            code=ExitCode.USAGE,
        )

    def forwarded(self) -> ForwardedPort:
        """A new connection to the console of the brain that leads."""
        name, port = self._brain()
        with self.told(f"forward port {port} of pod {name}"):
            return self.server.forwarded(self._wanted.namespace, name, port)

    def services(self) -> list[ServiceFacts]:
        """All that may be asked."""
        found: list[ServiceFacts] = []
        more = ""
        with self.told("list the cluster's Services"):
            while len(found) < MOST_SERVICES:
                query = {"limit": "500", **({"continue": more} if more else {})}
                page = self.server.ask("GET", "/api/v1/services", query=query)
                found += map(_facts, page.get("items") or ())
                more = str(page["metadata"].get("continue") or "")
                if not more:
                    break
        return found

    def ask_service(
        self, service: FoundService, path: str, form: Mapping[str, str], *, timeout_s: float
    ) -> tuple[int, bytes]:
        """POST of a *form* to a Service, by the API server: status, and one byte more than is allowed at most."""
        scheme = "https:" if service.scheme == "https" else ""
        where = f"/api/v1/namespaces/{service.namespace}/services"
        target = f"{where}/{scheme}{service.name}:{service.port}/proxy{service.path}{path}"
        with self.told(f"ask the Service {service.namespace}/{service.name}"):
            return self.server.ask_with_form(
                target, form, timeout_s=timeout_s, largest=LARGEST_ANSWER
            )

    def _brain(self) -> tuple[str, int]:
        with self.told("list the pods of the brain"):
            listed = self.server.ask("GET", f"{self._own()}/pods", query={"labelSelector": BRAIN})
            pods = sorted(listed.get("items") or (), key=_worth, reverse=True)
            if pods and _worth(pods[0])[0]:
                return str(pods[0]["metadata"]["name"]), _port(pods[0])
        raise OperatorError(
            f"no brain is ready in the namespace {self._wanted.namespace} at {self.server.where}",
            remedy=f"kubectl -n {self._wanted.namespace} get pods -l {BRAIN}",
            code=ExitCode.UNREACHABLE,
        )

    def _token_of(self, account: str) -> Secret:
        namespace, _, name = account.rpartition("/")
        asked = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"audiences": [], "expirationSeconds": TOKEN_S},
        }
        with self.told(f"make a token of the service account {account}"):
            path = f"/api/v1/namespaces/{namespace or self._wanted.namespace}/serviceaccounts"
            made = self.server.ask("POST", f"{path}/{name}/token", document=asked)
            return Secret(str(made["status"]["token"]))

    def _own(self) -> str:
        return f"/api/v1/namespaces/{self._wanted.namespace}"

    @contextlib.contextmanager
    def told(self, what: str) -> Iterator[None]:
        """Inside, `server` is asked to do *what*; its failures come out as `OperatorError`."""
        try:
            yield
        except ApiServerError as error:
            said = {401: "who you are is not known there", 403: "you may not"}
            why = said.get(error.status) or visible(error.why, limit=200)
            raise OperatorError(
                f"the API server at {self.server.where} does not let you {what}: {why}",
                remedy="docs/install.md, “Let people in”, has the role that this needs",
                code=ExitCode.UNREACHABLE,
            ) from error
        except (OSError, http.client.HTTPException) as error:
            raise OperatorError(
                f"the API server at {self.server.where} does not answer: {type(error).__name__}",
                remedy="see whether kubectl reaches it with the same context",
                code=ExitCode.UNREACHABLE,
            ) from error
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            raise OperatorError(
                f"what answers at {self.server.where} is no API server",
                remedy="see whether kubectl reaches it with the same context",
                code=ExitCode.UNREACHABLE,
            ) from error


def _facts(service: Any) -> ServiceFacts:
    return ServiceFacts(
        namespace=str(service["metadata"]["namespace"]),
        name=str(service["metadata"]["name"]),
        labels=dict(service["metadata"].get("labels") or {}),
        ports=tuple(
            (str(port.get("name") or ""), int(port["port"]))
            for port in service["spec"].get("ports") or ()
            if port.get("protocol", "TCP") == "TCP"
        ),
    )


def _worth(pod: Any) -> tuple[bool, bool]:
    """Whether it is ready, and whether it leads."""
    conditions = pod["status"].get("conditions") or ()
    ready = any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
    return ready, (pod["metadata"].get("labels") or {}).get(LEADS) == "true"


def _port(pod: Any) -> int:
    ports = {
        port.get("name"): int(port["containerPort"])
        for container in pod["spec"]["containers"]
        for port in container.get("ports") or ()
    }
    return ports.get(PORT, USUAL_PORT)
