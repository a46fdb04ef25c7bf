"""`nemutator uninstall`, from its command line to its end."""

import time
from collections.abc import Sequence

from nemutator_common.errors import ExitCode

from nemutator_ctl import arguments
from nemutator_ctl.installation import files
from nemutator_ctl.installation.command import Person, RealPatience, add_cluster_options
from nemutator_ctl.installation.kube_objects import ApiServerObjects
from nemutator_ctl.installation.removal_steps import RemovalChoice, RemovalSteps
from nemutator_ctl.installation.rendered_manifests import everything
from nemutator_ctl.parsers import Parser


def main(argv: Sequence[str]) -> int:
    given = _parser().parse_args(argv)
    shipped = files.shipped()
    person = Person(given.output, is_dry=given.dry_run is not None)
    wanted = RemovalChoice(
        restarts=given.restart,
        force=given.force,
        data=given.delete_data,
        definitions=given.delete_definitions,
        dry_run=given.dry_run,
        wait_s=given.timeout,
    )
    objects = ApiServerObjects(arguments.cluster_access(given))
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    try:
        RemovalSteps(objects, RealPatience(), person).remove(
            everything(shipped), shipped.definitions, wanted, at=now
        )
    finally:
        person.end()
    if given.dry_run is None:
        for is_kept, what in (
            (not given.delete_data, "namespace nemutator, with the brain's data (--delete-data)"),
            (
                not given.delete_definitions,
                "the definitions and all policies (--delete-definitions)",
            ),
        ):
            if is_kept:
                person.say(f"kept: {what}")
    return ExitCode.OK


def _parser() -> Parser:
    parser = arguments.cluster_parser(
        "uninstall",
        "Take nemutator out of the cluster of your kubeconfig: webhooks first, the agent once no pod has a socket"
        " of it. What the brain knows and all policies stay, unless you say otherwise.",
    )
    add_cluster_options(parser, timeout="10m")
    parser.add_argument(
        "--restart",
        action="store_true",
        help="make workloads anew whose pods have a socket, as kubectl rollout restart does",
    )
    parser.add_argument(
        "--force", action="store_true", help="do not wait for pods that have a socket"
    )
    parser.add_argument(
        "--delete-data",
        action="store_true",
        help="delete the namespace, too: journal, advice, profiles, certificates",
    )
    parser.add_argument(
        "--delete-definitions", action="store_true", help="delete the definitions, and all policies"
    )
    return parser
