package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"sort"
	"sync"
	"sync/atomic"
	"time"
)

type asked struct {
	Answers int     `json:"answers"`
	Seconds float64 `json:"seconds"`
	P50     float64 `json:"p50_ms"`
	P99     float64 `json:"p99_ms"`
	Most    float64 `json:"most_ms"`
	Patched int     `json:"patched"`
	Failed  int     `json:"failed"`
}

// ask sends the same question again and again: as fast as the answers come over so many
// connections, or at a rate; then an answer's time counts from when its question was due.
func ask(arguments []string) {
	flags := flag.NewFlagSet("ask", flag.ExitOnError)
	url := flags.String("url", "", "where to")
	authority := flags.String("ca", "", "PEM file")
	question := flags.String("question", "", "file with the body")
	connections := flags.Int("connections", 8, "at once")
	seconds := flags.Float64("seconds", 5, "how long")
	vary := flags.String("vary", "", "text that is another one of its length in each question")
	rate := flags.Float64("rate", 0, "questions per second; 0: as fast as they are answered")
	flags.Parse(arguments)

	body, err := os.ReadFile(*question)
	if err != nil {
		fail(err)
	}
	client, err := clientFor(*authority, *connections)
	if err != nil {
		fail(err)
	}
	var lock sync.Mutex
	var took []float64
	result := asked{}
	due := make(chan time.Time, 1<<16)
	var workers sync.WaitGroup
	var number atomic.Int64
	next := func() []byte {
		if *vary == "" {
			return body
		}
		other := fmt.Sprintf("%0*d", len(*vary), number.Add(1))
		return bytes.ReplaceAll(body, []byte(*vary), []byte(other))
	}
	for n := 0; n < *connections; n++ {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for begin := range due {
				question := next()
				if *rate == 0 {
					begin = time.Now()
				}
				patched, err := askOnce(client, *url, question)
				spent := time.Since(begin).Seconds() * 1e3
				lock.Lock()
				took = append(took, spent)
				if err != nil {
					result.Failed++
				} else if patched {
					result.Patched++
				}
				lock.Unlock()
			}
		}()
	}
	start := time.Now()
	end := start.Add(time.Duration(*seconds * float64(time.Second)))
	if *rate == 0 {
		for time.Now().Before(end) {
			due <- time.Time{}
			for len(due) > 2**connections {
				time.Sleep(200 * time.Microsecond)
			}
		}
	} else {
		gap := time.Duration(float64(time.Second) / *rate)
		for at := start; at.Before(end); at = at.Add(gap) {
			time.Sleep(time.Until(at))
			due <- at
		}
	}
	close(due)
	workers.Wait()
	result.Seconds = time.Since(start).Seconds()
	result.Answers = len(took)
	sort.Float64s(took)
	result.P50, result.P99 = took[len(took)/2], took[len(took)*99/100]
	result.Most = took[len(took)-1]
	content, _ := json.Marshal(result)
	fmt.Println(string(content))
}

func clientFor(authority string, connections int) (*http.Client, error) {
	pem, err := os.ReadFile(authority)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s: no certificate", authority)
	}
	transport := &http.Transport{
		TLSClientConfig:     &tls.Config{RootCAs: pool},
		MaxIdleConnsPerHost: connections,
		MaxConnsPerHost:     connections,
	}
	return &http.Client{Transport: transport, Timeout: 10 * time.Second}, nil
}

func askOnce(client *http.Client, url string, body []byte) (bool, error) {
	answer, err := client.Post(url, "application/json", bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	if err != nil {
		return false, err
	}
	if answer.StatusCode != 200 || !bytes.Contains(content, []byte(`"allowed":true`)) {
		return false, fmt.Errorf("%s: %.200s", answer.Status, content)
	}
	return bytes.Contains(content, []byte(`"patch"`)), nil
}
