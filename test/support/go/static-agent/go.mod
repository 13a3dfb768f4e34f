module carrel.dev/test/support/go/static-agent

go 1.26.0
