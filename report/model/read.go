package model

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"strings"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/schemas"
)

// WebURL reports whether a text is an http or https URL in which nothing could end a link.
func WebURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && len(s) <= 2048 && plainURL.MatchString(s)
}

// plainURL matches the characters that RFC 3986 allows in a URL.
var plainURL = regexp.MustCompile(`^[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]+$`)

// MaxRead bounds a stored report, in bytes.
const MaxRead = 64 << 20

// ErrNotAReport is wrapped by the errors of Read that are about what was read.
var ErrNotAReport = errors.New("not a packgate report")

// Read reads a report from its JSON form. The report may come from anywhere: it has to fit the
// schema of this version, may not be larger than MaxRead, and contains text of a pack, which
// has to be escaped where it is shown. The states of its gates have to follow from its findings
// and from what did not run; whether its verdict does is not checked.
func Read(from io.Reader) (*Report, error) {
	src, err := io.ReadAll(io.LimitReader(from, MaxRead+1))
	if err != nil {
		return nil, err
	}
	if len(src) > MaxRead {
		return nil, refuse("it has more than %d bytes", MaxRead)
	}
	var version struct {
		Version json.Number `json:"version"`
	}
	if err := json.Unmarshal(src, &version); err != nil {
		return nil, refuse("it is not a JSON object with a version: %v", err)
	}
	if wanted := fmt.Sprint(Version); version.Version.String() != wanted {
		return nil, refuse("its version is %q, and this packgate reads version %s", version.Version, wanted)
	}
	if err := fits(src); err != nil {
		return nil, err
	}
	// Values that are kept as they are written are shown in one line.
	var compact bytes.Buffer
	if err := json.Compact(&compact, src); err != nil {
		return nil, refuse("%v", err)
	}
	r := &Report{}
	if err := json.Unmarshal(compact.Bytes(), r); err != nil {
		return nil, refuse("%v", err)
	}
	for _, p := range r.Packs.All() {
		if err := p.consistent(); err != nil {
			return nil, refuse("%v", err)
		}
	}
	r.rowsOf()
	return r, cmp.Or(r.entire(), r.safe(), r.approved())
}

// fits checks a document against the schema of reports.
func fits(src []byte) error {
	var document any
	if err := json.Unmarshal(src, &document); err != nil {
		return refuse("%v", err)
	}
	violations, err := schemas.Validate("report", document)
	if err != nil || len(violations) == 0 {
		return err
	}
	const most = 3
	var words []string
	for _, v := range violations[:min(most, len(violations))] {
		words = append(words, strings.TrimSpace(v.Pointer+" "+v.Message))
	}
	if left := len(violations) - most; left > 0 {
		words = append(words, pack.Counted(left, "more fault"))
	}
	return refuse("%s", strings.Join(words, "; "))
}

// safe refuses links that are none: of a report they alone are written as they are.
func (r *Report) safe() error {
	for _, revision := range []*Revision{r.Base, r.Head} {
		if revision == nil || revision.BlobURL == "" {
			continue
		}
		if !WebURL(revision.BlobURL) || !strings.HasSuffix(revision.BlobURL, "/") {
			return refuse("the blob_url %.500q is not the URL of a folder", revision.BlobURL)
		}
	}
	return nil
}

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrNotAReport, fmt.Sprintf(format, args...))
}

// noPacks is how the member packs begins in a report without any. No text has a line break.
var noPacks = []byte("\n  \"packs\": []")

// JSON writes the report's machine form, indented by two blanks. Its packs are written
// one by one: all of them together may be much larger than anything else.
func JSON(w io.Writer, r *Report) error {
	if r.Packs.Len() == 0 {
		return WriteJSON(w, r)
	}
	frame := *r
	frame.Packs = Packs{}
	around, err := formatted(frame, "")
	if err != nil {
		return err
	}
	before, after, found := bytes.Cut(around, noPacks)
	if !found {
		return errors.New("the report has no member packs") // it always has
	}
	if _, err := w.Write(append(bytes.Clone(before), "\n  \"packs\": ["...)); err != nil {
		return err
	}
	const indent = "    "
	for i, p := range r.Packs.All() {
		separator := "\n"
		if i > 0 { // those that are there come first
			separator = ",\n"
		}
		src, err := formatted(p, indent)
		if err != nil {
			return err
		}
		if _, err := w.Write(append([]byte(separator+indent), bytes.TrimSuffix(src, []byte("\n"))...)); err != nil {
			return err
		}
	}
	_, err = w.Write(append([]byte("\n  ]"), after...))
	return err
}

// WriteJSON writes any value as all of packgate's commands write JSON: indented by two blanks,
// without the escapes that only HTML needs, and harmless in a log of GitHub's runner.
func WriteJSON(w io.Writer, v any) error {
	src, err := formatted(v, "")
	if err != nil {
		return err
	}
	_, err = w.Write(src)
	return err
}

// Compact returns a value as WriteJSON writes it, but in one line.
func Compact(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return inert(b.Bytes()), nil
}

// formatted returns a value as WriteJSON writes it, each line but the first behind a prefix.
func formatted(v any, prefix string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent(prefix, "  ")
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return inert(b.Bytes()), nil
}

// inert returns JSON without what GitHub's runner takes for a command wherever it stands in a log.
// It can stand in strings only, where the escape means the same.
func inert(src []byte) []byte { return bytes.ReplaceAll(src, []byte("##["), []byte(`#\u0023[`)) }
