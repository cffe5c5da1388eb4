package export

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/publish"
	"github.com/contextosai/packgate/publish/attest"
	"github.com/contextosai/packgate/publish/statement"
	"github.com/contextosai/packgate/repo/atomicfile"
)

// The kinds of errors.
var (
	// ErrTaken: there is something already where a folder is to be written.
	ErrTaken = fault.NewKind("the folder is not empty", "name a folder that is not there, or an empty one")
	// ErrNotExport: what is there is no folder that an export wrote.
	ErrNotExport = fault.NewKind("not an audit export", "name a folder that packgate audit --export wrote")
)

// Source is what an export is made from.
type Source struct {
	Checker *publish.Checker
	Packs   []string // pack_ids
	// Config returns the bytes of the config that was in force for a version, by its signed
	// summary. An error says why they are not to be had.
	Config func(context.Context, *statement.Summary) ([]byte, error)
	Now    func() time.Time
}

// Write writes an export into a folder that is not there, or is empty. It is written beside its
// place and moved there once it is complete, so that there is a whole one or none. It returns
// the index and the number of events. The error is of kind ErrTaken where the folder holds
// something, and else of the registry or the file system.
func Write(ctx context.Context, dir string, s Source) (_ *Index, events int, err error) {
	if err := Vacant(dir); err != nil {
		return nil, 0, err
	}
	parent := filepath.Dir(filepath.Clean(dir))
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return nil, 0, err
	}
	w := &writer{Source: s, index: Index{
		Format: Format, Registry: s.Checker.Registry.String(), Publisher: s.Checker.Verifier.Name(),
		Exported: s.Now().UTC().Truncate(time.Second).Format(time.RFC3339), Packs: s.Packs, Files: map[string]string{}, NotChecked: []string{},
	}}
	var failed error // with its own words
	folder := &atomicfile.Folder{
		Fill: func(create func(string) (*os.File, error)) error {
			w.create = create
			failed = w.all(ctx)
			return failed
		},
		Ours: func(*os.Root) bool { return false }, // the empty folder that may be there gives way, and no other
	}
	err = atomicfile.WriteAll([]atomicfile.Edit{{Name: filepath.Clean(dir), Folder: folder}}, atomicfile.OneByOne)
	if errors.Is(err, atomicfile.ErrNotOurs) {
		err = taken(dir)
	}
	return &w.index, len(w.events), cmp.Or(failed, err)
}

// Vacant returns an error of kind ErrTaken for a folder that holds something, and for a place
// that is no folder.
func Vacant(dir string) error {
	list, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		_, err := os.Lstat(dir)
		if err == nil {
			return taken(dir) // a link that leads nowhere
		}
		return nil
	case err != nil:
		return &fault.Error{Kind: ErrTaken, Message: fmt.Sprintf("%q is not a folder to write into", dir), Cause: err}
	case len(list) > 0:
		return taken(dir)
	}
	return nil
}

func taken(dir string) error {
	return &fault.Error{Kind: ErrTaken, Message: fmt.Sprintf("%q has files already", dir)}
}

// writer writes one export.
type writer struct {
	Source
	create  func(name string) (*os.File, error)
	index   Index
	events  []Event
	reports map[string][]byte // of the pack at hand, by digest
	configs map[string]bool   // that were asked for, by digest
}

func (w *writer) all(ctx context.Context) error {
	w.configs = map[string]bool{}
	for _, id := range w.Packs {
		if err := w.pack(ctx, id); err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
	}
	if err := w.status(ctx); err != nil {
		return err
	}
	sorted(w.events)
	for name, form := range map[string]func([]Event) ([]byte, error){EventsFile: lines, TableFile: table} {
		src, err := form(w.events)
		if err != nil {
			return err
		}
		if err := w.file(name, src); err != nil {
			return err
		}
	}
	slices.Sort(w.index.NotChecked)
	w.index.NotChecked = slices.Compact(w.index.NotChecked)
	src, err := w.index.bytes()
	if err != nil {
		return err
	}
	return w.put(IndexFile, src)
}

func (w *writer) without(format string, args ...any) {
	w.index.NotChecked = append(w.index.NotChecked, fmt.Sprintf(format, args...))
}

func (w *writer) file(name string, content []byte) error {
	if w.index.Files[name] != "" {
		return nil // the same bytes
	}
	w.index.Files[name] = digestOf(content)
	return w.put(name, content)
}

// put writes a file of the export.
func (w *writer) put(name string, content []byte) error {
	f, err := w.create(filepath.FromSlash(name))
	if err == nil {
		_, err = f.Write(content)
		err = cmp.Or(err, f.Close())
	}
	if err != nil {
		return fmt.Errorf("write %s of the export: %w", name, atomicfile.Cause(err))
	}
	return nil
}

// pack writes what there is of one pack. What the publisher did not sign is left out, and so
// are reports that no signed statement names.
func (w *writer) pack(ctx context.Context, id string) error {
	var signed []*attest.Verified
	foreign := 0
	w.reports = map[string][]byte{}
	notChecked, err := w.Checker.Evidence(ctx, id, func(p publish.Piece) error {
		if p.Kind == publish.PieceReport {
			w.reports[digestOf(p.Content)] = p.Content
			return nil
		}
		v, err := w.Checker.Verifier.Verify(p.Content)
		if err != nil {
			foreign++
			return nil // which an audit says
		}
		if p.Kind == publish.PieceRecord {
			return w.file(nameOf("records", p.Content), p.Content)
		}
		name := nameOf("statements", p.Content)
		if w.index.Files[name] == "" {
			signed = append(signed, v)
		}
		return w.file(name, p.Content)
	})
	if err != nil {
		return err
	}
	w.index.NotChecked = append(w.index.NotChecked, notChecked...)
	if foreign > 0 {
		w.without("%s of %q that the publisher did not sign, or that do not verify, are left out: packgate audit names them", pack.Counted(foreign, "bundle"), id)
	}
	for _, v := range signed {
		if err := w.statement(ctx, v); err != nil {
			return err
		}
	}
	return nil
}

// statement writes what a signed statement names by its digest, and notes its events.
func (w *writer) statement(ctx context.Context, v *attest.Verified) error {
	events, err := eventsOf(v, func(digest string) []byte { return w.reports[digest] })
	if errors.Is(err, errNoEvent) {
		w.without("the statement %s is of the type %q, which packgate does not know", v.Digest, v.Statement.Type)
		return nil
	}
	if err != nil {
		return err
	}
	w.events = append(w.events, events...)
	s := summaryOf(v)
	if s == nil {
		return nil
	}
	if report := w.reports[s.Report]; report == nil {
		w.without(noReport, s.Pack, s.Report)
	} else if err := w.file(nameOf("reports", report), report); err != nil {
		return err
	}
	return w.config(ctx, s)
}

// config writes the config that was in force for a version.
func (w *writer) config(ctx context.Context, s *statement.Summary) error {
	if s.Config == "" || w.configs[s.Config] {
		return nil
	}
	src, err := w.Config(ctx, s)
	if err == nil && digestOf(src) != s.Config {
		err = fmt.Errorf("the one at commit %.12s is %s", s.Source.Commit, digestOf(src))
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		w.without("the bytes of the config %s, by which %q was published: %v", s.Config, s.Pack, err)
		return nil
	}
	w.configs[s.Config] = true
	return w.file(nameOf("configs", src), src)
}

// summaryOf returns the summary in a statement about a version or a bundle; nil for another.
func summaryOf(v *attest.Verified) *statement.Summary {
	if s, err := v.Statement.Summary(); err == nil {
		return s
	}
	if b, err := v.Statement.Build(); err == nil {
		return &b.Summary
	}
	return nil
}

func (w *writer) status(ctx context.Context) error {
	s, err := w.Checker.StatusFiles(ctx)
	if err != nil {
		return err
	}
	for _, f := range []struct {
		name    string
		content []byte
	}{{StatusFile, s.Document}, {StatusBundle, s.Bundle}, {TimestampFile, s.Timestamp}} {
		if f.content == nil {
			continue
		}
		if err := w.file(f.name, f.content); err != nil {
			return err
		}
	}
	return nil
}
