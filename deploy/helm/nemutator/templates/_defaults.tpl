{{- /* Written by `make fmt` from deploy/manifests: change that. */}}
{{- define "nemutator.defaults" }}
{
  "credentials": {
    "vault_address": "https://vault.vault.svc:8200",
    "brain": "https://nemutator-brain.nemutator.svc:8421",
    "audit_key_file": "/var/run/nemutator-audit/keys"
  },
  "observe": {
    "brain": "https://nemutator-brain.nemutator.svc:8421"
  },
  "admission": {
    "address": "0.0.0.0:8443",
    "brain": "https://nemutator-brain.nemutator.svc:8421",
    "init_image": "nemutator/agent:0.1.0"
  }
}
{{- end }}
{{- define "nemutator.metricsPorts" }}
{"admission": 9467, "mount": 9464, "credentials": 9465, "observe": 9466, "brain": 9468}
{{- end }}
