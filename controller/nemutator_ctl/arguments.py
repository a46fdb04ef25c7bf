"""What the commands share: options, spelled as kubectl spells them, and what they name."""

import argparse
import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import quote

from nemutator_common import names
from nemutator_common.data_directory import DataDirectory
from nemutator_common.data_directory_files import named
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.launching import settings_from
from nemutator_common.settings import Source
from nemutator_controller.yaml_documents import LARGEST
from nemutator_init.agent_socket import AgentSocket
from nemutator_init.waits import wait

from nemutator_ctl.api import Api
from nemutator_ctl.cluster_access import ClusterAccess, ClusterChoice
from nemutator_ctl.documents import Output, add_output, rendered
from nemutator_ctl.exchanges import ANSWER_S
from nemutator_ctl.item_names import item_names
from nemutator_ctl.local_api import LocalApi
from nemutator_ctl.parsers import Parser
from nemutator_ctl.settings import CtlSettings


def parser(
    command: str,
    summary: str,
    *,
    output: bool,
    remote: bool = False,
    wide: bool = False,
    watch: bool = False,
    name: bool = False,
    more: str = "",
) -> Parser:
    """A parser for one command, with `-o` when it has a document to show.

    *remote*: it may ask the brain of a cluster, by `brain()`. *wide*: its table may have more columns.
    *watch*: it lists what changes by itself; `repeated_list.py` runs it again and again then. *name*: it prints
    names alone, too, as all do that are *remote*. *more*: a form of output that it has alone, and the name of an
    option that does the same.
    """
    made = Parser(prog=f"nemutator {command}", description=summary, allow_abbrev=False)
    # The same destinations as launching.add_settings, so that settings_from finds them.
    made.add_argument("--config", metavar="FILE", help="settings file (TOML)")
    which = made.add_mutually_exclusive_group()
    which.add_argument(
        "--data-dir",
        metavar="DIR",
        dest="setting:data_dir",
        help="the data directory of the `nemutator up` to ask [NEMUTATOR_DATA_DIR]",
    )
    if remote:
        which.add_argument(
            "--brain",
            metavar="URL",
            dest="setting:brain",
            help="the brain of a cluster to ask: https://HOST:PORT [NEMUTATOR_CTL_BRAIN]",
        )
        _add_kubeconfig(which, made)
        made.add_argument(
            "--as-account",
            metavar="NAMESPACE/NAME",
            dest="setting:account",
            help="there, ask as this service account [NEMUTATOR_CTL_ACCOUNT]",
        )
        made.add_argument(
            "--brain-token-file",
            metavar="FILE",
            dest="setting:brain_token_file",
            help="a token of yours for that cluster [NEMUTATOR_CTL_BRAIN_TOKEN_FILE]",
        )
        made.add_argument(
            "--brain-ca-file",
            metavar="FILE",
            dest="setting:brain_ca_file",
            help="authorities that sign for that brain [NEMUTATOR_CTL_BRAIN_CA_FILE]",
        )
    if watch:
        made.add_argument(
            "-w", "--watch", action="store_true", help="again every two seconds, until Ctrl-C"
        )
    if output:
        add_output(made, wide=wide, name=name or remote, more=more)
    return made


def cluster_parser(command: str, summary: str) -> Parser:
    """A parser for a command that asks the API server of a kubeconfig alone, and no brain."""
    made = Parser(prog=f"nemutator {command}", description=summary, allow_abbrev=False)
    made.add_argument("--config", metavar="FILE", help="settings file (TOML)")
    _add_kubeconfig(made, made)
    add_output(made, name=True)
    return made


def _add_kubeconfig(context: argparse._ActionsContainer, file: argparse._ActionsContainer) -> None:
    context.add_argument(
        "--context",
        metavar="NAME",
        dest="setting:context",
        help="the cluster of this context of your kubeconfig [NEMUTATOR_CTL_CONTEXT]",
    )
    file.add_argument(
        "--kubeconfig",
        metavar="FILE",
        dest="setting:kubeconfig",
        help="that kubeconfig, if not where kubectl looks [NEMUTATOR_CTL_KUBECONFIG]",
    )


def add_cluster(made: argparse.ArgumentParser) -> None:
    """The option of a command that can show another cluster on the same database."""
    made.add_argument(
        "--cluster",
        metavar="NAME",
        type=_cluster,
        help="another cluster, of those that `nemutator clusters` shows",
    )


def _cluster(text: str) -> str:
    # An empty variable of a script would ask a path that there is not.
    if not text:
        raise argparse.ArgumentTypeError("expected the name of a cluster")
    return text


def of_cluster(arguments: argparse.Namespace, path: str) -> str:
    """*path* of the API, for the cluster that `--cluster` names."""
    if arguments.cluster is None:
        return path
    return f"{API}/clusters/{quote(arguments.cluster, safe='')}{path.removeprefix(API)}"


API = "/api/v1"


def add_agent(made: argparse.ArgumentParser) -> None:
    """The options of a command that asks the agent as every program of this machine does."""
    made.add_argument(
        "--socket",
        type=Path,
        metavar="PATH",
        help="where the agent listens, if not in the data directory (credentials.agent_socket)",
    )
    made.add_argument(
        "--wait",
        type=wait,
        default=30.0,
        metavar="SECONDS",
        help="how long to wait for an agent that starts: 30s",
    )


def agent(arguments: argparse.Namespace) -> AgentSocket:
    return AgentSocket(
        arguments.socket or directory(arguments).root / names.POD_SOCKET,
        remedy="start it with `nemutator up`, or name its socket with --socket",
    )


def brain(arguments: argparse.Namespace, *, timeout_s: float = ANSWER_S) -> Api:
    """The brain that *arguments*, the environment and the settings file name."""
    found = settings_from(CtlSettings, arguments)
    settings, sources = found.values, found.sources
    flags = {name for name, source in sources.items() if source is Source.FLAG}
    is_local = "data_dir" in flags and not flags & {"brain", "context", "kubeconfig"}
    of_cluster = settings.context is not None or settings.kubeconfig is not None
    if of_cluster and not is_local and (flags & {"context", "kubeconfig"} or "brain" not in flags):
        from nemutator_ctl.cluster_api import ClusterApi

        wanted = _choice(settings)
        return ClusterApi(wanted, token_file=settings.brain_token_file, timeout_s=timeout_s)
    if settings.brain is None or is_local:
        return LocalApi(named(settings.data_dir), timeout_s=timeout_s)
    # TLS takes longer to import than a question to this machine takes.
    from nemutator_ctl.remote_api import RemoteApi

    return RemoteApi(
        settings.brain,
        token_file=settings.brain_token_file,
        ca_file=settings.brain_ca_file,
        timeout_s=timeout_s,
    )


def cluster_access(arguments: argparse.Namespace) -> ClusterAccess:
    """The cluster that *arguments*, the environment, the settings file or the current context name."""
    return ClusterAccess(_choice(settings_from(CtlSettings, arguments).values))


def _choice(settings: CtlSettings) -> ClusterChoice:
    return ClusterChoice(
        kubeconfig=settings.kubeconfig,
        context=settings.context or "",
        namespace=settings.installation,
        account=settings.account,
    )


def directory(arguments: argparse.Namespace) -> DataDirectory:
    """The data directory that *arguments*, the environment and the settings file name."""
    return named(settings_from(CtlSettings, arguments).values.data_dir)


def write(document: object, output: str, table: Callable[[], str]) -> None:
    """Write *document* as the option `-o` asks for it: as the *table* for people, or whole."""
    kind = Output(output)
    people = kind is Output.TABLE or kind is Output.WIDE
    if kind is Output.NAME:
        sys.stdout.write(item_names(document))
    else:
        sys.stdout.write(table() if people else rendered(document, kind))


def show_list(
    listing: Parser, argv: Sequence[str], path: str, table: Callable[[object], str]
) -> int:
    """Show what the brain lists at *path*, of one namespace or of all; to be read by *listing*, which has `-o` and may ask
    a cluster."""
    listing.add_argument("-n", "--namespace", metavar="NAMESPACE", help="only of this one")
    given = listing.parse_args(argv)
    document = brain(given).get(path, {"namespace": given.namespace} if given.namespace else {})
    write(document, given.output, lambda: table(document))
    return ExitCode.OK


def present(**query: str | None) -> dict[str, str]:
    """The parameters of a query that were given."""
    return {name: value for name, value in query.items() if value is not None}


def seconds(text: str) -> float:
    """As JSON can say it."""
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise argparse.ArgumentTypeError(f"{text!r}: expected a number of seconds")
    return found


def content(path: Path) -> bytes:
    """What is in the file of documents that an argument names, or an `OperatorError`; - is standard input."""
    if path == Path("-"):
        path = Path("/dev/stdin")
    try:
        with path.open("rb") as file:
            # One byte more than is allowed, so that the parser notices and says so.
            return file.read(LARGEST + 1)
    except OSError as error:
        raise OperatorError(
            f"{path}: {error.strerror or error}",
            remedy="name a file that this user can read",
            code=ExitCode.USAGE,
        ) from error
