// Package lsp is a language server (Language Server Protocol 3.17) for pack repositories:
// what the gates find, as it is typed, with the repairs that the findings carry; what a rule
// means and a name stands for; where a name is declared; and which names there are.
//
// The gates see the repository as the editor has it: the text of the documents that
// are open, and the files of the folder for everything else. A document that is no
// JSON at the moment is read leniently for what needs names alone.
package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/gating"
	"github.com/sourcegraph/jsonrpc2"
)

// Options say what the server gets from its surroundings.
type Options struct {
	// In is where the client's messages come from, and Out where the server's go.
	In  io.Reader
	Out io.Writer
	// Version is that of the program.
	Version string
	// Now says the time, by which waivers end.
	Now func() time.Time
	// Evaluators makes what checks the signatures of scorecards; nil where nobody can.
	Evaluators gating.Evaluators
}

// ErrNoShutdown says that the client went away, or ended the server, without a shutdown.
var ErrNoShutdown = errors.New("the client went away without a shutdown request")

// Serve answers one client until it goes away, or until the context ends. The error is
// ErrNoShutdown where the client broke off, and another one where the connection failed.
func Serve(ctx context.Context, o Options) error { return newServer(o).serve(ctx) }

func (s *server) serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watched := newStream(s.In, s.Out)
	s.runs = newRuns(s.gate, s.prove)
	s.conn = jsonrpc2.NewConn(ctx, watched, s, jsonrpc2.SetLogger(log.New(io.Discard, "", 0)))
	close(s.connected)
	s.work.Go(func() { s.runs.loop(ctx) })
	select {
	case <-s.exit:
	case <-s.conn.DisconnectNotify():
	case <-ctx.Done():
	}
	if ctx.Err() != nil { // the library closes the connection then, so both may be ready
		return context.Cause(ctx)
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	switch err := watched.cause(); {
	case s.state == shutDown:
		return nil
	case err != nil && !errors.Is(err, io.EOF):
		return fmt.Errorf("read what the client says: %w", err)
	}
	return ErrNoShutdown
}

// state is how far the client's session is.
type state uint8

const (
	fresh state = iota
	initialized
	shutDown
)

// server is the session of one client. Messages are taken one after the other, so that
// a request sees all changes before it; requests are then answered at the same time.
type server struct {
	Options
	conn *jsonrpc2.Conn
	// connected is closed once conn is there: messages come before the library returns it.
	connected chan struct{}
	runs      *runs
	exit      chan struct{}  // closed by the client's exit
	end       sync.Once      // of closing it
	work      sync.WaitGroup // what goes on beside the reading of messages
	// gating is held by whoever puts packs through the gates.
	gating sync.Mutex

	lock     sync.Mutex // of everything below
	state    state
	client   initializeParams
	units    encoding
	folders  []string                    // of the workspace
	open     map[string]*document        // by key, as keyOf gives it
	roots    map[string]gating.Workspace // of the repositories, as they were last valid
	results  map[packKey]*result
	keeps    map[packKey]*gate.Kept
	problems map[string]map[string][]Diagnostic // that no gate found, by root and key
	shown    map[string]published               // what was last published, by key
	calls    map[jsonrpc2.ID]context.CancelFunc // requests that are being answered
	// find finds the repository of a folder; tests keep it in theirs.
	find func(dir string) (gating.Place, error)
	// broken is told of panics, for tests; nil for nobody.
	broken func(string)
}

func newServer(o Options) *server {
	return &server{
		Options: o, find: gating.FindPlace, exit: make(chan struct{}), connected: make(chan struct{}), units: utf16Units,
		open: map[string]*document{}, roots: map[string]gating.Workspace{}, results: map[packKey]*result{}, keeps: map[packKey]*gate.Kept{},
		problems: map[string]map[string][]Diagnostic{}, shown: map[string]published{}, calls: map[jsonrpc2.ID]context.CancelFunc{},
	}
}

// The codes of errors that the protocol adds to those of JSON-RPC.
const (
	codeNotInitialized = -32002
	codeCancelled      = -32800
)

// Handle takes one message of the client.
func (s *server) Handle(ctx context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) {
	<-s.connected
	params := json.RawMessage("{}")
	if r.Params != nil && string(*r.Params) != "null" {
		params = *r.Params
	}
	if r.Notif {
		s.guard(r.Method, func() { s.notified(r.Method, params) })
		return
	}
	if problem := s.refused(r.Method); problem != nil {
		s.answer(ctx, r.ID, nil, problem)
		return
	}
	if r.Method == "initialize" || r.Method == "shutdown" { // what comes next builds on them
		result, err := s.asked(ctx, r.Method, params)
		s.answer(ctx, r.ID, result, err)
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	s.lock.Lock()
	s.calls[r.ID] = cancel
	s.lock.Unlock()
	s.work.Go(func() {
		defer cancel()
		var result any
		err := error(&jsonrpc2.Error{Code: jsonrpc2.CodeInternalError, Message: "packgate failed"})
		s.guard(r.Method, func() { result, err = s.asked(ctx, r.Method, params) })
		if ctx.Err() != nil {
			result, err = nil, &jsonrpc2.Error{Code: codeCancelled, Message: "the request was cancelled"}
		}
		s.lock.Lock()
		delete(s.calls, r.ID)
		s.lock.Unlock()
		s.answer(ctx, r.ID, result, err)
	})
}

// refused returns why a request cannot be answered now; nil where it can.
func (s *server) refused(method string) error {
	s.lock.Lock()
	defer s.lock.Unlock()
	switch {
	case s.state == fresh && method != "initialize":
		return &jsonrpc2.Error{Code: codeNotInitialized, Message: "the server is not initialized yet"}
	case s.state == shutDown:
		return &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: "the server was shut down"}
	case s.state == initialized && method == "initialize":
		return &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: "the server is initialized already"}
	}
	return nil
}

func (s *server) answer(ctx context.Context, id jsonrpc2.ID, result any, err error) {
	// Where the client is gone, nobody waits for the answer.
	if err == nil {
		_ = s.conn.Reply(ctx, id, result)
		return
	}
	problem := &jsonrpc2.Error{Code: jsonrpc2.CodeInternalError, Message: err.Error()}
	errors.As(err, &problem)
	_ = s.conn.ReplyWithError(ctx, id, problem)
}

// guard keeps a panic in one piece of work from ending the others.
func (s *server) guard(what string, work func()) {
	defer func() {
		if p := recover(); p != nil {
			said := fmt.Sprintf("packgate failed in %s: %v\n%s", what, p, debug.Stack())
			if s.broken != nil {
				s.broken(said)
			}
			s.say(said)
		}
	}()
	work()
}

// say writes into the client's log.
func (s *server) say(message string) {
	_ = s.conn.Notify(context.Background(), "window/logMessage", map[string]any{"type": 1, "message": message})
}

// asked answers a request.
func (s *server) asked(ctx context.Context, method string, params json.RawMessage) (any, error) {
	switch method {
	case "initialize":
		return with(params, s.initialize)
	case "shutdown":
		s.lock.Lock()
		defer s.lock.Unlock()
		s.state = shutDown
		return nil, nil
	case "textDocument/hover":
		return with(params, s.hover)
	case "textDocument/definition":
		return with(params, s.definition)
	case "textDocument/completion":
		return with(params, s.completion)
	case "textDocument/references":
		return with(params, s.references)
	case "textDocument/documentSymbol":
		return with(params, s.symbols)
	case "textDocument/codeAction":
		return with(params, func(p codeActionParams) (any, error) { return s.codeActions(ctx, p) })
	}
	return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: fmt.Sprintf("there is no method %q here", method)}
}

// notified takes a notification. As the protocol wants it, unknown ones are passed over.
func (s *server) notified(method string, params json.RawMessage) {
	if method == "exit" {
		s.end.Do(func() { close(s.exit) })
		return
	}
	s.lock.Lock()
	ready := s.state == initialized
	s.lock.Unlock()
	if !ready {
		return
	}
	var err error
	switch method {
	case "initialized":
		s.watch()
	case "$/cancelRequest":
		_, err = with(params, s.cancel)
	case "textDocument/didOpen":
		_, err = with(params, s.didOpen)
	case "textDocument/didChange":
		_, err = with(params, s.didChange)
	case "textDocument/didClose":
		_, err = with(params, s.didClose)
	case "textDocument/didSave":
		_, err = with(params, s.didSave)
	case "workspace/didChangeWatchedFiles":
		_, err = with(params, s.filesChanged)
	}
	if err != nil {
		s.say(fmt.Sprintf("%s: %v", method, err))
	}
}

// initialize begins the session.
func (s *server) initialize(p initializeParams) (any, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.state, s.client = initialized, p
	known := func(e encoding) bool { return e == utf8Units || e == utf16Units }
	if i := slices.IndexFunc(p.Capabilities.General.PositionEncodings, known); i >= 0 {
		s.units = p.Capabilities.General.PositionEncodings[i]
	}
	for _, folder := range p.WorkspaceFolders {
		if dir, ok := fileOf(folder.URI); ok {
			s.folders = append(s.folders, dir)
		}
	}
	if dir, ok := fileOf(p.RootURI); ok && len(s.folders) == 0 {
		s.folders = append(s.folders, dir)
	}
	var r initializeResult
	c := &r.Capabilities
	c.PositionEncoding, c.HoverProvider, c.DefinitionProvider = s.units, true, true
	c.ReferencesProvider, c.DocumentSymbolProvider = true, true
	c.TextDocumentSync.OpenClose, c.TextDocumentSync.Change, c.TextDocumentSync.Save = true, incremental, true
	c.CompletionProvider.TriggerCharacters = []string{`"`}
	c.CodeActionProvider.Kinds = []string{quickFix, fixAll}
	r.ServerInfo.Name, r.ServerInfo.Version = "packgate", s.Version
	return r, nil
}

// watch asks the client to tell of files that change outside of it, if it can.
func (s *server) watch() {
	s.lock.Lock()
	can := s.client.Capabilities.Workspace.DidChangeWatchedFiles.DynamicRegistration
	s.lock.Unlock()
	if !can {
		return
	}
	// The answer comes over the loop that this runs in, and is of no consequence.
	_, _ = s.conn.DispatchCall(context.Background(), "client/registerCapability", json.RawMessage(`{"registrations": [{
		"id": "packgate-files", "method": "workspace/didChangeWatchedFiles",
		"registerOptions": {"watchers": [{"globPattern": "**/*.json"}, {"globPattern": "**/.packgate.yaml"}]}
	}]}`))
}

// cancel ends the work on a request.
func (s *server) cancel(p struct {
	ID jsonrpc2.ID `json:"id"`
}) (any, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if end := s.calls[p.ID]; end != nil {
		end()
	}
	return nil, nil
}

// with reads the parameters of a message and hands them on.
func with[T any](params json.RawMessage, to func(T) (any, error)) (any, error) {
	var p T
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: "the parameters have the wrong form: " + err.Error()}
	}
	return to(p)
}
