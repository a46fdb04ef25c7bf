"""Whom everybody trusts, after the brain's first start."""

import base64

import pytest
from cryptography import x509

from tests.e2e.testbed.in_cluster.installation import Installation, refusals, without


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
