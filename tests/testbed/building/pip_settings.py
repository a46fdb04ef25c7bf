"""What pip must be told inside of a build, to reach its index as it does on this machine."""

import configparser
from collections.abc import Iterable, Mapping
from pathlib import Path

SECTION = "global"
# As pip calls them; PIP_INDEX_URL and its like say the same and come before the files.
LENT = ("index-url", "extra-index-url", "trusted-host", "proxy", "cert")
# Where people name the authorities of their network for all programs.
AUTHORITIES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")

SETTINGS_INSIDE = "/etc/pip.conf"
AUTHORITIES_INSIDE = "/run/testbed-authorities.pem"


def lent(environment: Mapping[str, str], scratch: Path) -> dict[Path, str]:
    """Files for a build, and where it must find them; what is not there yet goes to *scratch*."""
    named = environment.get("PIP_CONFIG_FILE")
    files = [Path("/etc/pip.conf"), Path.home() / ".config/pip/pip.conf"]
    files += [Path(named)] if named else []
    found = settled([file.read_text() for file in files if file.is_file()], environment)
    if not found:
        return {}
    given = {}
    if authorities := found.get("cert"):
        given[Path(authorities)] = AUTHORITIES_INSIDE
        found["cert"] = AUTHORITIES_INSIDE
    settings = scratch / "pip.conf"
    settings.touch(mode=0o600)  # the URL of an index may hold a password
    writing = configparser.ConfigParser(interpolation=None)
    writing[SECTION] = found
    with settings.open("w") as file:
        writing.write(file)
    return given | {settings: SETTINGS_INSIDE}


def settled(texts: Iterable[str], environment: Mapping[str, str]) -> dict[str, str]:
    """What holds of LENT after pip's files, the last one first, and the environment."""
    reading = configparser.ConfigParser(interpolation=None)
    for text in texts:
        reading.read_string(text)
    said = {name: environment.get(f"PIP_{name.upper().replace('-', '_')}", "") for name in LENT}
    written = {name: reading.get(SECTION, name, fallback="") for name in LENT}
    found = {name: said[name] or written[name] for name in LENT}
    found["cert"] = found["cert"] or next(
        (environment[name] for name in AUTHORITIES if environment.get(name)), ""
    )
    return {name: value for name, value in found.items() if value}
