{{/* What JSON Schema cannot say of values is judged here, as strictly as the process that reads them: it would refuse to start. */}}

{{/* The image, which has no default. Call with the reference. */}}
{{- define "carrel.image" -}}
{{- . | required "image.reference is required: the image of Carrel by digest, such as --set image.reference=registry.example/carrel@sha256:<64 hex digits>. `npm run image -- <registry>/<repository>`, in a clone of the repository, builds and pushes it and prints the reference" -}}
{{- end -}}

{{/* The range of agents' user ids, which begins before it ends and leaves out the runner's. Call with the range. */}}
{{- define "carrel.uid-range" -}}
{{- $ends := splitList "-" . -}}
{{- $first := atoi (first $ends) -}}
{{- $last := atoi (last $ends) -}}
{{- if gt $first $last -}}
{{- fail (printf "agents.uidRange %s: the first number must not be larger than the last" .) -}}
{{- else if gt $last 2147483647 -}}
{{- fail (printf "agents.uidRange %s: the largest user id is 2147483647" .) -}}
{{- else if and (le $first 65532) (ge $last 65532) -}}
{{- fail (printf "agents.uidRange %s: 65532 is the user id of the runner, which holds the keys; write a range without it, for example 200000-265535" .) -}}
{{- end -}}
{{- . -}}
{{- end -}}

{{/* A list of ranges between commas, each one checked. Call with (dict "name" "egress.clusterCidrs" "entries" $list "ports" false). */}}
{{- define "carrel.ranges" -}}
{{- $withPort := "^(?:\\[([^\\]]+)\\]|([0-9./]+)):([0-9]{1,5})$" -}}
{{- range .entries -}}
{{- $range := . -}}
{{- $port := "1" -}}
{{- if and $.ports (regexMatch $withPort .) -}}
{{- $range = regexReplaceAll $withPort . "${1}${2}" -}}
{{- $port = regexReplaceAll $withPort . "${3}" -}}
{{- end -}}
{{- if or (ne (include "carrel.is-range" $range) "yes") (lt (atoi $port) 1) (gt (atoi $port) 65535) -}}
{{- fail (printf "%s: %q is not a range; write %s, and no bit behind the prefix (10.0.0.0/8, not 10.0.0.1/8)" $.name . ($.ports | ternary "10.0.0.0/8, 10.0.0.0/8:443 or [fd00::/8]:443" "10.244.0.0/16 or fd00::/64")) -}}
{{- end -}}
{{- end -}}
{{- join "," .entries -}}
{{- end -}}

{{/* `yes` for an address, or a range whose bits behind the prefix are all 0. Call with the text. */}}
{{- define "carrel.is-range" -}}
{{- $parts := splitList "/" . -}}
{{- $digits := include "carrel.hex-digits" (lower (first $parts)) -}}
{{- $bits := mul 4 (len $digits) -}}
{{- $prefix := $bits -}}
{{- $lengths := rest $parts -}}
{{- if regexMatch "^[0-9]{1,3}$" (join "/" $lengths) -}}
{{- $prefix = atoi (first $lengths) | int64 -}}
{{- $lengths = list -}}
{{- end -}}
{{- if and $digits (not $lengths) (le $prefix $bits) -}}
{{- /* Four bits a digit: whole digits before the prefix, at most one that it cuts, and nothing but 0 behind. */ -}}
{{- $cut := index (list "" "[08]" "[048c]" "[02468ace]") (mod $prefix 4) -}}
{{- if regexMatch (printf "^.{%d}%s0*$" (div $prefix 4) $cut) $digits -}}yes{{- end -}}
{{- end -}}
{{- end -}}

{{/* An address as 8 (IPv4) or 32 (IPv6) hexadecimal digits; empty when it is none. Call with the address in lower case. */}}
{{- define "carrel.hex-digits" -}}
{{- $octet := "(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])" -}}
{{- if regexMatch (printf "^(%s\\.){3}%s$" $octet $octet) . -}}
{{- range splitList "." . -}}{{- printf "%02x" (atoi .) -}}{{- end -}}
{{- else -}}
{{- $halves := splitList "::" . -}}
{{- $before := without (splitList ":" (first $halves)) "" -}}
{{- $after := list -}}
{{- if eq (len $halves) 2 -}}{{- $after = without (splitList ":" (last $halves)) "" -}}{{- end -}}
{{- $missing := sub 8 (add (len $before) (len $after)) -}}
{{- $groups := "([0-9a-f]{1,4}(:[0-9a-f]{1,4})*)?" -}}
{{- $whole := regexMatch (printf "^%s$" $groups) . | and (eq $missing 0) -}}
{{- $short := regexMatch (printf "^%s::%s$" $groups $groups) . | and (ge $missing 1) -}}
{{- if or $whole $short -}}
{{- range $before -}}{{- printf "000%s" . | trunc -4 -}}{{- end -}}
{{- repeat (mul 4 $missing | int) "0" -}}
{{- range $after -}}{{- printf "000%s" . | trunc -4 -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
