"""`nemutator install`, from its command line to its end."""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nemutator_common import names
from nemutator_common.errors import ExitCode, OperatorError

from nemutator_ctl import arguments
from nemutator_ctl.documents import Output, rendered
from nemutator_ctl.installation import files
from nemutator_ctl.installation.chart_values import ValuesError, assigned
from nemutator_ctl.installation.install_steps import InstallSteps
from nemutator_ctl.installation.kube_objects import ApiServerObjects
from nemutator_ctl.installation.object_paths import ObjectPlace
from nemutator_ctl.installation.rendered_manifests import chosen, left_out, text_of
from nemutator_ctl.installation.rendered_manifests import rendered as manifests
from nemutator_ctl.installation.waits import seconds
from nemutator_ctl.parsers import Parser
from nemutator_ctl.terminal_text import visible

Json = dict[str, Any]

WIDTH = 400
NEWEST = (1, 99)
"""Of a cluster that is not asked: one that knows all that is shipped."""


def main(argv: Sequence[str]) -> int:
    parser = _parser()
    given = parser.parse_args(argv)
    shipped = files.shipped()
    try:
        values = chosen(
            shipped,
            *(files.values_in(path) for path in given.values),
            *(assigned(text) for text in given.set),
        )
        kubernetes = _version(given.kube_version) if given.kube_version else None
    except ValuesError as error:
        raise OperatorError(
            str(error),
            remedy="the chart's values.yaml explains them; docs/reference.md lists all settings",
            code=ExitCode.USAGE,
        ) from error
    if given.dry_run == "client":
        documents = manifests(shipped, values, kubernetes=kubernetes or NEWEST)
        sys.stdout.write(_printed(documents, given.output))
        return ExitCode.OK
    objects = ApiServerObjects(arguments.cluster_access(given))
    documents = manifests(shipped, values, kubernetes=kubernetes or objects.version())
    person = Person(given.output, is_dry=given.dry_run is not None)
    try:
        InstallSteps(
            objects,
            RealPatience(),
            person,
            force=given.force_conflicts,
            dry_run=given.dry_run is not None,
        ).install(
            documents, left_out(shipped, values), wait_s=given.timeout if given.wait else None
        )
    finally:
        # However it ended, these have been made.
        person.end()
    if given.dry_run is None:
        person.say(
            f"nemutator is installed. Opt a namespace in: kubectl label namespace shop {names.INJECT}=enabled"
        )
    return ExitCode.OK


class RealPatience:
    """Time as it passes."""

    def monotonic(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


class Person:
    """Who typed the command: progress on standard error, results on standard output, as *output* wants them."""

    def __init__(self, output: str, *, is_dry: bool) -> None:
        self._output = Output(output)
        self._suffix = " (dry run)" if is_dry else ""
        self._made: list[Json] = []

    def say(self, text: str) -> None:
        sys.stderr.write(visible(text, limit=WIDTH) + "\n")
        sys.stderr.flush()

    def done(self, place: ObjectPlace, outcome: str, document: Json | None) -> None:
        if self._output is Output.NAME:
            sys.stdout.write(f"{place}\n")
        elif self._output is Output.TABLE:
            sys.stdout.write(f"{place} {outcome}{self._suffix}\n")
        elif document is not None:
            self._made.append(document)
        sys.stdout.flush()

    def end(self) -> None:
        if self._output in (Output.JSON, Output.YAML):
            sys.stdout.write(_printed(self._made, self._output.value))


def add_cluster_options(parser: Parser, *, timeout: str) -> None:
    """Those of both commands."""
    parser.add_argument(
        "--dry-run",
        nargs="?",
        const="client",
        choices=("client", "server"),
        metavar="client|server",
        help="change nothing: print what would be (client), or have the API server try it (server)",
    )
    parser.add_argument(
        "--timeout",
        type=seconds,
        default=seconds(timeout),
        metavar="DURATION",
        help=f"how long to wait, like 90s or 5m: {timeout}",
    )


def _parser() -> Parser:
    parser = arguments.cluster_parser(
        "install",
        "Install nemutator in the cluster of your kubeconfig, or bring it to this version: what the Helm chart"
        " installs, with the same values.",
    )
    parser.add_argument(
        "-f",
        "--values",
        action="append",
        default=[],
        type=Path,
        metavar="FILE",
        help="values, as for the chart (YAML); later files win",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="one or more of them: credentials.enabled=false,vault.address=https://…",
    )
    add_cluster_options(parser, timeout="10m")
    parser.add_argument(
        "--wait",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="until everything is ready",
    )
    parser.add_argument(
        "--force-conflicts",
        action="store_true",
        help="take fields that somebody else has set to other values",
    )
    parser.add_argument(
        "--kube-version",
        metavar="1.N",
        help="for a cluster of this version, where --dry-run asks none",
    )
    return parser


def _version(text: str) -> tuple[int, int]:
    major, _, minor = text.removeprefix("v").partition(".")
    if not major.isdecimal() or not minor.partition(".")[0].isdecimal():
        raise ValuesError(f"--kube-version: {text[:40]!r} is no version like 1.36")
    return int(major), int(minor.partition(".")[0])


def _printed(documents: list[Json], output: str) -> str:
    kind = Output(output)
    if kind is Output.NAME:
        return "".join(f"{ObjectPlace.of(each)}\n" for each in documents)
    if kind is Output.JSON:
        return rendered({"apiVersion": "v1", "kind": "List", "items": documents}, kind)
    return text_of(documents, lambda each: rendered(each, Output.YAML))
