{{/* Prefix of every object: independent of the release name, because processes find each other by fixed names. */}}
{{- define "carrel.name" -}}
{{- .Values.nameOverride | default "carrel" -}}
{{- end -}}

{{/* Labels of every object. Call with (dict "root" $ "process" "gateway"). */}}
{{- define "carrel.labels" -}}
app.kubernetes.io/name: {{ include "carrel.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .process }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{/* Labels that select the pods of one process. */}}
{{- define "carrel.selector" -}}
app.kubernetes.io/name: {{ include "carrel.name" .root }}
app.kubernetes.io/component: {{ .process }}
{{- end -}}

{{/* User name of the service account of a process. */}}
{{- define "carrel.user" -}}
{{- printf "system:serviceaccount:%s:%s-%s" .root.Release.Namespace (include "carrel.name" .root) .process -}}
{{- end -}}

{{/* Pod settings that are the same for every process: restricted Pod Security. */}}
{{- define "carrel.pod" -}}
serviceAccountName: {{ include "carrel.name" .root }}-{{ .process }}
enableServiceLinks: false
terminationGracePeriodSeconds: 30
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{/* Container settings that are the same for every process; the caller adds env, ports and mounts. */}}
{{- define "carrel.container" -}}
name: {{ .process }}
image: {{ include "carrel.image" .root.Values.image.reference | quote }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
command: ["/carrel/bin/node", "/carrel/app/{{ .process }}.js"]
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
resources: {{- toYaml .resources | nindent 2 }}
startupProbe:
  httpGet: {path: /healthz, port: health}
  periodSeconds: 1
  failureThreshold: 60
livenessProbe:
  httpGet: {path: /healthz, port: health}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: {path: /readyz, port: health}
  periodSeconds: 2
  timeoutSeconds: 5
{{- end -}}

{{/* Environment of every process. */}}
{{- define "carrel.env" -}}
- {name: CARREL_RELEASE_NAMESPACE, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}
- {name: CARREL_POD_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
- {name: CARREL_LOG_LEVEL, value: {{ .Values.logLevel | quote }}}
{{- end -}}

{{/* Where the archive answers, for controller and gateway. */}}
{{- define "carrel.archive-url" -}}
http://{{ include "carrel.name" . }}-archive.{{ .Release.Namespace }}.svc:8080
{{- end -}}

{{/* The projected token that the archive takes: mounted in controller and gateway. */}}
{{- define "carrel.archive-token" -}}
- name: tokens
  projected:
    sources:
      - serviceAccountToken: {audience: carrel-archive, path: archive, expirationSeconds: 3600}
{{- end -}}

{{/* `yes` where the API server can stamp who wrote something (Kubernetes 1.36), else empty. */}}
{{- define "carrel.stamped" -}}
{{- if .Capabilities.APIVersions.Has "admissionregistration.k8s.io/v1/MutatingAdmissionPolicy" -}}yes{{- end -}}
{{- end -}}

{{/* Users that count as the platform in policies, as a CEL list. */}}
{{- define "carrel.writers" -}}
{{- $ours := list (include "carrel.user" (dict "root" . "process" "controller")) (include "carrel.user" (dict "root" . "process" "gateway")) -}}
[{{ range $i, $user := concat $ours .Values.policies.extraWriters }}{{ if $i }}, {{ end }}'{{ $user }}'{{ end }}]
{{- end -}}

{{/* The platform's own service accounts, which state authors and owners themselves; other writers are stamped. As a CEL list. */}}
{{- define "carrel.stamped-by-themselves" -}}
['{{ include "carrel.user" (dict "root" . "process" "controller") }}', '{{ include "carrel.user" (dict "root" . "process" "gateway") }}']
{{- end -}}
