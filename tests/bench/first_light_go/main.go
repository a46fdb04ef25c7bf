// Command first_light is what the bench of the same name needs in Go: the peer of our webhook, and
// whoever asks both of them the same.
package main

import (
	"fmt"
	"os"
)

func main() {
	if len(os.Args) < 2 {
		fail(fmt.Errorf("serve or ask"))
	}
	switch os.Args[1] {
	case "serve":
		serve(os.Args[2:])
	case "ask":
		ask(os.Args[2:])
	default:
		fail(fmt.Errorf("%q: serve or ask", os.Args[1]))
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
