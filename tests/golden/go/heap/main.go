// Command heap keeps and drops memory of many kinds, stays quiet, and writes its own heap profile
// as often as a line arrives: what a reader from outside must find. It also says what its runtime
// has counted.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strconv"
	"strings"
)

type node struct {
	left, right *node
	name        string
}

var (
	kept  [][]byte
	trees []*node
	table = map[string][]string{}

	parked int
	leave  = make(chan struct{})
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "off" {
		runtime.MemProfileRate = 0
	}
	if len(os.Args) > 1 && os.Args[1] == "all" {
		runtime.MemProfileRate = 1
	}
	if len(os.Args) > 1 && os.Args[1] == "early" {
		debug.SetGCPercent(-1)
		work(2000)
	} else {
		work(20000)
		runtime.GC()
		runtime.GC()
	}
	fmt.Println(runtime.Version())
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		if lines.Text() == "more" {
			work(3000)
			runtime.GC()
			runtime.GC()
			fmt.Println("more")
			continue
		}
		var number int
		if _, err := fmt.Sscanf(lines.Text(), "goroutines %d", &number); err == nil {
			park(number)
			var memory runtime.MemStats
			runtime.ReadMemStats(&memory)
			fmt.Println(runtime.NumGoroutine(), memory.NumGC, memory.PauseTotalNs)
			continue
		}
		file, err := os.Create(lines.Text())
		if err == nil {
			err = pprof.Lookup("heap").WriteTo(file, 0)
		}
		if err == nil {
			err = file.Close()
		}
		fmt.Println("written", err)
	}
}

// park starts goroutines that wait, or ends some of them: so many are left.
func park(number int) {
	for ; parked < number; parked++ {
		go func() { <-leave }()
	}
	others := runtime.NumGoroutine() - parked
	for ; parked > number; parked-- {
		leave <- struct{}{}
	}
	for runtime.NumGoroutine() > number+others {
		runtime.Gosched()
	}
}

// work is called again to grow: each kind of site, inlined ones among them.
func work(count int) {
	for number := 0; number < count; number++ {
		keep(number)
		drop(number)
		if number%64 == 0 {
			trees = append(trees, grow(6))
		}
	}
	func() {
		for number := 0; number < count/8; number++ {
			table[strconv.Itoa(number)] = strings.Split("a b c d e f g h", " ")
		}
	}()
	each([]int{1, 2, 3}, func(one int) { kept = append(kept, make([]byte, one<<18)) })
}

func keep(number int) { kept = append(kept, sized(number)) }

// sized is small enough to be inlined, twice on one stack.
func sized(number int) []byte { return make([]byte, 512+number%4096) }

//go:noinline
func drop(number int) int { return len(string(sized(number * 7))) }

func grow(depth int) *node {
	if depth == 0 {
		return nil
	}
	return &node{grow(depth - 1), grow(depth - 1), strings.Repeat("n", depth)}
}

func each[T any](all []T, do func(T)) {
	for _, one := range all {
		do(one)
	}
}
