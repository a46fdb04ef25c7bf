"""Whom everybody trusts, after the brain's first start."""

import base64
import json

import pytest
from cryptography import x509

from tests.e2e.testbed.in_cluster.installation import (
    Installation,
    ended,
    refusals,
    started,
    without,
)


@pytest.mark.timeout(180)  # a control plane that may be busy, and a process with its imports
def test_ours_are_trusted_and_nothing_of_others_is_touched(installation: Installation) -> None:
    authority = installation.cluster.get(
        "configmap", "nemutator-ca", f"-n={installation.namespace}"
    )
    published = authority["data"]["ca.crt"]
    ours, theirs = installation.webhooks()
    assert base64.b64decode(ours["clientConfig"]["caBundle"]).decode() == published
    assert "caBundle" not in theirs["clientConfig"]
    leaf = installation.cluster.get(
        "secret", "nemutator-admission-tls", f"-n={installation.namespace}"
    )
    certificate = x509.load_pem_x509_certificate(base64.b64decode(leaf["data"]["tls.crt"]))
    certificate.verify_directly_issued_by(x509.load_pem_x509_certificate(published.encode()))
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    service = f"nemutator-admission.{installation.namespace}.svc"
    assert service in names.get_values_for_type(x509.DNSName)
    print(f"caBundle of {ours['name']} is the authority's; {service} has its certificate")

    assert refusals(installation) == []
    without("PRIVATE KEY", installation)


@pytest.mark.timeout(180)  # a control plane that may be busy, and a process with its imports
def test_what_somebody_has_spoilt_is_mended_by_the_next_check(installation: Installation) -> None:
    cluster, where = installation.cluster, f"-n={installation.namespace}"
    published = cluster.get("configmap", "nemutator-ca", where)["data"]
    spoilt = {
        "configmap/nemutator-ca": {"ca.crt": "nobody's"},
        "secret/nemutator-admission-tls": {"tls.crt": base64.b64encode(b"nobody's").decode()},
    }
    for name, data in spoilt.items():
        patch = json.dumps({"data": data})
        cluster.kubectl("patch", name, where, "--type=merge", f"--patch={patch}")
    # Its first check is that of its start.
    ended(installation)
    started(installation)
    assert cluster.get("configmap", "nemutator-ca", where)["data"] == published
    leaf = cluster.get("secret", "nemutator-admission-tls", where)["data"]["tls.crt"]
    issued = x509.load_pem_x509_certificate(base64.b64decode(leaf))
    issued.verify_directly_issued_by(x509.load_pem_x509_certificate(published["ca.crt"].encode()))
    assert refusals(installation) == []
