// A program of one kind, which profiles itself: `go-kinds KIND FILE` works until its input ends. Each
// line of its input begins or ends a profile by Go's own runtime, which it writes to FILE and says so.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
)

// kinds are what programs spend their time in. Each function works for some milliseconds.
var kinds = map[string]func(){
	"faults":   faults,
	"syscalls": syscalls,
	"http":     exchanges,
	"channels": channels,
	"garbage":  garbage,
	"inlining": inlining,
}

func main() {
	if len(os.Args) != 3 || kinds[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: go-kinds KIND FILE")
		os.Exit(2)
	}
	// As a small container has: which thread does what depends less on the machine.
	runtime.GOMAXPROCS(2)
	work := kinds[os.Args[1]]
	go func() {
		for {
			work()
		}
	}()
	if err := follow(os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// follow does what the lines of the input say.
func follow(file string) error {
	lines := bufio.NewScanner(os.Stdin)
	fmt.Println("ready")
	for lines.Scan() {
		if lines.Text() == "begin" {
			out, err := os.Create(file)
			if err != nil {
				return err
			}
			if err := pprof.StartCPUProfile(out); err != nil {
				return err
			}
			fmt.Println("begun")
			continue
		}
		pprof.StopCPUProfile()
		fmt.Println("ended")
	}
	return lines.Err()
}
