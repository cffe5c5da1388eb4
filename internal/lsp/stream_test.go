package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/test/hang"
)

func jsonOf(v any) (string, error) {
	src, err := json.Marshal(v)
	return string(src), err
}

func frame(body string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body) }

// talk lets a server answer everything that a client says at once.
func talk(t testing.TB, dir, said string, broken func(string)) (string, error) {
	var out bytes.Buffer
	o := Options{In: strings.NewReader(said), Out: &out, Version: "test", Now: func() time.Time { return time.Unix(1_800_000_000, 0) }}
	s := newServer(o)
	s.broken, s.find = broken, func(string) (gating.Place, error) { return gating.Place{Root: dir, Found: true}, nil }
	err := s.serve(t.Context())
	<-s.conn.DisconnectNotify()
	s.work.Wait()
	return out.String(), err
}

// What is no message is answered with an error, and the next one is read. What cannot be
// told from the next message ends the connection, before it costs memory.
func TestStream(t *testing.T) {
	const begin = `{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}`
	for _, c := range []struct{ said, answer, err string }{
		{frame("{") + frame(begin), `"code":-32700`, "without a shutdown"},
		{frame("[]") + frame("7") + frame(`{"id": 1.5, "method": "x"}`) + frame(`{"id": {}, "result": 1}`) + frame(begin), `"code":-32600`, "without a shutdown"},
		{frame("null") + frame(begin), `"name":"packgate"`, "without a shutdown"},
		{"Content-Type: x\r\ncontent-length: 83\r\n\r\n" + begin, `"name":"packgate"`, "without a shutdown"},
		{"Content-Length: 99999999999\r\n\r\n", "", "wanted at most 67108864"},
		{"Content-Length: -1\r\n\r\n", "", "wanted at most"},
		{"\r\n{}", "", "no Content-Length"},
		{"X: " + strings.Repeat("x", mostHeader), "", "the header of a message has more than 4096 bytes"},
		{strings.Repeat("X: x\n", mostHeader), "", "the header of a message has more than 4096 bytes"},
		{"Content-Length: 10\r\n\r\n{", "", "unexpected EOF"},
		{"Content-Le", "", "unexpected EOF"},
		{frame(begin) + frame(`{"jsonrpc": "2.0", "id": 2, "method": "shutdown"}`), `"id":2`, ""},
	} {
		answer, err := talk(t, t.TempDir(), c.said, nil)
		if !strings.Contains(answer, c.answer) || c.answer == "" && answer != "" {
			t.Errorf("%.60q is answered with %q", c.said, answer)
		}
		if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%.60q ends with %v, want %q", c.said, err, c.err)
		}
	}
}

// A server ends with what surrounds it.
func TestContextEnds(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	in, client := io.Pipe()
	defer client.Close()
	done := make(chan error, 1)
	go func() {
		done <- Serve(ctx, Options{In: in, Out: io.Discard, Now: func() time.Time { return time.Unix(0, 0) }})
	}()
	stop()
	select {
	case err := <-done:
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	case <-time.After(hang.Limit):
		t.Error("it does not end")
	}
}

// No message breaks the server, whatever it asks for and whatever is open.
func FuzzMessages(f *testing.F) {
	dir := example(f)
	uri := uriOf(dir + "/" + supportPack)
	f.Add(`{"jsonrpc":"2.0","id":3,"method":"textDocument/hover","params":{"textDocument":{"uri":"URI"},"position":{"line":80,"character":40}}}`, `{"decision_layer": {"decision_specs": [{"decision_key": "a"}]}}`)
	f.Add(`{"jsonrpc":"2.0","id":3,"method":"textDocument/definition","params":{"textDocument":{"uri":"URI"},"position":{"line":0,"character":99}}}`, `{"tooling_layer": {"permissions": [{"adapter_id": "a", "capability": "b"}], "adapter_registry": [{"adapter_id": "a", "capabilities": ["b"`)
	f.Add(`{"jsonrpc":"2.0","id":3,"method":"textDocument/completion","params":{"textDocument":{"uri":"URI"},"position":{"line":0,"character":60}}}`, `{"policy_layer": {"policy_bundles": [{"policy_dsl": {"rules": [`)
	f.Add(`{"jsonrpc":"2.0","id":3,"method":"textDocument/codeAction","params":{"textDocument":{"uri":"URI"},"range":{"start":{"line":0,"character":0},"end":{"line":99,"character":0}},"context":{"only":["source.fixAll"]}}}`, `{"a": 1, "a": "\u200b"}`)
	f.Add(`{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"URI","version":2},"contentChanges":[{"range":{"start":{"line":-1,"character":7},"end":{"line":0,"character":-1}},"text":"x"}]}}`, "")
	f.Add(`{"jsonrpc":"2.0","method":"workspace/didChangeWatchedFiles","params":{"changes":[{"uri":"URI"},{"uri":"file:///"}]}}`, "🦀\r")
	f.Add(`[{"jsonrpc":"2.0","method":"exit"}]`, "[")
	f.Fuzz(func(t *testing.T, message, text string) {
		if len(message)+len(text) > 4<<10 {
			return
		}
		open, err := jsonOf(map[string]any{"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": map[string]any{"textDocument": map[string]any{"uri": uri, "version": 1, "text": text}}})
		if err != nil {
			return
		}
		said := frame(`{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}`) + frame(open) +
			frame(strings.ReplaceAll(message, "URI", uri)) + frame(`{"jsonrpc": "2.0", "id": 9, "method": "shutdown"}`)
		answer, err := talk(t, dir, said, func(why string) { t.Error(why) })
		if err == nil && !strings.Contains(answer, `"id":9`) {
			t.Errorf("shutdown is not answered: %s", answer)
		}
	})
}
