package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"sort"
	"strings"
	"sync"
	"syscall"
)

// sink keeps results, so that the compiler leaves the work in.
var sink uint64

const page = 4096

// faults takes new memory, touches each page of it, and gives it back.
func faults() {
	memory, err := syscall.Mmap(-1, 0, 1024*page, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		panic(err)
	}
	copyIn(memory)
	if err := syscall.Munmap(memory); err != nil {
		panic(err)
	}
}

// copyIn is a leaf without a frame of its own.
//
//go:noinline
func copyIn(memory []byte) {
	for at := 0; at < len(memory); at += page {
		memory[at] = byte(at)
	}
}

// syscalls asks the kernel for what it answers at once.
func syscalls() {
	for range 2000 {
		sink += uint64(askOnce())
	}
}

//go:noinline
func askOnce() uintptr {
	answer, _, _ := syscall.RawSyscall6(syscall.SYS_GETPPID, 0, 0, 0, 0, 0, 0)
	return answer
}

type order struct {
	ID    int               `json:"id"`
	Items []item            `json:"items"`
	Notes map[string]string `json:"notes"`
}

type item struct {
	Name  string  `json:"name"`
	Price float64 `json:"price"`
}

var served = sync.OnceValues(serve)

// serve answers on a port of loopback.
func serve() (*http.Client, string) {
	here, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	handler := func(w http.ResponseWriter, r *http.Request) {
		var asked order
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		for number := range asked.Items {
			asked.Items[number].Price *= 1.19
		}
		if err := json.NewEncoder(w).Encode(asked); err != nil {
			panic(err)
		}
	}
	go http.Serve(here, http.HandlerFunc(handler))
	return &http.Client{}, "http://" + here.Addr().String()
}

// exchanges sends JSON over HTTP to itself.
func exchanges() {
	client, address := served()
	wanted := order{ID: 7, Notes: map[string]string{"to": "somebody", "by": strings.Repeat("x", 50)}}
	for number := range 40 {
		wanted.Items = append(wanted.Items, item{strings.Repeat("y", number), float64(number)})
	}
	for range 20 {
		body, err := json.Marshal(wanted)
		if err != nil {
			panic(err)
		}
		answer, err := client.Post(address, "application/json", bytes.NewReader(body))
		if err != nil {
			panic(err)
		}
		content, err := io.ReadAll(answer.Body)
		if err != nil {
			panic(err)
		}
		answer.Body.Close()
		sink += uint64(len(content))
	}
}

// channels passes numbers from one goroutine to the next.
func channels() {
	first := make(chan uint64)
	last := first
	for range 8 {
		next := make(chan uint64, 4)
		go func(from, to chan uint64) {
			for number := range from {
				to <- number + 1
			}
			close(to)
		}(last, next)
		last = next
	}
	go func() {
		for number := range uint64(500) {
			first <- number
		}
		close(first)
	}()
	for number := range last {
		sink += number
	}
}

type tree struct{ left, right *tree }

// garbage makes trees, and drops them.
func garbage() {
	for range 4 {
		sink += uint64(count(grow(12)))
	}
}

//go:noinline
func grow(depth int) *tree {
	if depth == 0 {
		return &tree{}
	}
	return &tree{grow(depth - 1), grow(depth - 1)}
}

//go:noinline
func count(from *tree) int {
	if from == nil {
		return 0
	}
	return 1 + count(from.left) + count(from.right)
}

type byValue []uint64

func (v byValue) Len() int           { return len(v) }
func (v byValue) Less(i, j int) bool { return mixed(v[i]) < mixed(v[j]) }
func (v byValue) Swap(i, j int)      { v[i], v[j] = v[j], v[i] }

func mixed(value uint64) uint64   { return folded(value) ^ rotated(value) }
func folded(value uint64) uint64  { return rotated(value>>3) + 0x9e3779b97f4a7c15 }
func rotated(value uint64) uint64 { return value<<17 | value>>47 }

// inlining sorts by a comparison of which three functions deep are inlined, called by an interface.
func inlining() {
	values := make(byValue, 20000)
	for number := range values {
		values[number] = mixed(uint64(number))
	}
	sort.Sort(values)
	sink += values[0]
}
