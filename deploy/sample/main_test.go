package main

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// What `make run` promises of the sample's memory, however long it runs.
func TestTheLeakIsBounded(t *testing.T) {
	boundMemory()
	basket := []item{{Name: "article", Cents: 100, Count: 1}}
	remembered := &sessions{}
	for visits := 0; visits < 200_000; visits++ {
		remembered.remember()
		renderCatalogue(basket)
	}
	if most := mebibytes(t, "VmHWM:"); most > 96 {
		t.Errorf("%d MiB at most, and 96 are promised", most)
	}
	if now := mebibytes(t, "VmRSS:"); now < 48 {
		t.Errorf("%d MiB: nobody would see a leak", now)
	}
}

// A day of two minutes has a quiet minute and a busy one; without such a day every minute is quiet.
func TestTheDayHasAPeak(t *testing.T) {
	day := dayIn("120.0")
	for second, wanted := range map[int64]time.Duration{0: quietFor, 59: quietFor, 60: busyFor, 119: busyFor} {
		if work := workFor(time.Unix(120*1_000_000+second, 0), day); work != wanted {
			t.Errorf("second %d: works for %s, and %s was meant", second, work, wanted)
		}
	}
	for _, text := range []string{"", "never", "0", "-5", "NaN", "86400"} {
		if work := workFor(time.Unix(119, 0), dayIn(text)); work != usualFor {
			t.Errorf("%q: works for %s", text, work)
		}
	}
}

func mebibytes(t *testing.T, key string) int {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(status), "\n") {
		if words := strings.Fields(line); len(words) > 1 && words[0] == key {
			kibibytes, err := strconv.Atoi(words[1])
			if err != nil {
				t.Fatal(err)
			}
			return kibibytes / 1024
		}
	}
	t.Fatal("no " + key)
	return 0
}
