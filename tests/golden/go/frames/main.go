// Frames says what the runtime knows of its own addresses, for readers of the same tables to
// compare: stacks as runtime.Callers returns them, and single addresses of many functions.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"
	"runtime"
	"sort"
	"strconv"
	"strings"
)

type frame struct {
	PC       uintptr `json:"pc"`
	Function string  `json:"function"`
	File     string  `json:"file"`
	Line     int     `json:"line"`
}

type told struct {
	Version string    `json:"version"`
	Maps    string    `json:"maps"`
	Stacks  [][]frame `json:"stacks"`
	Points  []frame   `json:"points"`
}

var all told

// One call for each frame, inlined ones too, as the runtime lists them.
//
//go:noinline
func record() {
	pcs := make([]uintptr, 128)
	pcs = pcs[:runtime.Callers(1, pcs)]
	frames := runtime.CallersFrames(pcs)
	var stack []frame
	for _, pc := range pcs {
		one, _ := frames.Next()
		stack = append(stack, frame{pc, one.Function, one.File, one.Line})
	}
	all.Stacks = append(all.Stacks, stack)
}

type shape interface{ visit(depth int) }

type square struct{ side int }

type wrapped struct{ square }

func (s square) visit(depth int) {
	if depth == 0 {
		record()
		return
	}
	s.visit(depth - 1)
}

func small()   { smaller() }
func smaller() { smallest() }

func smallest() {
	record()
}

func each[T any](values []T, do func(T)) {
	for _, value := range values {
		do(value)
	}
}

type list[T any] struct{ values []T }

func (l *list[T]) walk(do func(T)) { each(l.values, do) }

type byLength []string

func (b byLength) Len() int           { return len(b) }
func (b byLength) Swap(i, j int)      { b[i], b[j] = b[j], b[i] }
func (b byLength) Less(i, j int) bool { once(); return len(b[i]) < len(b[j]) }

var recorded bool

func once() {
	if !recorded {
		recorded = true
		record()
	}
}

type loud struct{}

func (loud) String() string { record(); return "loud" }

func (loud) MarshalJSON() ([]byte, error) { small(); return []byte("1"), nil }

// Every address of a function, which is asked for by itself: only its innermost frame is told.
func points(functions ...any) {
	for _, function := range functions {
		entry := reflect.ValueOf(function).Pointer()
		for pc := entry; pc < entry+3000; pc++ {
			// The runtime takes an address for that after a call, and a first one for itself.
			if next := runtime.FuncForPC(pc + 1); next == nil || next.Entry() != entry {
				break
			}
			one, _ := runtime.CallersFrames([]uintptr{pc + 1}).Next()
			all.Points = append(all.Points, frame{pc, one.Function, one.File, one.Line})
		}
	}
}

func main() {
	all.Version = runtime.Version()
	record()
	small()
	func() { small() }()
	square{1}.visit(3)
	for _, one := range []shape{square{2}, wrapped{square{3}}, &wrapped{square{4}}} {
		one.visit(1)
	}
	(&list[string]{[]string{"a"}}).walk(func(string) { small() })
	each([]int{1}, func(int) { record() })
	sort.Sort(byLength{"aaa", "a", "aa"})
	_ = fmt.Sprintf("%v %s", loud{}, loud{})
	_, _ = json.Marshal(map[string]any{"a": []any{loud{}}})
	strings.Map(func(r rune) rune { once(); return r }, "x")
	done := make(chan bool)
	go func() { defer close(done); defer small() }()
	<-done
	func() {
		defer func() { _ = recover(); record() }()
		var nothing *square
		nothing.visit(0)
	}()
	points(
		main, points, once, square.visit, byLength.Less, each[int], fmt.Fprintf, fmt.Sscanf,
		json.Marshal, sort.Sort, sort.Strings, strconv.ParseFloat, strconv.Quote, strings.Map,
		strings.NewReplacer, os.ReadFile, io.Copy, runtime.GC, runtime.Callers, reflect.DeepEqual,
	)
	maps, _ := os.ReadFile("/proc/self/maps")
	all.Maps = string(maps)
	if err := json.NewEncoder(os.Stdout).Encode(all); err != nil {
		panic(err)
	}
	// Alive until its reader is done: names are looked up in a living process.
	_, _ = io.Copy(io.Discard, os.Stdin)
}
