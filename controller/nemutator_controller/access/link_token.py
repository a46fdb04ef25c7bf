"""Callers on this machine: a process that can read the link token can enter the data directory anyway."""

import logging
from dataclasses import dataclass

from nemutator_common import names
from nemutator_common.data_directory import DataDirectory
from nemutator_common.data_directory_files import read_link_token
from nemutator_common.errors import OperatorError
from nemutator_common.secret import Secret

from nemutator_controller.access.callers import LOCAL, Caller

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LinkToken:
    """A `Callers` that reads the token anew each time, because each `nemutator up` renews it."""

    directory: DataDirectory

    async def recognise(self, authorization: str | None, *, source: str) -> Caller | None:
        scheme, _, credentials = (authorization or "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        try:
            token = read_link_token(self.directory)
        except OperatorError as error:
            log.error("link_token_unreadable", {names.ERROR: error.what})
            return None
        # An empty file may not admit an empty token.
        return LOCAL if token and Secret(credentials.strip()) == token else None
