package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/contextosai/packgate/test/hang"
)

// session is an editor that talks to a server over the library's own framing.
type session struct {
	testing.TB
	conn *jsonrpc2.Conn
	to   *server
	dir  string // a copy of the example repository
	// write writes the URI of a file; uriOf, or as another client does.
	write func(file string) string
	end   func() // closes what the editor writes to
	done  chan error

	lock    sync.Mutex
	changed chan struct{} // closed and made anew when something arrives
	shown   map[string]publishParams
	counts  map[string]int // of what was published, by URI
	said    []string
	asked   []string
}

func example(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../examples/acme-support")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// connect starts a server in a copy of the example repository.
func connect(t *testing.T) *session {
	t.Helper()
	return connectIn(t, example(t), uriOf)
}

// connectIn starts a server for a folder, with a client that writes URIs in its own way.
func connectIn(t testing.TB, dir string, write func(file string) string) *session {
	t.Helper()
	e := &session{TB: t, dir: dir, write: write, done: make(chan error, 1), changed: make(chan struct{}), shown: map[string]publishParams{}, counts: map[string]int{}}
	fromEditor, toServer := io.Pipe()
	fromServer, toEditor := io.Pipe()
	e.end = func() { toServer.Close() }
	e.to = newServer(Options{In: fromEditor, Out: toEditor, Version: "test", Now: func() time.Time { return time.Unix(0, 0) }})
	go func() {
		err := e.to.serve(t.Context())
		toEditor.Close()
		fromEditor.Close()
		e.done <- err
	}()
	pipe := struct {
		io.Reader
		io.WriteCloser
	}{fromServer, toServer}
	e.conn = jsonrpc2.NewConn(t.Context(), jsonrpc2.NewBufferedStream(pipe, jsonrpc2.VSCodeObjectCodec{}), e)
	t.Cleanup(func() { e.end() })
	return e
}

// Handle takes what the server says.
func (e *session) Handle(_ context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) {
	e.lock.Lock()
	defer e.lock.Unlock()
	switch r.Method {
	case "textDocument/publishDiagnostics":
		var p publishParams
		if err := json.Unmarshal(*r.Params, &p); err != nil {
			e.Error(err)
		}
		e.shown[p.URI] = p
		e.counts[p.URI]++
	case "window/logMessage":
		e.said = append(e.said, string(*r.Params))
		if strings.Contains(string(*r.Params), "packgate failed") {
			e.Errorf("the server says %s", *r.Params)
		}
	default:
		e.asked = append(e.asked, r.Method)
	}
	close(e.changed)
	e.changed = make(chan struct{})
}

// wait waits until something holds.
func (e *session) wait(what string, holds func() bool) {
	e.Helper()
	late := time.After(hang.Limit)
	for {
		e.lock.Lock()
		ok, changed := holds(), e.changed
		e.lock.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-late:
			e.Fatalf("waited in vain: %s\n%v\n%v", what, e.shown, e.said)
		}
	}
}

func (e *session) call(method string, params, result any) error {
	e.Helper()
	ctx, cancel := context.WithTimeout(e.Context(), hang.Limit)
	defer cancel()
	return e.conn.Call(ctx, method, params, result)
}

// ask calls a method that has to succeed.
func (e *session) ask(method string, params, result any) {
	e.Helper()
	if err := e.call(method, params, result); err != nil {
		e.Fatalf("%s: %v", method, err)
	}
}

func (e *session) tell(method string, params any) {
	e.Helper()
	if err := e.conn.Notify(e.Context(), method, params); err != nil {
		e.Fatal(err)
	}
}

// initialize begins the session, with capabilities as JSON.
func (e *session) initialize(capabilities string) (result initializeResult) {
	e.Helper()
	e.ask("initialize", map[string]any{"processId": nil, "rootUri": e.write(e.dir), "capabilities": json.RawMessage(capabilities)}, &result)
	e.tell("initialized", map[string]any{})
	return result
}

func (e *session) uri(name string) string { return e.write(filepath.Join(e.dir, name)) }

func (e *session) file(name string) string {
	e.Helper()
	src, err := os.ReadFile(filepath.Join(e.dir, name))
	if err != nil {
		e.Fatal(err)
	}
	return string(src)
}

// show opens a document with a text.
func (e *session) show(name, src string) {
	e.Helper()
	e.tell("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": e.uri(name), "languageId": "json", "version": 1, "text": src}})
}

// set gives an open document a new text.
func (e *session) set(name string, version int, src string) {
	e.Helper()
	e.tell("textDocument/didChange", map[string]any{
		"textDocument": map[string]any{"uri": e.uri(name), "version": version}, "contentChanges": []any{map[string]any{"text": src}},
	})
}

// waitFor waits until exactly these rules are reported in a version of a document.
func (e *session) waitFor(name string, version int, rules ...string) []Diagnostic {
	e.Helper()
	uri := e.uri(name)
	e.wait(name, func() bool {
		p := e.shown[uri]
		return p.Version != nil && *p.Version == version && slices.Equal(codes(p.Diagnostics), rules)
	})
	e.lock.Lock()
	defer e.lock.Unlock()
	return e.shown[uri].Diagnostics
}

// times returns how often something was said of a file.
func (e *session) times(name string) int {
	e.lock.Lock()
	defer e.lock.Unlock()
	return e.counts[e.uri(name)]
}

func codes(list []Diagnostic) []string {
	var codes []string
	for _, d := range list {
		codes = append(codes, d.Code)
	}
	return codes
}

// at returns the parameters for the place behind a text in a document.
func (e *session) at(name, src, behind string) placeParams {
	e.Helper()
	i := strings.Index(src, behind)
	if i < 0 {
		e.Fatalf("%q is not in %s", behind, name)
	}
	return placeParams{TextDocument: documentID{URI: e.uri(name)}, Position: newText(src).position(i+len(behind), utf16Units)}
}

// shutDown ends the session in order.
func (e *session) shutDown() {
	e.Helper()
	e.ask("shutdown", nil, nil)
	e.tell("exit", nil)
	if err := e.ended(); err != nil {
		e.Fatalf("the server ends with %v", err)
	}
}

func (e *session) ended() error {
	e.Helper()
	select {
	case err := <-e.done:
		return err
	case <-time.After(hang.Limit):
		return errors.New("the server does not end")
	}
}
