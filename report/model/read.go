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
	"slices"
	"strings"
	"sync"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/schemas"
)

// WebURL reports whether a text is an http or https URL in which nothing could end a link.
func WebURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && len(s) <= 2048 && plainURL().MatchString(s)
}

// plainURL matches the characters that RFC 3986 allows in a URL.
var plainURL = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]+$`) })

// MaxRead bounds each pack of a stored report, and all of it that is about no single pack, in bytes.
const MaxRead = 64 << 20

// ErrNotAReport is wrapped by the errors of Read that are about what was read.
var ErrNotAReport = errors.New("not a packgate report")

// Read reads a report from its JSON form, one pack after the other. The report may come from
// anywhere: it has to fit the schema of this version, may have no part that is larger than MaxRead,
// and contains text of a pack, which has to be escaped where it is shown. The states of its gates
// have to follow from its findings and from what did not run, and its counts and verdict from its
// packs. The error is ErrNotAReport, or that of the reader.
func Read(from io.Reader) (*Report, error) { return (*Room)(nil).Read(from) }

// Read is the function Read for a report whose packs are put into the room.
func (r *Room) Read(from io.Reader) (*Report, error) {
	report, _, err := read(from, r)
	return report, err
}

// read is Read, which says too whether the report has a frame.
func read(from io.Reader, room *Room) (r *Report, framed bool, err error) {
	defer Lost(&err)
	doc := document{from: &bounded{from: from}, packs: Packs{Room: room}, members: map[string]json.RawMessage{}}
	if err := doc.read(); err != nil {
		return nil, false, cmp.Or(doc.from.err, err)
	}
	if r, err = runOf(doc.run()); err != nil {
		return nil, false, err
	}
	framed = r.Frame != nil
	if err := cmp.Or(doc.forms.fit(r.Version), r.Frame.holds(&doc)); err != nil {
		return nil, framed, err
	}
	version := r.Version
	r.Version, r.Packs, r.Frame = Version, doc.packs, nil
	r.rowsOf()
	return r, framed, cmp.Or(r.settled(version), r.entire(), r.safe(), r.approved())
}

// runOf reads what a report says beside its packs, as a report without any, of the version that it has.
func runOf(src []byte) (*Report, error) {
	var member struct {
		Version json.RawMessage `json:"version"`
	}
	if err := json.Unmarshal(src, &member); err != nil {
		return nil, refuse("it is not a JSON object with a version: %v", err)
	}
	if _, err := readable(member.Version); err != nil {
		return nil, err
	}
	if err := fits(src, 0); err != nil {
		return nil, err
	}
	r := &Report{}
	return r, decode(src, r)
}

// readable returns a version of the JSON form, and refuses one that this version does not read.
func readable(version json.RawMessage) (int, error) {
	for _, known := range []int{version1, Version} {
		if string(version) == fmt.Sprint(known) {
			return known, nil
		}
	}
	return 0, refuse("its version is %q, and this packgate reads the versions %d and %d", version, version1, Version)
}

// packOf reads the pack at an index of a report, whose run is said with the words of any. It is in the
// form of this version.
func packOf(src []byte, at int) (*Pack, error) {
	whole := slices.Concat([]byte(`{"version":2,"tool":{"name":"","version":"","rules_version":""},"command":"","result":"pass","exit_code":0,"errors":[],"notices":[],`+
		`"summary":{"packs":0,"errors":0,"warnings":0,"waived":0,"not_checked":0},"packs":[`), src, []byte("]}"))
	if err := fits(whole, at); err != nil {
		return nil, err
	}
	p := &Pack{}
	if err := decode(src, p); err != nil {
		return nil, err
	}
	if err := cmp.Or(p.consistent(), p.judged()); err != nil {
		return nil, refuse("%v", err)
	}
	return p, nil
}

// decode reads a value. Values in it that are kept as they are written are shown in one line.
func decode(src []byte, into any) error {
	var compact bytes.Buffer
	err := json.Compact(&compact, src)
	if err == nil {
		err = json.Unmarshal(compact.Bytes(), into)
	}
	if err != nil {
		return refuse("%v", err)
	}
	return nil
}

// fits checks a document against the schema of reports, whatever its version. Its first pack is called
// the one at an index.
func fits(src []byte, at int) error {
	var document map[string]any
	if err := json.Unmarshal(src, &document); err != nil {
		return refuse("%v", err)
	}
	document["version"] = float64(Version)
	violations, err := schemas.Validate("report", document)
	if err != nil || len(violations) == 0 {
		return err
	}
	const most = 3
	var words []string
	for _, v := range violations[:min(most, len(violations))] {
		pointer := v.Pointer
		if inPack, found := strings.CutPrefix(pointer, "/packs/0"); found {
			pointer = fmt.Sprintf("/packs/%d%s", at, inPack)
		}
		words = append(words, strings.TrimSpace(pointer+" "+v.Message))
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
