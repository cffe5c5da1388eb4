package lsp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/sourcegraph/jsonrpc2"
)

const (
	// mostMessage is how many bytes a message may have. A pack of the largest size that
	// is read by default has 4 MiB, and at most six times as many as a JSON string.
	mostMessage = 64 << 20
	// mostHeader is how many bytes the header of a message may have.
	mostHeader = 4 << 10
)

// stream reads and writes messages with the header of the protocol (LSP 3.17, "Base Protocol"). The
// library's own reads a message of any size, and gives up where one is no JSON-RPC: here it is
// answered with an error, and the next one is read.
type stream struct {
	in    *bufio.Reader
	lock  sync.Mutex // of out and ended
	out   io.Writer
	ended error // what ReadObject gave up with
}

func newStream(in io.Reader, out io.Writer) *stream {
	return &stream{in: bufio.NewReaderSize(in, mostHeader), out: out}
}

// Close does nothing: whoever opened the streams closes them.
func (s *stream) Close() error { return nil }

// WriteObject writes a message.
func (s *stream) WriteObject(message any) error {
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false)
	if err := e.Encode(message); err != nil {
		return err
	}
	body.Truncate(body.Len() - len("\n")) // which a reader of one value may leave before the next header
	s.lock.Lock()
	defer s.lock.Unlock()
	_, err := fmt.Fprintf(s.out, "Content-Length: %d\r\n\r\n%s", body.Len(), body.Bytes())
	return err
}

// ReadObject reads the next message that is one; io.EOF, which cause keeps, ends them.
func (s *stream) ReadObject(message any) error {
	err := s.next(message)
	if err != nil {
		s.lock.Lock()
		defer s.lock.Unlock()
		s.ended = err
	}
	return err
}

func (s *stream) cause() error {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.ended
}

func (s *stream) next(message any) error {
	for {
		size, err := s.header()
		if err != nil {
			return err
		}
		var body bytes.Buffer
		if _, err := io.CopyN(&body, s.in, size); err != nil {
			return noEOF(err)
		}
		if err = json.Unmarshal(body.Bytes(), message); err == nil {
			return nil
		}
		if err := s.refuse(body.Bytes(), err); err != nil {
			return err
		}
	}
}

// refuse answers what is no message.
func (s *stream) refuse(body []byte, why error) error {
	code := jsonrpc2.CodeInvalidRequest
	if !json.Valid(body) {
		code = jsonrpc2.CodeParseError
	}
	return s.WriteObject(map[string]any{
		"jsonrpc": "2.0", "id": nil,
		"error": map[string]any{"code": code, "message": "this is no message of JSON-RPC 2.0: " + why.Error()},
	})
}

// header reads the header of a message and returns the size of its body.
func (s *stream) header() (size int64, err error) {
	size = -1
	for read := 0; ; {
		line, err := s.in.ReadSlice('\n')
		switch read += len(line); {
		case errors.Is(err, io.EOF) && read == 0:
			return 0, io.EOF
		case errors.Is(err, bufio.ErrBufferFull) || read > mostHeader:
			return 0, fmt.Errorf("the header of a message has more than %d bytes", mostHeader)
		case err != nil:
			return 0, noEOF(err)
		}
		name, value, ok := strings.Cut(strings.TrimRight(string(line), "\r\n"), ":")
		switch {
		case name == "" && !ok && size < 0:
			return 0, errors.New("a message has no Content-Length")
		case name == "" && !ok:
			return size, nil
		case strings.EqualFold(name, "Content-Length"):
			size, err = strconv.ParseInt(strings.TrimSpace(value), 10, 64)
			if err != nil || size < 0 || size > mostMessage {
				return 0, fmt.Errorf("the Content-Length of a message is %q, wanted at most %d", strings.TrimSpace(value), mostMessage)
			}
		}
	}
}

// noEOF returns an error for a stream that ends within a message.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// The types below are parts of the Language Server Protocol 3.17, by the names that it gives them.

// Position is a place in a text: a line, and a character in the agreed units, from 0.
type Position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// Range is a part of a text, half-open.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// Location is a range in a document.
type Location struct {
	URI   string `json:"uri"`
	Range Range  `json:"range"`
}

type documentID struct {
	URI     string `json:"uri"`
	Version *int   `json:"version,omitempty"`
}

type placeParams struct {
	TextDocument documentID `json:"textDocument"`
	Position     Position   `json:"position"`
}

type initializeParams struct {
	RootURI      string `json:"rootUri"`
	Capabilities struct {
		General struct {
			PositionEncodings []encoding `json:"positionEncodings"`
		} `json:"general"`
		Workspace struct {
			WorkspaceEdit struct {
				DocumentChanges bool `json:"documentChanges"`
			} `json:"workspaceEdit"`
			DidChangeWatchedFiles struct {
				DynamicRegistration bool `json:"dynamicRegistration"`
			} `json:"didChangeWatchedFiles"`
		} `json:"workspace"`
		TextDocument struct {
			Hover struct {
				ContentFormat []string `json:"contentFormat"`
			} `json:"hover"`
			PublishDiagnostics struct {
				RelatedInformation bool `json:"relatedInformation"`
			} `json:"publishDiagnostics"`
		} `json:"textDocument"`
	} `json:"capabilities"`
	WorkspaceFolders []struct {
		URI string `json:"uri"`
	} `json:"workspaceFolders"`
}

type initializeResult struct {
	Capabilities struct {
		PositionEncoding encoding `json:"positionEncoding"`
		TextDocumentSync struct {
			OpenClose bool `json:"openClose"`
			Change    int  `json:"change"`
			Save      bool `json:"save"`
		} `json:"textDocumentSync"`
		HoverProvider          bool `json:"hoverProvider"`
		DefinitionProvider     bool `json:"definitionProvider"`
		ReferencesProvider     bool `json:"referencesProvider"`
		DocumentSymbolProvider bool `json:"documentSymbolProvider"`
		CompletionProvider     struct {
			TriggerCharacters []string `json:"triggerCharacters"`
		} `json:"completionProvider"`
		CodeActionProvider struct {
			Kinds []string `json:"codeActionKinds"`
		} `json:"codeActionProvider"`
	} `json:"capabilities"`
	ServerInfo struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"serverInfo"`
}

// incremental is the TextDocumentSyncKind of a server that takes changes of parts.
const incremental = 2

type didOpenParams struct {
	TextDocument struct {
		URI     string `json:"uri"`
		Version int    `json:"version"`
		Text    string `json:"text"`
	} `json:"textDocument"`
}

type didChangeParams struct {
	TextDocument   documentID `json:"textDocument"`
	ContentChanges []struct {
		Range *Range `json:"range"` // nil for the whole text
		Text  string `json:"text"`
	} `json:"contentChanges"`
}

type didChangeWatchedFilesParams struct {
	Changes []struct {
		URI string `json:"uri"`
	} `json:"changes"`
}

// Diagnostic is something that is wrong, or worth a look, in a document.
type Diagnostic struct {
	Range              Range             `json:"range"`
	Severity           int               `json:"severity"`
	Code               string            `json:"code,omitempty"`
	CodeDescription    map[string]string `json:"codeDescription,omitempty"` // its href
	Source             string            `json:"source"`
	Message            string            `json:"message"`
	RelatedInformation []relatedLocation `json:"relatedInformation,omitempty"`
}

// The severities of a Diagnostic.
const (
	severityError   = 1
	severityWarning = 2
	// severityInformation is that of what is no fault.
	severityInformation = 3
	severityHint        = 4
)

type relatedLocation struct {
	Location Location `json:"location"`
	Message  string   `json:"message"`
}

type publishParams struct {
	URI         string       `json:"uri"`
	Version     *int         `json:"version,omitempty"`
	Diagnostics []Diagnostic `json:"diagnostics"`
}

type codeActionParams struct {
	TextDocument documentID `json:"textDocument"`
	Range        Range      `json:"range"`
	Context      struct {
		Only []string `json:"only"`
	} `json:"context"`
}

// CodeAction is a change that the user can choose.
type CodeAction struct {
	Title       string        `json:"title"`
	Kind        string        `json:"kind"`
	Diagnostics []Diagnostic  `json:"diagnostics,omitempty"`
	IsPreferred bool          `json:"isPreferred,omitempty"`
	Edit        workspaceEdit `json:"edit"`
}

// workspaceEdit has DocumentChanges for clients that take them, and Changes for others.
type workspaceEdit struct {
	Changes         map[string][]textEdit `json:"changes,omitempty"`
	DocumentChanges []documentEdit        `json:"documentChanges,omitempty"`
}

type documentEdit struct {
	TextDocument struct {
		URI     string `json:"uri"`
		Version *int   `json:"version"`
	} `json:"textDocument"`
	Edits []textEdit `json:"edits"`
}

type textEdit struct {
	Range   Range  `json:"range"`
	NewText string `json:"newText"`
}

type hover struct {
	Contents markup `json:"contents"`
	Range    *Range `json:"range,omitempty"`
}

type markup struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

type completionItem struct {
	Label      string   `json:"label"`
	Kind       int      `json:"kind"`
	Detail     string   `json:"detail,omitempty"`
	FilterText string   `json:"filterText"`
	TextEdit   textEdit `json:"textEdit"`
}

// referenceItem is the CompletionItemKind of a reference.
const referenceItem = 18
