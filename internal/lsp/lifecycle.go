package lsp

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/sourcegraph/jsonrpc2"
)

// The kinds of code actions. All of the repairs of a document are one action, which
// editors can run when a file is saved.
const (
	quickFix = "quickfix"
	fixAll   = "source.fixAll.packgate"
)

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
	return initializeResult{
		ServerInfo: serverInfo{Name: "packgate", Version: s.Version},
		Capabilities: serverCapabilities{
			PositionEncoding: s.units,
			TextDocumentSync: syncOptions{OpenClose: true, Change: incremental, Save: true},
			HoverProvider:    true, DefinitionProvider: true,
			CompletionProvider: completionOptions{TriggerCharacters: []string{`"`}},
			CodeActionProvider: codeActionOptions{Kinds: []string{quickFix, fixAll}},
		},
	}, nil
}

// watch asks the client to tell of files that change outside of it, if it can.
func (s *server) watch() {
	s.lock.Lock()
	can := s.client.Capabilities.Workspace.DidChangeWatchedFiles.DynamicRegistration
	s.lock.Unlock()
	if !can {
		return
	}
	// The answer comes over the loop that this runs in. Whatever it is, there is
	// nothing more to do.
	_, _ = s.conn.DispatchCall(context.Background(), "client/registerCapability", registrationParams{[]registration{{
		ID: "packgate-files", Method: "workspace/didChangeWatchedFiles",
		RegisterOptions: json.RawMessage(`{"watchers": [{"globPattern": "**/*.json"}, {"globPattern": "**/.packgate.yaml"}]}`),
	}}})
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

// leave ends the session.
func (s *server) leave() {
	select {
	case <-s.exit:
	default:
		close(s.exit)
	}
}
