package main

import (
	"os"
	"strconv"
	"strings"
	"testing"
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
