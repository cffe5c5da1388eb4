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

// stream reads and writes messages with the header that the protocol gives them (LSP
// 3.17, "Base Protocol"). It takes the place of the library's own, which reads a
// message of any size, and gives up where one is no JSON-RPC: here it is answered with
// an error, and the next one is read.
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
	s.lock.Lock()
	defer s.lock.Unlock()
	_, err := fmt.Fprintf(s.out, "Content-Length: %d\r\n\r\n%s", body.Len(), body.Bytes())
	return err
}

// ReadObject reads the next message that is one. The error is io.EOF at the end of the
// stream between two messages, and cause returns it later.
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
