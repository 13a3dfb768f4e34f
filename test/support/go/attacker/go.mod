module carrel.dev/test/support/go/attacker

go 1.26.0
