{{- define "nemutator.image" -}}
{{- $top := index . 0 }}{{ $image := index . 1 -}}
{{- with $top.Values.images.registry }}{{ . }}/{{ end }}{{ $image.repository -}}
{{- if $image.digest }}@{{ $image.digest }}{{ else }}:{{ $image.tag | default $top.Chart.AppVersion }}{{ end -}}
{{- end }}

{{- /* The settings of all processes: the manifests', then what the values say, then `settings` itself. */}}
{{- define "nemutator.settings" -}}
{{- $all := include "nemutator.defaults" . | fromJson }}
{{- $_ := set $all.credentials "vault_address" .Values.vault.address }}
{{- if .Values.vault.ca }}{{ $_ := set $all.credentials "vault_ca_file" "/etc/nemutator/vault-ca.crt" }}{{ end }}
{{- if ne .Values.kubeletRoot "/var/lib/kubelet" }}{{ $_ := set $all "mount" (dict "kubelet_root" .Values.kubeletRoot) }}{{ end }}
{{- $init := "" }}
{{- if .Values.credentials.enabled }}{{ $init = include "nemutator.image" (list . .Values.images.agent) }}{{ end }}
{{- $_ := set $all.admission "init_image" $init }}
{{- if .Values.scheduler.enabled }}{{ $_ := set $all "brain" (merge (dict "extender" "0.0.0.0:8423") ($all.brain | default dict)) }}{{ end }}
{{- if .Values.metrics.enabled }}
{{- $address := .Values.metrics.address }}
{{- range $role, $port := include "nemutator.metricsPorts" . | fromJson }}
{{- $_ := set $all $role (merge (dict "metrics" (printf "%s:%v" $address $port)) (index $all $role | default dict)) }}
{{- end }}
{{- end }}
{{- mergeOverwrite $all .Values.settings | toJson }}
{{- end }}

{{- /* As TOML, whose strings, numbers and lists are written as JSON's. Tables come last there. */}}
{{- define "nemutator.settingsText" -}}
{{- $all := include "nemutator.settings" . | fromJson }}
{{- range $name, $value := $all }}{{ if not (kindIs "map" $value) }}
{{ $name }} = {{ toJson $value }}
{{- end }}{{ end }}
{{- range $role, $table := $all }}{{ if kindIs "map" $table }}
[{{ $role }}]
{{- range $name, $value := $table }}
{{ $name }} = {{ toJson $value }}
{{- end }}
{{ end }}{{ end }}
{{- end }}
