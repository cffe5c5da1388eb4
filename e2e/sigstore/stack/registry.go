package stack

import (
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Registry is an OCI registry that listens on the loopback interface.
type Registry struct {
	// Host is its host and port.
	Host string

	keep  func() (restore func() error, err error)
	close []func()
}

// Keep remembers what the registry holds, and returns what makes it hold that alone again. A
// registry of NewReferrersRegistry does not remember that something was deleted.
func (r *Registry) Keep() (restore func() error, err error) { return r.keep() }

// Close ends it.
func (r *Registry) Close() {
	for _, end := range r.close {
		defer end()
	}
	r.close = nil
}

// NewReferrersRegistry starts go-containerregistry's registry, which has the referrers
// API of OCI distribution 1.1, in this process. It keeps everything in memory.
func NewReferrersRegistry() *Registry {
	kept := &inMemory{}
	kept.empty()
	server := httptest.NewServer(kept)
	return &Registry{Host: strings.TrimPrefix(server.URL, "http://"), keep: kept.keep, close: []func(){func() {
		server.CloseClientConnections()
		server.Close()
	}}}
}

// dockerRegistry is the program of Debian's package of the same name. It has no
// referrers API, as ghcr.io has none, and deletes nothing.
const dockerRegistry = "docker-registry"

// dockerConfig is its configuration: where it keeps its files, where it listens, and
// who may use it.
const dockerConfig = `version: 0.1
log: {level: error, accesslog: {disabled: true}}
storage: {filesystem: {rootdirectory: %q}}
http: {addr: %q}
%s`

// NewDockerRegistry starts docker-registry with its files in dir. It is open to all.
func NewDockerRegistry(dir string) (*Registry, error) { return startDockerRegistry(dir, "") }

// NewPrivateRegistry starts docker-registry with its files in dir, for those alone who
// get a token with this name and password from the token service, which it starts as
// well. The service listens on another port than the registry, which for a client is
// another host.
func NewPrivateRegistry(dir, user, password string) (*Registry, error) {
	tokens, err := newTokenService(dir, user, password)
	if err != nil {
		return nil, err
	}
	r, err := startDockerRegistry(dir, tokens.config())
	if err != nil {
		tokens.server.Close()
		return nil, err
	}
	r.close = append(r.close, tokens.server.Close)
	return r, nil
}

func startDockerRegistry(dir, auth string) (*Registry, error) {
	program, err := exec.LookPath(dockerRegistry)
	if err != nil {
		return nil, fmt.Errorf("%w; it is in Debian's package %s", err, dockerRegistry)
	}
	r := &Registry{}
	file := filepath.Join(dir, "registry.yml")
	var writing error
	c, err := startChild(dir, dockerRegistry, program, 1, func(ports []int) ([]string, string) {
		r.Host = fmt.Sprintf("127.0.0.1:%d", ports[0])
		text := fmt.Sprintf(dockerConfig, filepath.Join(dir, "data"), r.Host, auth)
		writing = os.WriteFile(file, []byte(text), 0o600)
		return []string{"serve", file}, "http://" + r.Host + "/v2/"
	})
	if writing != nil {
		return nil, writing
	}
	if err != nil {
		return nil, err
	}
	r.keep = func() (func() error, error) { return keepFolder(filepath.Join(dir, "data")) }
	r.close = append(r.close, c.Close)
	return r, nil
}

// keepFolder copies a folder, and returns what puts the copy in its place.
func keepFolder(dir string) (restore func() error, err error) {
	copied, err := os.MkdirTemp(filepath.Dir(dir), "kept-")
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { // nothing was written yet
		return nil, err
	}
	return func() error {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
		return os.CopyFS(dir, os.DirFS(copied))
	}, os.CopyFS(copied, os.DirFS(dir))
}
