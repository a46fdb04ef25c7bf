// Command ages: a program that ages on purpose, in the way that its own name says, a hundred times as
// fast as programs do. It ends when its standard input does.
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

const (
	piece = 32 << 10
	// Ten times a second: 20 MB in a minute.
	every = 100 * time.Millisecond
	// What is in use from the start.
	level = 8 << 20
	// Until a cache is full, and until the load doubles.
	fullAfter = 15 * time.Second
	jumpAfter = 30 * time.Second
)

var (
	began = time.Now()
	kept  [][]byte
	byKey = map[int][]byte{}
	sink  []byte
	never = make(chan struct{})
)

// used is memory that is really there.
func used(size int) []byte {
	made := make([]byte, size)
	for at := 0; at < size; at += 512 {
		made[at] = 1
	}
	return made
}

func growSlice(int) { kept = append(kept, used(piece)) }

func growMap(step int) { byKey[step] = used(piece) }

func wait() { <-never }

func startGoroutines(int) {
	for n := 0; n < 5; n++ {
		go wait()
	}
}

func startTimer(int) {
	held := used(piece)
	time.AfterFunc(time.Hour, func() { sink = held })
}

// fillCache adds pieces until it is full, and then replaces them.
func fillCache(step int) {
	byKey[step%int(fullAfter/every)] = used(piece)
}

// serve holds as much as its load asks for.
func serve(step int) {
	wanted := level / piece
	if time.Since(began) > jumpAfter {
		wanted *= 2
	}
	for len(kept) < wanted {
		kept = append(kept, nil)
	}
	for n := 0; n < 20; n++ {
		kept[(20*step+n)%wanted] = used(piece)
	}
}

// litter makes garbage, of which now more and now less is in use.
func litter(step int) {
	byKey = map[int][]byte{}
	for n := 0; n < 40+step%20; n++ {
		byKey[n] = used(piece)
	}
}

var kinds = map[string]func(int){
	"slice": growSlice, "map": growMap, "goroutines": startGoroutines, "timer": startTimer,
	"cache": fillCache, "load": serve, "garbage": litter,
}

func main() {
	// The runtime of a program that never asks for its heap profile keeps none.
	_, _ = runtime.MemProfile(nil, true)
	age, known := kinds[filepath.Base(os.Args[0])]
	if !known {
		fmt.Fprintln(os.Stderr, "no such kind")
		os.Exit(2)
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	held := used(level)
	for step := 0; ; step++ {
		age(step)
		if step%10 == 0 {
			// What was freed is to be known, as in a program that does more.
			runtime.GC()
		}
		time.Sleep(every)
		runtime.KeepAlive(held)
	}
}
