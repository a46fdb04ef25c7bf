"""Options of `nemutator advise` that name a Prometheus or Datadog: apart, because arithmetic takes long to import."""

import argparse
from pathlib import Path

from nemutator_controller.prometheus_services import FIND

OURS = "nemutator"
HOURLY = "nemutator-hourly"
STRATEGIES = (OURS, HOURLY, "vpa", "krr", "krr-limit", "seed")


def add_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("advice from a Prometheus or Datadog, with nothing installed")
    group.add_argument(
        "--prometheus",
        metavar="URL",
        nargs="?",
        const=FIND,
        help="of Prometheus, Thanos, Mimir or VictoriaMetrics; without a URL, one of the kubeconfig's cluster",
    )
    group.add_argument(
        "--datadog",
        metavar="SITE",
        help="where an account with Datadog is, like datadoghq.eu",
    )
    group.add_argument(
        "--days", type=int, default=8, help="of use that are read (%(default)s; up to 14)"
    )
    group.add_argument(
        "--strategy",
        choices=STRATEGIES,
        default=OURS,
        help="whose answer is shown (%(default)s)",
    )
    for name, meaning in (
        ("token", "with a bearer token, such as a service account's"),
        ("password", "with the password of --prometheus-user"),
        ("ca", "with who signs its certificate"),
        ("certificate", "with a certificate of yours, where it asks for one"),
        ("key", "with the key of that certificate"),
    ):
        group.add_argument(
            f"--prometheus-{name}-file", type=Path, metavar="FILE", help=f"a file {meaning}"
        )
    group.add_argument("--prometheus-user", metavar="NAME", help="that it asks for")
    group.add_argument("--prometheus-tenant", metavar="NAME", help="X-Scope-OrgID")
    for name, meaning in (("api", ""), ("application", ", which needs timeseries_query alone")):
        group.add_argument(
            f"--datadog-{name}-key-file",
            type=Path,
            metavar="FILE",
            help=f"a file with the {name} key{meaning}",
        )
    group.add_argument(
        "--datadog-cluster",
        metavar="NAME",
        default="",
        help="what the cluster is called there; without it, all that it knows is taken for one",
    )
    group.add_argument(
        "--recording-rules",
        action="store_true",
        help="print the rules that make such questions cheap, and ask nobody",
    )
