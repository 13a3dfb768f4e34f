module carrel.dev/test/support/go/tracer

go 1.26.0
