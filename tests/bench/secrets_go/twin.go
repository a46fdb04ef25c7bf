package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
)

type peerKey struct{}

// serve answers on one socket for each pod: lines of standard input are `SOCKET UID`. The caller's
// pid is the kernel's, and its control group is read anew for each request, as ours does it.
func serve(arguments []string) {
	secrets := map[string]string{"word": arguments[0]}
	input := bufio.NewScanner(os.Stdin)
	sockets := 0
	for input.Scan() && input.Text() != "" {
		path, uid, _ := strings.Cut(input.Text(), " ")
		listener, err := net.Listen("unix", path)
		if err != nil {
			fail(err)
		}
		server := &http.Server{
			Handler: handler(uid, secrets),
			ConnContext: func(ctx context.Context, connection net.Conn) context.Context {
				return context.WithValue(ctx, peerKey{}, pidOf(connection.(*net.UnixConn)))
			},
		}
		go server.Serve(listener)
		sockets++
	}
	fmt.Println(sockets)
	for input.Scan() {
	}
}

func handler(uid string, secrets map[string]string) http.Handler {
	return http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		pid := request.Context().Value(peerKey{}).(int32)
		group, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
		if err != nil || !strings.Contains(string(group), "/pod"+uid+"/") {
			http.Error(writer, "not this pod", http.StatusForbidden)
			return
		}
		name := strings.TrimPrefix(request.URL.Path, "/v1/secret/")
		value, there := secrets[name]
		if !there {
			http.NotFound(writer, request)
			return
		}
		writer.Header().Set("Content-Type", "application/json")
		writer.Header().Set("Cache-Control", "no-store")
		json.NewEncoder(writer).Encode(map[string]any{"name": name, "value": value, "version": 1})
	})
}

func pidOf(connection *net.UnixConn) int32 {
	var pid int32
	raw, err := connection.SyscallConn()
	if err != nil {
		return 0
	}
	raw.Control(func(fd uintptr) {
		if peer, err := syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED); err == nil {
			pid = peer.Pid
		}
	})
	return pid
}
