package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/internal/scaffold"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// compare returns the files that have to be written, and says what becomes of each.
// Where one is in the way, the error names all that are.
func (i *initialising) compare(files []scaffold.File) (edits []gating.Edit, err error) {
	var inTheWay repo.Problems
	var differs *repo.Problem // the last of those that --force would overwrite
	same := 0
	for n := range files {
		f := &files[n]
		there, problem, err := i.content(f)
		switch {
		case err != nil:
			return nil, err
		case problem != nil:
			if len(inTheWay) == 0 || inTheWay[len(inTheWay)-1].Location != problem.Location {
				inTheWay = append(inTheWay, problem)
			}
		case there == nil:
			edits = append(edits, i.edit(f, "wrote", "would write"))
		case f.Shared && len(f.Missing(there)) > 0:
			i.left(f, f.Missing(there))
		case f.Shared || bytes.Equal(there, f.Content):
			same++
		case i.options.force:
			edits = append(edits, i.edit(f, "overwrote", "would overwrite"))
		default:
			differs = i.problem(f.Name, "this file is there, and differs from what would be written", "")
			inTheWay = append(inTheWay, differs)
		}
	}
	if differs != nil {
		differs.Hint = "nothing was written; use --force to overwrite the files that differ, and --force --dry-run to see which"
	}
	if len(inTheWay) > 0 {
		return nil, inTheWay
	}
	if same > 0 {
		i.say("there already: %s", pack.Counted(same, "file"))
	}
	return edits, nil
}

func (i *initialising) edit(f *scaffold.File, did, would string) gating.Edit {
	if i.options.dryRun {
		did = would
	}
	i.say("%s %s", did, i.show(f.Name))
	return gating.Edit{Name: f.Name, Source: f.Content}
}

// left says which lines a file lacks that others write into too.
func (i *initialising) left(f *scaffold.File, missing []string) {
	i.say("left %s as it is; it lacks:", i.show(f.Name))
	for _, line := range missing {
		i.say("    %s", line)
	}
}

// content returns what is there in the place of a file, nil where nothing is. A
// problem is something that cannot be overwritten.
func (i *initialising) content(f *scaffold.File) ([]byte, *repo.Problem, error) {
	root, err := os.OpenRoot(i.root)
	if repo.NotThere(err) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	defer root.Close() // only read from
	for _, name := range append([]string{f.Name}, f.Elsewhere...) {
		info, err := root.Stat(filepath.FromSlash(name))
		if errors.Is(err, fs.ErrNotExist) && !i.dangling(root, name) {
			continue
		}
		switch {
		case errors.Is(err, syscall.ENOTDIR):
			return nil, i.problem(fileAbove(root, name), "this is a file, and a folder of this name is wanted", "move it away"), nil
		case err != nil:
			return nil, i.problem(name, "a symbolic link leads out of the repository, or nowhere", "replace the link by what it leads to"), nil
		case !info.Mode().IsRegular():
			return nil, i.problem(name, "there is something else of this name, which is no file", "move it away"), nil
		}
		f.Name = name
		src, err := root.ReadFile(filepath.FromSlash(name))
		return append([]byte{}, src...), nil, err
	}
	return nil, nil, nil
}

// dangling reports whether a name, or a folder above it, is a link that leads nowhere.
func (i *initialising) dangling(root *os.Root, name string) bool {
	for at := name; at != "."; at = path.Dir(at) {
		if _, err := root.Lstat(filepath.FromSlash(at)); err == nil {
			_, err := root.Stat(filepath.FromSlash(at))
			return err != nil
		}
	}
	return false
}

// fileAbove returns the file that stands where a file of a name needs a folder.
func fileAbove(root *os.Root, name string) string {
	for at := path.Dir(name); at != "."; at = path.Dir(at) {
		if info, err := root.Stat(filepath.FromSlash(at)); err == nil && !info.IsDir() {
			return at
		}
	}
	return name
}

// next says what comes next.
func (i *initialising) next(written int) {
	if i.options.dryRun {
		i.say("nothing was written")
		return
	}
	if written == 0 {
		i.say("nothing to write")
		return
	}
	show := filepath.ToSlash(gating.Display(i.dir))
	at := ""
	if show != "." {
		at = " " + shellWord(noFlag(show))
	}
	cases := "packgate golden init PACK: golden cases for a pack that has none"
	if i.made.PackID != "" {
		cases = fmt.Sprintf("make %s yours, with the golden cases beside it", i.showPack(scaffold.PackFile(i.made.PackID)))
	}
	status := `"gate"`
	if !i.made.Workflows {
		status = "that packgate doctor names"
	}
	push := fmt.Sprintf("commit and push, and require the status %s for the branch %s", status, i.made.Branch)
	if !i.git {
		push = "git init -b " + i.made.Branch + at + ", " + push
	}
	steps := []string{"packgate check" + at + ": the gate, as the workflow runs it", cases, push}
	i.say("next:")
	for n, step := range steps {
		i.say("  %d. %s", n+1, step)
	}
}

// noFlag returns a path that no program takes for a flag.
func noFlag(name string) string {
	if strings.HasPrefix(name, "-") {
		return "./" + name
	}
	return name
}
