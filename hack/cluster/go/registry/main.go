// A registry for test clusters that keeps what was pushed over a restart. The handler of go-containerregistry
// stores blobs on disk but manifests in memory only, so accepted manifests are written down here and given to
// it again when it starts.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/google/go-containerregistry/pkg/registry"
)

type manifest struct {
	Path, MediaType string
	Body            []byte
}

func main() {
	address := flag.String("address", "127.0.0.1:5000", "address to listen on")
	folder := flag.String("folder", "", "folder for blobs and manifests")
	flag.Parse()
	blobs, manifests := filepath.Join(*folder, "blobs"), filepath.Join(*folder, "manifests")
	for _, f := range []string{blobs, manifests} {
		if err := os.MkdirAll(f, 0o755); err != nil {
			log.Fatal(err)
		}
	}
	inner := registry.New(registry.WithBlobHandler(registry.NewDiskBlobHandler(blobs)), registry.Logger(log.New(io.Discard, "", 0)))
	if err := replay(inner, manifests); err != nil {
		log.Fatal(err)
	}
	log.Printf("serving %s on %s", *folder, *address)
	log.Fatal(http.ListenAndServe(*address, keep(inner, manifests)))
}

// keep writes a manifest down before the push is answered.
func keep(inner http.Handler, folder string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPut || !strings.Contains(r.URL.Path, "/manifests/") {
			inner.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 8<<20))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		answer := httptest.NewRecorder()
		inner.ServeHTTP(answer, r)
		if answer.Code < 300 {
			if err := save(folder, manifest{r.URL.Path, r.Header.Get("Content-Type"), body}); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
		}
		for key, values := range answer.Header() {
			w.Header()[key] = values
		}
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	})
}

// save names the file by path and content, so an overwritten tag leaves its old digest readable.
func save(folder string, m manifest) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	name := filepath.Join(folder, fmt.Sprintf("%x", sha256.Sum256(append([]byte(m.Path+"\n"), m.Body...))))
	if err := os.WriteFile(name+".new", text, 0o644); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}

// replay gives the manifests back oldest first: the newest push of a tag wins, parts come before their index.
func replay(inner http.Handler, folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	age := func(i int) int64 {
		info, err := entries[i].Info()
		if err != nil {
			return 0
		}
		return info.ModTime().UnixNano()
	}
	sort.SliceStable(entries, func(i, j int) bool { return age(i) < age(j) })
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			return err
		}
		var m manifest
		if json.Unmarshal(text, &m) != nil || m.Path == "" {
			continue // half a file of a crash
		}
		request := httptest.NewRequest(http.MethodPut, m.Path, bytes.NewReader(m.Body))
		request.Header.Set("Content-Type", m.MediaType)
		inner.ServeHTTP(httptest.NewRecorder(), request)
	}
	return nil
}
