package main

/*
#cgo CFLAGS: -O2
#include <stdint.h>

// Without frame pointers, as gcc makes code when nobody asks it for more; and with more values at once
// than there are other registers, so that the frame pointer of the caller is overwritten.
__attribute__((noinline)) static uint64_t mix(uint64_t times, uint64_t seed) {
	uint64_t a = seed, b = a + 1, c = a + 2, d = a + 3, e = a + 5, f = a + 7, g = a + 11, h = a + 13;
	uint64_t i = a + 17, j = a + 19, k = a + 23, l = a + 29, m = a + 31, n = a + 37;
	while (times--) {
		a += b ^ (n >> 7); b += c ^ (a << 9); c += d ^ (b >> 3); d += e ^ (c << 5);
		e += f ^ (d >> 11); f += g ^ (e << 2); g += h ^ (f >> 13); h += i ^ (g << 7);
		i += j ^ (h >> 5); j += k ^ (i << 3); k += l ^ (j >> 9); l += m ^ (k << 11);
		m += n ^ (l >> 2); n += a ^ (m << 13);
	}
	return a ^ b ^ c ^ d ^ e ^ f ^ g ^ h ^ i ^ j ^ k ^ l ^ m ^ n;
}

__attribute__((noinline)) static uint64_t cgo_work(uint64_t times, uint64_t seed) {
	return mix(times, seed) + 1;
}
*/
import "C"

import "runtime"

func init() { kinds["cgo"] = native }

// native calls C, which takes nearly all of the time. Go's own profile counts a thread only after its
// scheduler has passed there, which calls of C alone do not need.
//
//go:noinline
func native() {
	sink += uint64(C.cgo_work(100000, C.uint64_t(sink)))
	runtime.Gosched()
}
