{{- define "twinline.labels" -}}
app.kubernetes.io/name: twinline
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
{{- define "twinline.meta" -}}
name: {{ .Release.Name }}
labels:
  {{- include "twinline.labels" . | nindent 2 }}
{{- end }}
{{- /* Whether instances share Redis and MongoDB: then none keeps data of its own. */ -}}
{{- define "twinline.many" -}}
{{- if gt (int .Values.replicas.max) 1 }}yes{{ end }}
{{- end }}
