// Command shop is something to look at: a service that prices baskets, signs receipts and renders a
// catalogue, for ever, at a tenth of one CPU. One of its caches forgets to forget: a slow leak, of
// some 4 MiB a minute, that ends at 64 MiB. Its whole memory stays below 96 MiB.
//
// Where NEMUTATOR_BRAIN_SEASON_DAY_S says that a day is shorter, as `make run` does, it works for a
// fortieth of a CPU in the first half of each day, and for a fifth in the second: so little that it gets
// it on a busy machine, too, and so much more that it is seen.
//
// It needs nothing but the standard library, listens on nothing and writes nothing. With --lifeline
// it ends when its standard input does.
package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	round    = 200 * time.Millisecond
	usualFor = 20 * time.Millisecond
	quietFor = 5 * time.Millisecond
	busyFor  = 40 * time.Millisecond

	dayVariable = "NEMUTATOR_BRAIN_SEASON_DAY_S"
	longestDay  = 24 * time.Hour

	leakBytes = 16 << 10
	// The leak is to be seen, not to be suffered.
	mostLeaked = 64 << 20
	mostMemory = 80 << 20
)

type item struct {
	Name  string `json:"name"`
	Cents int    `json:"cents"`
	Count int    `json:"count"`
}

// total is small enough for the compiler to inline: a profile without inlined frames loses it.
func (i item) total() int { return i.Cents * i.Count }

// withTax is inlined as well, into whoever prices.
func withTax(cents int) int { return cents + cents*19/100 }

func priceBasket(basket []item) int {
	sum := 0
	for round := 0; round < 200; round++ {
		for _, one := range basket {
			sum += withTax(one.total()) % 97
		}
	}
	return sum
}

func signReceipts(seed int) [32]byte {
	sum := sha256.Sum256([]byte(strconv.Itoa(seed)))
	for round := 0; round < 400; round++ {
		sum = sha256.Sum256(sum[:])
	}
	return sum
}

func renderCatalogue(basket []item) string {
	sorted := append([]item(nil), basket...)
	sort.Slice(sorted, func(a, b int) bool { return sorted[a].Cents < sorted[b].Cents })
	page, err := json.Marshal(sorted)
	if err != nil {
		panic(err)
	}
	return strings.ToUpper(string(page))
}

// sessions is the leak: visits are added and never taken away.
type sessions struct {
	visits [][]byte
}

func (s *sessions) remember() {
	if len(s.visits)*leakBytes < mostLeaked {
		visit := make([]byte, leakBytes)
		for at := 0; at < leakBytes; at += 512 {
			visit[at] = 1
		}
		s.visits = append(s.visits, visit)
	}
}

// boundMemory keeps the collector from letting the heap grow to twice what is alive.
func boundMemory() { debug.SetMemoryLimit(mostMemory) }

// dayIn is how long a day is by the variable *text*; 0: as long as everybody's.
func dayIn(text string) time.Duration {
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || !(seconds >= 1) || seconds >= longestDay.Seconds() {
		return 0
	}
	return time.Duration(seconds * float64(time.Second))
}

// workFor is how long it works in a round.
func workFor(now time.Time, day time.Duration) time.Duration {
	switch {
	case day <= 0:
		return usualFor
	case now.UnixNano()%int64(day) >= int64(day)/2:
		return busyFor
	default:
		return quietFor
	}
}

// spent is the CPU time of this process so far.
func spent() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func serveVisitors(basket []item, remembered *sessions, work time.Duration) int {
	seed := 0
	// Of CPU time, not of the clock's: beside others on a busy machine it does the same work.
	for until := spent() + work; spent() < until; seed++ {
		seed += priceBasket(basket)
		seed += int(signReceipts(seed)[0])
		seed += len(renderCatalogue(basket))
	}
	remembered.remember()
	return seed
}

func main() {
	// Of a leak in pieces this small Go would record one in thirty: whether it is seen would be luck for minutes.
	runtime.MemProfileRate = min(runtime.MemProfileRate, 64<<10)
	boundMemory()
	// The runtime of a program that never asks for its heap profile keeps none.
	_, _ = runtime.MemProfile(nil, true)
	basket := make([]item, 0, 60)
	for n := 0; n < cap(basket); n++ {
		basket = append(basket, item{Name: fmt.Sprintf("article %d", n), Cents: 100 + 37*n%991, Count: n%7 + 1})
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	if len(os.Args) > 1 && os.Args[1] == "--lifeline" {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			stop <- syscall.SIGTERM
		}()
	}
	remembered, day := &sessions{}, dayIn(os.Getenv(dayVariable))
	for {
		work := workFor(time.Now(), day)
		serveVisitors(basket, remembered, work)
		select {
		case <-stop:
			return
		case <-time.After(round - work):
		}
	}
}
