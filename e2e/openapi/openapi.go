// Package openapi holds requests and answers against GitHub's own description of
// its REST API.
//
// The description is what GitHub publishes as the npm package @octokit/openapi. It
// is fetched when the tests are set up, checked against the digest that stands
// here, and cut to the operations that a stand-in has: in full it is 13 MB and
// takes seconds to read. What is left is kept beside the npm modules and never
// committed.
//
// The description says less than GitHub enforces. What is known beyond it, such as
// that a misspelt query parameter is silently ignored, is checked here as well.
package openapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
)

// Description is a description that can be asked.
type Description struct {
	router routers.Router
}

// Exchange is a request, with its body still to be read, and the answer to it.
type Exchange struct {
	Request *http.Request
	Status  int
	Header  http.Header
	Answer  []byte
}

// Load reads a description as Trim returns it.
func Load(ctx context.Context, trimmed []byte) (*Description, error) {
	doc, err := openapi3.NewLoader().LoadFromData(trimmed)
	if err != nil {
		return nil, fmt.Errorf("read the description: %w", err)
	}
	doc.Servers = nil // any host
	paths := openapi3.NewPaths()
	for path, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			op.Servers = nil
			closeBody(op)
		}
		paths.Set(path, item)
	}
	doc.Paths = paths
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		return nil, fmt.Errorf("read the description: %w", err)
	}
	return &Description{router: router}, nil
}

// Check returns what is wrong with a request and with its answer; nothing where
// both are as described. An answer of an error that the description does not list
// for the operation is let pass, as GitHub lists few of them.
func (d *Description) Check(ctx context.Context, e Exchange) []string {
	at := fmt.Sprintf("%s %s", e.Request.Method, e.Request.URL.Path)
	e.Request = wholeRef(e.Request)
	route, params, err := d.router.FindRoute(e.Request)
	if err != nil {
		return []string{at + ": " + err.Error()}
	}
	var wrong []string
	for _, s := range beyond(e.Request, route) {
		wrong = append(wrong, at+": "+s)
	}
	in := &openapi3filter.RequestValidationInput{
		Request: e.Request, PathParams: params, Route: route,
		Options: &openapi3filter.Options{MultiError: true, AuthenticationFunc: openapi3filter.NoopAuthenticationFunc},
	}
	if err := openapi3filter.ValidateRequest(ctx, in); err != nil {
		wrong = append(wrong, fmt.Sprintf("request %s: %v", at, err))
	}
	if raw(e.Header) {
		return wrong // a file as it is, of which the description says nothing
	}
	out := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: e.Status, Header: e.Header, Body: io.NopCloser(bytes.NewReader(e.Answer)),
		Options: &openapi3filter.Options{MultiError: true, IncludeResponseStatus: e.Status < 400},
	}
	if err := openapi3filter.ValidateResponse(ctx, out); err != nil {
		wrong = append(wrong, fmt.Sprintf("answer %d to %s: %v", e.Status, at, err))
	}
	return wrong
}

// wholeRef returns a request about a ref with its slashes escaped. GitHub takes heads/NAME for one
// parameter, which the description cannot say.
func wholeRef(r *http.Request) *http.Request {
	for _, folder := range []string{"/git/ref/", "/git/refs/"} {
		if before, ref, ok := strings.Cut(r.URL.Path, folder); ok {
			own := r.Clone(r.Context())
			own.URL.RawPath = before + folder + url.PathEscape(ref)
			return own
		}
	}
	return r
}

func raw(h http.Header) bool {
	return strings.HasPrefix(h.Get("Content-Type"), "application/vnd.github.raw+json")
}

// beyond checks what GitHub does and its description does not say.
func beyond(r *http.Request, route *routers.Route) []string {
	var wrong, known []string
	for _, list := range []openapi3.Parameters{route.PathItem.Parameters, route.Operation.Parameters} {
		for _, p := range list {
			if p.Value.In == "query" {
				known = append(known, p.Value.Name)
			}
		}
	}
	for name := range r.URL.Query() {
		if !slices.Contains(known, name) {
			wrong = append(wrong, fmt.Sprintf("query parameter %q is not known, and ignored", name))
		}
	}
	if n, err := strconv.Atoi(r.URL.Query().Get("per_page")); err == nil && n > 100 {
		wrong = append(wrong, fmt.Sprintf("per_page is %d, and cut to 100", n))
	}
	for _, name := range []string{"Authorization", "User-Agent", "X-GitHub-Api-Version"} {
		if r.Header.Get(name) == "" {
			wrong = append(wrong, "no header "+name)
		}
	}
	return append(wrong, beyondBody(r)...)
}

func beyondBody(r *http.Request) []string {
	if r.Method == http.MethodGet || r.Method == http.MethodDelete || r.Body == nil {
		return nil
	}
	data, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(data))
	var sent struct {
		Body       string
		Status     string
		Conclusion string
	}
	if err != nil || json.Unmarshal(data, &sent) != nil {
		return []string{"the body is no JSON object"}
	}
	if n := len([]rune(sent.Body)); n > 65536 {
		return []string{fmt.Sprintf("body has %d characters, more than 65536", n)}
	}
	if sent.Status == "completed" && sent.Conclusion == "" {
		return []string{"completed without a conclusion"}
	}
	return nil
}

// closeBody makes unknown members of a request's body an error: GitHub ignores
// them, and a client that misspells one never learns of it.
func closeBody(op *openapi3.Operation) {
	if op.RequestBody == nil || op.RequestBody.Value == nil {
		return
	}
	if media := op.RequestBody.Value.Content["application/json"]; media != nil && media.Schema != nil {
		closeObject(media.Schema.Value)
	}
}

func closeObject(s *openapi3.Schema) {
	if s == nil {
		return
	}
	if s.Items != nil {
		closeObject(s.Items.Value)
	}
	// The members of a choice are open to each other.
	if len(s.Properties) == 0 || len(s.AllOf)+len(s.AnyOf)+len(s.OneOf) > 0 {
		return
	}
	no := false
	s.AdditionalProperties.Has = &no
	for _, p := range s.Properties {
		closeObject(p.Value)
	}
}
