"""The objects of a cluster, by the API server of a kubeconfig."""

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from nemutator_common.errors import ExitCode, OperatorError

from nemutator_ctl.cluster_access import ClusterAccess
from nemutator_ctl.installation.install_steps import MANAGER
from nemutator_ctl.installation.object_paths import (
    FieldConflictError,
    KindUnknownError,
    ObjectPlace,
)
from nemutator_ctl.kubeconfigs.api_server import ApiServerError

Json = dict[str, Any]

NOT_FOUND, CONFLICT = 404, 409
PAGE = 500
MOST_PODS = 200_000
DRY = {"dryRun": "All"}


class ApiServerObjects:
    def __init__(self, access: ClusterAccess) -> None:
        self._access = access
        self._server = access.server

    def version(self) -> tuple[int, int]:
        """Of Kubernetes."""
        with self._access.told("ask for its version"):
            found = self._server.ask("GET", "/version")
            # A managed cluster says `35+`.
            return int(found["major"]), int(str(found["minor"]).rstrip("+"))

    def get(self, place: ObjectPlace) -> Json | None:
        try:
            with self._access.told(f"read {place}"):
                return self._found("GET", place.path)
        except _AbsentError:
            return None

    def apply(self, document: Json, *, force: bool, dry_run: bool) -> Json:
        place = ObjectPlace.of(document)
        query = {"fieldManager": MANAGER, "force": str(force).lower(), **(DRY if dry_run else {})}
        with self._access.told(f"apply {place}"):
            try:
                return self._server.ask(
                    "PATCH",
                    place.path,
                    query=query,
                    document=document,
                    content_type="application/apply-patch+yaml",
                )
            except ApiServerError as error:
                if error.status == CONFLICT:
                    raise FieldConflictError(error.why) from error
                if error.status == NOT_FOUND:
                    raise KindUnknownError(error.why) from error
                raise

    def merge(self, place: ObjectPlace, patch: Json) -> bool:
        with self._access.told(f"change {place}"):
            try:
                self._server.ask(
                    "PATCH",
                    place.path,
                    query={"fieldManager": MANAGER},
                    document=patch,
                    content_type="application/merge-patch+json",
                )
            except ApiServerError as error:
                if error.status == CONFLICT:
                    return False
                raise
        return True

    def delete(self, place: ObjectPlace, *, dry_run: bool) -> bool:
        options: Json = {"kind": "DeleteOptions", "apiVersion": "v1"}
        options["propagationPolicy"] = "Foreground"
        if dry_run:
            # An API server reads no query beside a body.
            options["dryRun"] = ["All"]
        try:
            with self._access.told(f"delete {place}"):
                self._found("DELETE", place.path, options)
        except _AbsentError:
            return False
        return True

    def pods(self, *, namespace: str = "", labels: Mapping[str, str] | None = None) -> list[Json]:
        path = f"/api/v1/namespaces/{namespace}/pods" if namespace else "/api/v1/pods"
        selector = ",".join(f"{name}={value}" for name, value in (labels or {}).items())
        found = list(itertools.islice(self._listed("pods", path, selector), MOST_PODS + 1))
        if len(found) > MOST_PODS:
            raise OperatorError(
                f"there are more than {MOST_PODS} pods",
                remedy="take the installation away with kubectl (docs/install.md)",
                code=ExitCode.FAILED,
            )
        return found

    def nodes(self) -> Iterator[Json]:
        return self._listed("nodes", "/api/v1/nodes")

    def autoscalers(self) -> Iterator[Json]:
        path = "/apis/autoscaling/v2/horizontalpodautoscalers"
        return self._listed("HorizontalPodAutoscalers", path)

    def _listed(self, what: str, path: str, selector: str = "") -> Iterator[Json]:
        more = ""
        while True:
            query = {"limit": str(PAGE), "labelSelector": selector, "continue": more}
            with self._access.told(f"list {what}"):
                page = self._server.ask(
                    "GET", path, query={name: value for name, value in query.items() if value}
                )
            yield from page.get("items") or ()
            more = str(page["metadata"].get("continue") or "")
            if not more:
                return

    def close(self) -> None:
        self._server.close()

    def _found(self, method: str, path: str, document: object = None) -> Json:
        try:
            return self._server.ask(method, path, document=document)
        except ApiServerError as error:
            if error.status == NOT_FOUND:
                raise _AbsentError from error
            raise


class _AbsentError(Exception):
    """There is no such object, or no such kind."""
