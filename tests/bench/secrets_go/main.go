// Command secrets_bench is what the bench `secrets` needs in Go: an honest twin of the socket of
// pods, and the callers of all that are compared.
package main

import (
	"fmt"
	"os"
)

func main() {
	if len(os.Args) < 2 {
		fail(fmt.Errorf("serve, read or flood"))
	}
	switch os.Args[1] {
	case "serve":
		serve(os.Args[2:])
	case "read":
		read(os.Args[2:])
	case "flood":
		flood(os.Args[2:])
	default:
		fail(fmt.Errorf("%q: serve, read or flood", os.Args[1]))
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
