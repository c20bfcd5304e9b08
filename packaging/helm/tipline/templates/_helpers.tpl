{{/* Name of all objects. The longest suffix, "-migrate", leaves 55 of the 63 characters of a name. */}}
{{- define "tipline.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 55 | trimSuffix "-" -}}
{{- else if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 55 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 55 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Labels by which pods of a component are selected. Arguments: root, component. */}}
{{- define "tipline.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{/* All labels of an object. Arguments: root, component. */}}
{{- define "tipline.labels" -}}
{{ include "tipline.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* Metadata of a pod. Arguments: root, component. */}}
{{- define "tipline.podMetadata" -}}
labels:
  {{- include "tipline.labels" . | nindent 2 }}
  {{- with .root.Values.podLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .root.Values.podAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "tipline.image" -}}
{{- $repository := required "image.repository is missing: set it to the registry and the name of the image, such as registry.example.org/tipline." .Values.image.repository -}}
{{- if .Values.image.digest -}}
{{ $repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ $repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{/* Scheme of the server and the worker, and name of the port of the server. */}}
{{- define "tipline.scheme" -}}
{{ empty .Values.tls.secretName | ternary "http" "https" }}
{{- end -}}

{{/*
An environment variable from a Secret. Arguments: root, name, required (whether a pod without it does not start).
The key in existingSecret is the name of the setting.
*/}}
{{- define "tipline.secret" -}}
{{- $missing := printf "%s comes from no Secret: set existingSecret to the name of a Secret with %s, or secretRefs.%s.name." .name .name .name -}}
{{- $ref := get .root.Values.secretRefs .name -}}
{{- if or $ref .required .root.Values.existingSecret }}
- name: {{ .name }}
  valueFrom:
    secretKeyRef:
      {{- if $ref }}
      name: {{ $ref.name }}
      key: {{ $ref.key | default .name }}
      {{- else }}
      name: {{ required $missing .root.Values.existingSecret }}
      key: {{ .name }}
      {{- if not .required }}
      optional: true
      {{- end }}
      {{- end }}
{{- end }}
{{- end -}}

{{/* Environment of the server and the worker. */}}
{{- define "tipline.env" -}}
- name: HOST
  value: {{ .Values.listenAddress | quote }}
- name: TIPLINE_DATA_DIR
  value: /var/lib/tipline/data
- name: TMPDIR
  value: /var/lib/tipline
{{- if .Values.tls.secretName }}
- name: TIPLINE_TLS_CERT
  value: /etc/tipline/tls/tls.crt
- name: TIPLINE_TLS_KEY
  value: /etc/tipline/tls/tls.key
{{- end }}
{{- range $name, $value := .Values.settings }}
- name: {{ $name }}
  {{- /* Helm reads numbers as floating-point numbers, and would write 1000000 as 1e+06. */}}
  value: {{ kindIs "float64" $value | ternary (int64 $value) $value | quote }}
{{- end }}
{{- /* Secret settings, and whether a pod fails to start without them. */}}
{{- $secrets := dict "DATABASE_URL" true "REDIS_URL" true "TIPLINE_SECRET" true "DATABASE_REPLICA_URLS" false "METRICS_TOKEN" .Values.serviceMonitor.enabled }}
{{- if .Values.settings.OIDC_ISSUER }}{{ $_ := set $secrets "OIDC_CLIENT_SECRET" true }}{{ end }}
{{- if .Values.tls.secretName }}{{ $_ := set $secrets "TIPLINE_TLS_PASSPHRASE" false }}{{ end }}
{{- range $name, $required := $secrets }}
{{- include "tipline.secret" (dict "root" $ "name" $name "required" $required) }}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Fields of all pods. Arguments: root, component. */}}
{{- define "tipline.pod" -}}
automountServiceAccountToken: false
# Kubernetes' variables for Services, such as WORKER_PORT=tcp://…, have names of settings.
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  seccompProfile:
    type: RuntimeDefault
  {{- range $name, $value := .root.Values.podSecurityContext }}
  {{- if not (kindIs "invalid" $value) }}
  {{ $name }}: {{ kindIs "float64" $value | ternary (int64 $value) $value | toJson }}
  {{- end }}
  {{- end }}
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end -}}

{{/* Fields of the pods of a Deployment. Arguments: root, component, storage. */}}
{{- define "tipline.servicePod" -}}
serviceAccountName: {{ .root.Values.serviceAccountName | default (include "tipline.fullname" .root) }}
{{ include "tipline.pod" . }}
{{- if .root.Values.topologyKeys }}
topologySpreadConstraints:
  {{- range .root.Values.topologyKeys }}
  - topologyKey: {{ . }}
    maxSkew: 1
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "tipline.selector" $ | nindent 8 }}
  {{- end }}
{{- end }}
volumes:
  - name: data
    emptyDir:
      sizeLimit: {{ .storage }}
  {{- if .root.Values.tls.secretName }}
  - name: tls
    secret:
      secretName: {{ .root.Values.tls.secretName }}
      defaultMode: 0440
  {{- end }}
  {{- with .root.Values.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{/* Fields of all containers. Arguments: root, component. */}}
{{- define "tipline.container" -}}
name: {{ .component }}
image: {{ include "tipline.image" .root }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end -}}

{{/* Mounts of the containers of a Deployment. */}}
{{- define "tipline.volumeMounts" -}}
- name: data
  mountPath: /var/lib/tipline
{{- if .Values.tls.secretName }}
- name: tls
  mountPath: /etc/tipline/tls
  readOnly: true
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/*
Probes. Arguments: root, port (its name). A process listens once the database is migrated; the Job has done that,
except where hooks are switched off: then it may take the five minutes of the startup probe.
*/}}
{{- define "tipline.probes" -}}
{{- $scheme := include "tipline.scheme" .root | upper -}}
startupProbe:
  httpGet: {path: /api/health, port: {{ .port }}, scheme: {{ $scheme }}}
  periodSeconds: 2
  timeoutSeconds: 2
  failureThreshold: 150
livenessProbe:
  httpGet: {path: /api/health, port: {{ .port }}, scheme: {{ $scheme }}}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: {path: /api/health/ready, port: {{ .port }}, scheme: {{ $scheme }}}
  periodSeconds: 5
  timeoutSeconds: 3
  failureThreshold: 2
{{- end -}}
