package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// caller is one process of one pod: it moves itself into the pod's control group, and then asks.
type caller struct {
	socket     string
	question   []byte
	connection net.Conn
	reader     *bufio.Reader
}

// newCaller takes CGROUP.PROCS (or -), SOCKET and PATH.
func newCaller(arguments []string) *caller {
	if arguments[0] != "-" {
		if err := os.WriteFile(arguments[0], []byte(strconv.Itoa(os.Getpid())), 0); err != nil {
			fail(err)
		}
	}
	return &caller{socket: arguments[1], question: []byte("GET " + arguments[2] + " HTTP/1.1\r\nHost: x\r\n\r\n")}
}

// read follows orders on standard input, `kept N` or `new N`, and answers each with a line of JSON:
// the milliseconds of each read.
func read(arguments []string) {
	caller := newCaller(arguments)
	fmt.Println("ready")
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		kind, count, _ := strings.Cut(input.Text(), " ")
		wanted, _ := strconv.Atoi(count)
		took := make([]float64, 0, wanted)
		for n := 0; n < wanted; n++ {
			began := time.Now()
			if kind == "new" {
				caller.close()
			}
			status, err := caller.ask()
			if err != nil || status != "200" {
				fail(fmt.Errorf("%s: %s %v", caller.socket, status, err))
			}
			took = append(took, time.Since(began).Seconds()*1e3)
		}
		if kind == "new" {
			caller.close()
		}
		line, _ := json.Marshal(took)
		fmt.Println(string(line))
	}
}

// flood asks over 32 connections as fast as it is answered, whatever the answers are, until its
// standard input ends; then it prints how many it got.
func flood(arguments []string) {
	var lock sync.Mutex
	answers := map[string]int{}
	newCaller(arguments)
	for n := 0; n < 32; n++ {
		go func() {
			own := newCaller(append([]string{"-"}, arguments[1:]...))
			for {
				status, err := own.ask()
				if err != nil {
					status = "error"
					own.close()
					time.Sleep(time.Millisecond)
				}
				lock.Lock()
				answers[status]++
				lock.Unlock()
			}
		}()
	}
	fmt.Println("ready")
	io.Copy(io.Discard, os.Stdin)
	lock.Lock()
	line, _ := json.Marshal(answers)
	fmt.Println(string(line))
}

func (c *caller) close() {
	if c.connection != nil {
		c.connection.Close()
		c.connection = nil
	}
}

func (c *caller) ask() (string, error) {
	if c.connection == nil {
		connection, err := net.Dial("unix", c.socket)
		if err != nil {
			return "", err
		}
		c.connection, c.reader = connection, bufio.NewReader(connection)
	}
	if _, err := c.connection.Write(c.question); err != nil {
		return "", err
	}
	line, err := c.reader.ReadString('\n')
	if err != nil || len(line) < 12 {
		return "", fmt.Errorf("no answer: %v", err)
	}
	status, length, closes := line[9:12], 0, false
	for {
		header, err := c.reader.ReadString('\n')
		if err != nil {
			return "", err
		}
		if header == "\r\n" {
			break
		}
		name, value, _ := strings.Cut(header, ":")
		value = strings.TrimSpace(value)
		switch strings.ToLower(name) {
		case "content-length":
			length, _ = strconv.Atoi(value)
		case "connection":
			closes = strings.EqualFold(value, "close")
		}
	}
	if _, err := c.reader.Discard(length); err != nil {
		return "", err
	}
	if closes {
		c.close()
	}
	return status, nil
}
