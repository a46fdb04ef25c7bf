"""Asks the processes of one data directory over HTTP, on their unix sockets."""

import http.client
import socket
from pathlib import Path

from nemutator_common import names
from nemutator_common.data_directory import DataDirectory
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.secret import Secret

from nemutator_ctl.api import Api, ApiResponse
from nemutator_ctl.exchanges import ANSWER_S, exchange, reason


class LocalApi(Api):
    """A process of *directory*, the brain by default, asked with the link token that lies there."""

    signing_in = "`nemutator link` first"

    def __init__(
        self, directory: DataDirectory, *, role: str = names.BRAIN, timeout_s: float = ANSWER_S
    ) -> None:
        self._directory = directory
        self._role = role
        self._timeout_s = timeout_s

    def _ask(self, method: str, target: str, body: bytes | None) -> ApiResponse:
        where = self._directory.socket(self._role)
        connection = _UnixConnection(where, self._timeout_s)
        try:
            # The token is read once somebody listens: without a controller there may be none.
            connection.connect()
            token = self._directory.link_token.read_text("ascii", errors="ignore").strip()
            return exchange(connection, method, target, body=body, token=Secret(token))
        except (FileNotFoundError, ConnectionRefusedError) as error:
            # No socket, one that nobody serves, or no token: `up` has made none of them.
            raise _not_running(self._directory, self._role, error) from error
        except (OSError, http.client.HTTPException) as error:
            raise OperatorError(
                f"{self._role} does not answer on {where}: {reason(error)}",
                remedy="look at the messages of `nemutator up`, and whether this user may enter"
                " its directory",
                code=ExitCode.UNREACHABLE,
            ) from error
        finally:
            connection.close()


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, where: Path, timeout_s: float) -> None:
        super().__init__("localhost", timeout=timeout_s)
        self._where = where

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._where))


def _not_running(directory: DataDirectory, role: str, error: OSError) -> OperatorError:
    missing = Path(str(error.filename)).name if error.filename else f"{role}.sock"
    return OperatorError(
        f"no nemutator runs on {directory.root}: {missing}: {error.strerror}",
        remedy="start it with `nemutator up`, or name its directory with --data-dir",
        code=ExitCode.UNREACHABLE,
    )
