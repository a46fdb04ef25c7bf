"""Checks of the settings' texts: each says what it expected, or nothing when the text will do."""

import ipaddress
import re
import zoneinfo
from collections.abc import Callable, Collection
from urllib.parse import parse_qsl, urlsplit

from nemutator_common.addresses import TcpAddress, parse_address

from nemutator_controller.prices import PriceError, written_prices


def loopback(text: str) -> str | None:
    """The address is loopback. The console serves plain HTTP, so its cookie may not leave
    this machine."""
    expected = "expected an address of this machine itself, like 127.0.0.1:8420"
    try:
        address = parse_address(text)
    except ValueError:
        return expected
    if isinstance(address, TcpAddress) and ipaddress.ip_address(address.host).is_loopback:
        return None
    return expected


def absolute_path(text: str) -> str | None:
    if text.startswith("/") and "\0" not in text and ".." not in text.split("/"):
        return None
    return "expected a folder's path from the root, like /etc/systemd/system"


def listening(text: str) -> str | None:
    """The text is an address to listen on."""
    try:
        parse_address(text)
    except ValueError as wrong:
        return str(wrong)
    return None


_WEB = re.compile(
    r"https?://(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)(:[0-9]{1,5})?(/[\w./~-]*)?", re.ASCII
)


def web_address(text: str) -> str | None:
    """*text* is empty, or where a server is, without a user or a query that hold secrets."""
    return (
        None if not text or _WEB.fullmatch(text) else "expected an address like https://host:port"
    )


_LABELS = re.compile(r"[\w./-]{1,317}=[\w.-]{0,63}(,[\w./-]{1,317}=[\w.-]{0,63})*", re.ASCII)


def label_pairs(text: str) -> str | None:
    """*text* is empty, or what labels have to be."""
    fits = not text or _LABELS.fullmatch(text)
    return None if fits else "expected labels like pool=reserve, with commas between"


def web_address_or(word: str) -> Callable[[str], str | None]:
    """The same, or *word*."""
    return lambda text: None if text == word else web_address(text)


def web_address_or_host(text: str) -> str | None:
    """The same, or a name alone."""
    fits = not web_address(text) or ("." in text and _HOST.fullmatch(text))
    return (
        None if fits else "expected a name like datadoghq.eu, or an address like https://host:port"
    )


def words_in(text: str) -> frozenset[str]:
    """The words of a setting that takes several, with commas between."""
    return frozenset(word for part in text.split(",") if (word := part.strip()))


def some_of(known: Collection[str]) -> Callable[[str], str | None]:
    """Each word of the text is one of *known*."""
    listed = ", ".join(sorted(known))
    return lambda text: None if words_in(text) <= set(known) else f"expected some of {listed}"


def header(text: str) -> str | None:
    """The text can stand in a header."""
    fits = len(text) <= 150 and text.isascii() and text.isprintable()
    return None if fits else "expected up to 150 letters, digits and signs of ASCII"


def time_zone(text: str) -> str | None:
    """The text names a zone that this machine knows."""
    if text == "UTC":
        return None
    try:
        zoneinfo.ZoneInfo(text)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return "expected UTC, or a zone like Europe/Berlin that this machine's tzdata has"
    return None


def is_private(url: str) -> bool:
    """Whether what is sent to *url* does not leave this machine."""
    found = _WEB.fullmatch(url)
    host = found["host"].strip("[]") if found else ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_HOST = re.compile(r"[A-Za-z0-9:]([A-Za-z0-9.:-]{0,251}[A-Za-z0-9])?")


def dns_label(text: str) -> str | None:
    """The text is a valid name of a namespace or service account in Kubernetes."""
    return None if _LABEL.fullmatch(text) else "expected small letters, digits and dashes"


def cluster_name(text: str) -> str | None:
    """The text is empty, or a name that can be part of a schema's and of an address."""
    fits = not text or (len(text) <= LONGEST_CLUSTER_NAME and _LABEL.fullmatch(text))
    return None if fits else "expected up to 40 small letters, digits and dashes"


LONGEST_CLUSTER_NAME = 40
"""PostgreSQL cuts names of schemas at 63 bytes."""


def host_names(text: str) -> str | None:
    """The text is names or addresses with commas between them."""
    named = [name.strip() for name in text.split(",")] if text else []
    return None if all(map(_HOST.fullmatch, named)) else "expected names with commas between"


def redis_url(text: str) -> str | None:
    """The text is empty, or where a Redis is, without a password."""
    if not text:
        return None
    try:
        parts = urlsplit(text)
        port, database = parts.port, parts.path.strip("/") or "0"
    except ValueError:
        return _REDIS
    extra = parts.username or parts.password or parts.query or parts.fragment
    good = parts.scheme in ("redis", "rediss") and parts.hostname and port != 0 and not extra
    return None if good and re.fullmatch("[0-9]{1,4}", database) else _REDIS


def database_url(text: str) -> str | None:
    """The text is empty, or where a database of PostgreSQL is, without a password."""
    if not text:
        return None
    try:
        parts = urlsplit(text)
        port = parts.port
        options = dict(parse_qsl(parts.query, strict_parsing=True)) if parts.query else {}
    except ValueError:
        return _POSTGRES
    named = parts.scheme in ("postgresql", "postgres") and parts.hostname and parts.username
    good = named and parts.path.strip("/") and port != 0 and not parts.fragment
    if not good or parts.password is not None or not options.keys() <= DATABASE_OPTIONS:
        return _POSTGRES
    return None


DATABASE_OPTIONS = frozenset({"sslmode", "sslrootcert", "sslcert", "sslkey"})
"""What may follow a `?` there: the connection's TLS, in the words of PostgreSQL."""

_POSTGRES = (
    "expected postgresql://USER@HOST:PORT/DATABASE, without a password, and after a ? no more than "
    + ", ".join(sorted(DATABASE_OPTIONS))
)

_REDIS = "expected redis://HOST:PORT/0 or rediss://HOST:PORT/0, without a password"


def prices(text: str) -> str | None:
    """The text is empty, or what a core and a GiB cost."""
    try:
        written_prices(text)
    except PriceError as error:
        return str(error)
    return None
