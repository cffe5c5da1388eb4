package gating

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// attributesName is the file that says how git converts the files in its folder and below when it checks them out.
const attributesName = ".gitattributes"

// mostCommitted bounds the files that are compared with those of the commit, in bytes.
const mostCommitted = 16 << 20

// Committed returns an error of kind [github.ErrIncomplete] if a file that gating reads has other bytes in the working
// tree than in the commit that is checked out: the next change would be compared with bytes that nobody has judged. It
// looks at the files of the change and, if the change has attributes of git, at all files that these may convert.
func (c *Change) Committed(ctx context.Context) error {
	reads := c.reads()
	names, err := c.convertible(ctx, reads)
	if err != nil {
		return err
	}
	for name := range c.names {
		if reads(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if err := c.asCommitted(name); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// convertible returns the files that gating reads and that attributes of the change may convert.
func (c *Change) convertible(ctx context.Context, reads func(name string) bool) (names []string, err error) {
	var folders []string
	for _, name := range c.paths {
		if path.Base(name) == attributesName {
			folders = append(folders, path.Dir(name))
		}
	}
	if len(folders) == 0 && !c.all {
		return nil, nil
	}
	entries, err := c.head.list(ctx, reads)
	for _, e := range entries {
		real := c.head.Path(c.w.behindLinks(e.Path))
		if c.all || slices.ContainsFunc(folders, func(dir string) bool { return dir == "." || strings.HasPrefix(real, dir+"/") }) {
			names = append(names, e.Path)
		}
	}
	return names, err
}

// reads returns a function that tells the files that gating reads: packs, what is beside them, and what all packs are
// gated with.
func (c *Change) reads() func(name string) bool {
	packs := map[string][]string{} // by folder
	for _, p := range c.w.Packs {
		packs[path.Dir(p)] = append(packs[path.Dir(p)], p)
	}
	return func(name string) bool {
		if name == c.config || name == repo.AcceptedName || c.w.IsPack(name) || c.w.IsCatalog(name) || c.w.isTrustedRoot(name) {
			return true
		}
		dir := path.Dir(name)
		return slices.ContainsFunc(slices.Concat(packs[dir], packs[path.Dir(dir)]), func(p string) bool { return repo.Belongs(p, name) })
	}
}

// asCommitted compares a file of the working tree with that of the commit. Line endings may differ, and a Git LFS pointer
// may stand for content. What only one side has, or what cannot be read, is for others to report.
func (c *Change) asCommitted(name string) error {
	here, err := c.w.Files.Content(name, mostCommitted)
	if err != nil || here == nil {
		return err
	}
	there, ok, err := c.head.Read(name, mostCommitted)
	switch {
	case errors.Is(err, fs.ErrInvalid):
		return nil
	case err != nil && !errors.Is(err, github.ErrTooLarge):
		return err
	case err == nil && (!ok || pack.IsPointer(there) || bytes.Equal(lines(here), lines(there))):
		return nil
	}
	return &fault.Error{
		Kind:    github.ErrIncomplete,
		Message: fmt.Sprintf("%q has other bytes in the working tree than in the commit that is checked out", c.w.Files.Show(name)),
		Hint:    "let no .gitattributes convert it (working-tree-encoding, ident, filter), and no earlier step change it",
	}
}

// lines returns a text with one kind of line ending.
func lines(text []byte) []byte { return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")) }
