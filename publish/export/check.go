package export

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/publish/attest"
	"github.com/contextosai/packgate/publish/statement"
)

// The bounds of what is read of a folder.
const (
	maxFile  = 64 << 20
	maxFiles = 1 << 20
)

// Trust is by whom a folder has to be signed.
type Trust struct {
	Publisher *attest.Verifier
	Freshness *attest.Verifier // of timestamps; nil where none are expected
	Registry  string           // that it has to be of; "" for any
}

// Checked is what came of verifying a folder.
type Checked struct {
	Index      *Index
	Events     []Event
	Statements int       // signed statements, all of which verify
	Signed     []Signed  // these, and the records of histories
	Histories  []History // a pack each, sorted
	Problems   []string  // what is wrong, so that the folder is not to be relied on
	NotChecked []string  // what could not be told
	// Issued is when somebody said that the publisher's status was the newest; zero where that
	// is not proved.
	Issued time.Time
}

// Signed is a signed statement or a record of a history.
type Signed struct {
	Pack   string // pack_id
	Bundle string // digest of its Sigstore bundle
}

// History says how far it is proved that nothing of a pack was left out.
type History struct {
	Pack     string
	Records  int  // of its history that are there
	Head     int  // the newest of them, 0 for none
	Complete int  // up to which record of its history nothing is missing, by the publisher's status; 0 where that is not proved
	Stamped  bool // a timestamp says that this status was the newest when it was issued
}

// Check verifies a folder that an export wrote: that every statement is signed by the publisher,
// that the events are those which the statements prove, that reports and configs are those which
// they name, that no file is missing, changed or added, and how far nothing was left out. It asks
// nobody. What is wrong is a problem of the result; the error is of kind ErrNotExport for what
// is no such folder, and else of the file system.
func Check(ctx context.Context, dir string, trust Trust) (*Checked, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close() // only read from
	c := &checking{Trust: trust, ctx: ctx, root: root, out: &Checked{}, records: map[string][]*record{}, states: map[string]string{}, moves: map[move]bool{}, named: map[string]bool{}}
	if c.out.Index, err = c.index(); err != nil {
		return nil, err
	}
	for _, step := range []func() error{c.files, c.statements, c.lists, c.leftovers, c.histories, c.status} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	c.out.NotChecked = slices.Compact(slices.Sorted(slices.Values(append(c.out.NotChecked, c.out.Index.NotChecked...))))
	return c.out, nil
}

// checking is the verification of one folder.
type checking struct {
	Trust
	ctx     context.Context // that of the call; every step looks at it
	root    *os.Root
	out     *Checked
	names   []string             // of the files that are there and in the index, sorted
	records map[string][]*record // by pack_id
	states  map[string]string    // by the digest of a manifest, the state that a statement proves
	moves   map[move]bool        // that statements prove
	named   map[string]bool      // files that a statement names
}

func (c *checking) wrong(format string, args ...any) {
	c.out.Problems = append(c.out.Problems, fmt.Sprintf(format, args...))
}

func (c *checking) without(format string, args ...any) {
	c.out.NotChecked = append(c.out.NotChecked, fmt.Sprintf(format, args...))
}

func (c *checking) index() (*Index, error) {
	refuse := func(cause error, format string, args ...any) (*Index, error) {
		return nil, &fault.Error{Kind: ErrNotExport, Message: IndexFile + ": " + fmt.Sprintf(format, args...), Cause: cause}
	}
	src, err := c.read(IndexFile)
	if c.ctx.Err() != nil {
		return nil, c.ctx.Err()
	}
	if err != nil {
		return refuse(err, "it cannot be read: %v", err)
	}
	i := &Index{}
	d := json.NewDecoder(bytes.NewReader(src))
	d.DisallowUnknownFields()
	if err := d.Decode(i); err != nil {
		return refuse(err, "%v", err)
	}
	if again, err := i.bytes(); err != nil || !bytes.Equal(again, src) {
		return refuse(err, "it is not in the form in which packgate writes it")
	}
	if i.Format != Format {
		return refuse(nil, "the format is %q, and this packgate reads %q", i.Format, Format)
	}
	if c.Registry != "" && i.Registry != c.Registry {
		c.wrong("the export is of the registry %q, wanted %q", i.Registry, c.Registry)
	}
	if i.Publisher != c.Publisher.Name() {
		c.wrong("the export holds what %q signed, wanted %q", i.Publisher, c.Publisher.Name())
	}
	if !slices.IsSorted(i.Packs) || len(slices.Compact(slices.Clone(i.Packs))) != len(i.Packs) {
		c.wrong("the packs of the index are not in order, or one is listed twice")
	}
	return i, nil
}

// read returns the content of a regular file of the folder, without following links.
func (c *checking) read(name string) ([]byte, error) {
	if err := c.ctx.Err(); err != nil {
		return nil, err
	}
	info, err := c.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	switch {
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file")
	case info.Size() > maxFile:
		return nil, fmt.Errorf("it has %d bytes, wanted at most %d", info.Size(), maxFile)
	}
	f, err := c.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read from
	src, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(src) > maxFile {
		err = fmt.Errorf("it has more than %d bytes", maxFile)
	}
	return src, err
}

// files holds the files that are there against the index.
func (c *checking) files() error {
	there := map[string]bool{}
	err := fs.WalkDir(c.root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case c.ctx.Err() != nil:
			return c.ctx.Err()
		case err != nil:
			return err
		case e.IsDir() || name == IndexFile:
			return nil
		case len(there) >= maxFiles:
			return &fault.Error{Kind: ErrNotExport, Message: fmt.Sprintf("there are more than %d files", maxFiles)}
		}
		there[name] = true
		if c.out.Index.Files[name] == "" {
			c.wrong("%s is not in the index", name)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(c.out.Index.Files)) {
		if !there[name] {
			c.wrong("%s is not there", name)
			continue
		}
		src, err := c.read(name)
		if c.ctx.Err() != nil {
			return c.ctx.Err()
		}
		switch found := digestOf(src); {
		case err != nil:
			c.wrong("%s: %v", name, err)
		case found != c.out.Index.Files[name]:
			c.wrong("%s is %s, wanted %s", name, found, c.out.Index.Files[name])
		case in(name) != "" && nameOf(in(name), src) != name:
			c.wrong("%s is named after another digest than that of its bytes", name)
		default:
			c.names = append(c.names, name)
		}
	}
	return nil
}

// within returns the sound files of a folder.
func (c *checking) within(folder string) []string {
	return slices.DeleteFunc(slices.Clone(c.names), func(name string) bool { return path.Dir(name) != folder })
}

// statements verifies the signed statements, and derives the events.
func (c *checking) statements() error {
	for _, name := range c.within("statements") {
		src, err := c.read(name)
		if err != nil {
			return err
		}
		v, err := c.Publisher.Verify(src)
		if err != nil {
			c.wrong("%s: %v", name, err)
			continue
		}
		c.out.Statements++
		c.statement(name, v)
	}
	return nil
}

func (c *checking) statement(name string, v *attest.Verified) {
	id, _ := split(v.Statement.Version().Pack)
	if !slices.Contains(c.out.Index.Packs, id) {
		c.wrong("%s is about the pack %q, which the index does not name", name, id)
		return
	}
	c.out.Signed = append(c.out.Signed, Signed{id, v.Digest})
	if s := summaryOf(v); s != nil {
		c.summary(s)
	}
	events, err := eventsOf(v, c.report)
	switch {
	case errors.Is(err, errNoEvent): // which the index says
	case err != nil:
		c.wrong("%s: %v", name, err)
	}
	c.out.Events = append(c.out.Events, events...)
	for _, e := range events {
		c.note(e)
	}
}

// summary notes what a version or a bundle names by its digest.
func (c *checking) summary(s *statement.Summary) {
	if !strings.HasPrefix(s.Resource, c.out.Index.Registry+"/") {
		c.without("%q was signed for %q, and the export is of %q", s.Pack, s.Resource, c.out.Index.Registry)
	}
	report, config := nameAt("reports", s.Report), nameAt("configs", s.Config)
	if c.named[report] = true; !c.has(report) {
		c.without(noReport, s.Pack, s.Report)
	}
	if s.Config == "" {
		return
	}
	if c.named[config] = true; !c.has(config) {
		c.without("the bytes of the config %s, by which %q was published: the export does not contain them", s.Config, s.Pack)
	}
}

// noReport says what a report would have told.
const noReport = "what was waived for %q: the report %s is missing"

// has reports whether a file is there, and sound.
func (c *checking) has(name string) bool {
	_, ok := slices.BinarySearch(c.names, name)
	return ok
}

// note keeps what states and moves follow from.
func (c *checking) note(e Event) {
	switch e.Event {
	case Deprecated, Revoked:
		if c.states[e.Manifest] != statement.StateRevoked {
			c.states[e.Manifest] = e.Event
		}
	case Pinned, Stopped:
		c.moves[move{e.Pack, e.Environment, e.Manifest, e.Bundle, e.Event == Stopped}] = true
	}
}

// report returns a sound report by its digest; nil where it is not there, which the index says.
func (c *checking) report(digest string) []byte {
	name := nameAt("reports", digest)
	if !c.has(name) {
		return nil
	}
	src, err := c.read(name)
	if err != nil {
		return nil
	}
	return src
}

// lists holds the lists of events against those that the statements prove.
func (c *checking) lists() error {
	sorted(c.out.Events)
	for _, one := range []struct {
		name string
		form func([]Event) ([]byte, error)
	}{{EventsFile, lines}, {TableFile, table}} {
		wanted, err := one.form(c.out.Events)
		if err != nil {
			return err
		}
		src, err := c.read(one.name)
		if c.ctx.Err() != nil {
			return c.ctx.Err()
		}
		if err != nil || !bytes.Equal(src, wanted) {
			c.wrong("%s is not the list of events that the signed statements prove", one.name)
		}
	}
	return nil
}

// leftovers finds files that nothing signed names.
func (c *checking) leftovers() error {
	for _, name := range c.names {
		known := in(name) == "statements" || in(name) == "records" || c.named[name] ||
			slices.Contains([]string{EventsFile, TableFile, StatusFile, StatusBundle, TimestampFile}, name)
		if !known {
			c.wrong("no signed statement names %s", name)
		}
	}
	return nil
}
