package main

import (
	"crypto/tls"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
)

// A webhook as most are written: encoding/json into types, a patch of two labels, net/http with TLS.
// The types are as large as the decision needs; k8s.io/api would decode all of the pod.

type review struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Request    *request  `json:"request,omitempty"`
	Response   *response `json:"response,omitempty"`
}

type request struct {
	UID       string          `json:"uid"`
	Operation string          `json:"operation"`
	Namespace string          `json:"namespace"`
	Object    json.RawMessage `json:"object"`
}

type response struct {
	UID       string `json:"uid"`
	Allowed   bool   `json:"allowed"`
	PatchType string `json:"patchType,omitempty"`
	Patch     []byte `json:"patch,omitempty"`
}

type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

type record struct {
	UID       string          `json:"uid"`
	Operation string          `json:"operation"`
	Namespace string          `json:"namespace"`
	Patch     json.RawMessage `json:"patch"`
}

func serve(arguments []string) {
	flags := flag.NewFlagSet("serve", flag.ExitOnError)
	certificate := flags.String("certificate", "", "PEM file")
	key := flags.String("key", "", "PEM file")
	labels := flags.String("labels", "{}", "labels to set, as JSON")
	records := flags.String("records", "", "file to which each decision is appended before its answer")
	given := flags.String("patch", "", "file with the patch that is the answer to everything, empty: none; in place of the two above")
	flags.Parse(arguments)

	wanted := map[string]string{}
	if err := json.Unmarshal([]byte(*labels), &wanted); err != nil {
		fail(err)
	}
	pair, err := tls.LoadX509KeyPair(*certificate, *key)
	if err != nil {
		fail(err)
	}
	var answers http.HandlerFunc
	if *given != "" {
		patch, err := os.ReadFile(*given)
		if err != nil {
			fail(err)
		}
		answers = alwaysWith(patch)
	} else {
		file, err := os.OpenFile(*records, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			fail(err)
		}
		answers = handler(wanted, file)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fail(err)
	}
	fmt.Println(listener.Addr())
	go func() { // its lifeline
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	server := http.Server{Handler: answers}
	config := &tls.Config{Certificates: []tls.Certificate{pair}}
	fail(server.Serve(tls.NewListener(listener, config)))
}

func handler(wanted map[string]string, file *os.File) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		var asked review
		if err := json.Unmarshal(body, &asked); err != nil || asked.Request == nil {
			http.Error(w, "no AdmissionReview", http.StatusBadRequest)
			return
		}
		patch, err := patchFor(asked.Request.Object, wanted)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		decision := record{asked.Request.UID, asked.Request.Operation, asked.Request.Namespace, patch}
		line, err := json.Marshal(decision)
		if err == nil {
			_, err = file.Write(append(line, '\n'))
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		answer := response{UID: asked.Request.UID, Allowed: true, PatchType: "JSONPatch", Patch: patch}
		content, err := json.Marshal(review{asked.APIVersion, asked.Kind, nil, &answer})
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Write(content)
	}
}

// alwaysWith answers everything in the same way: what is left of an answer is HTTP, TLS and the review's uid.
func alwaysWith(patch []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		var asked review
		if err := json.Unmarshal(body, &asked); err != nil || asked.Request == nil {
			http.Error(w, "no AdmissionReview", http.StatusBadRequest)
			return
		}
		answer := response{UID: asked.Request.UID, Allowed: true}
		if len(patch) > 0 {
			answer.PatchType, answer.Patch = "JSONPatch", patch
		}
		content, err := json.Marshal(review{asked.APIVersion, asked.Kind, nil, &answer})
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Write(content)
	}
}

func patchFor(object json.RawMessage, wanted map[string]string) ([]byte, error) {
	var pod map[string]any
	if err := json.Unmarshal(object, &pod); err != nil {
		return nil, err
	}
	metadata, _ := pod["metadata"].(map[string]any)
	labels, _ := metadata["labels"].(map[string]any)
	operations := []operation{}
	if labels == nil {
		operations = append(operations, operation{"add", "/metadata/labels", map[string]string{}})
	}
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	for key, value := range wanted {
		if labels[key] != value {
			path := "/metadata/labels/" + escape.Replace(key)
			operations = append(operations, operation{"add", path, value})
		}
	}
	return json.Marshal(operations)
}
