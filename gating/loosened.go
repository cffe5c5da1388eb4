package gating

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/repository"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/repo/workflows"
)

// loosened returns what the change loosens of the gate that it passes through: members of the config,
// and how the workflows run packgate. If the change touches nothing that is judged, both are only
// noted. The change is nil if it is not known yet.
func (r *Run) loosened(ctx context.Context, in Inputs, c *Change, looser []repo.ConfigChange) (found []about, err error) {
	if in.Base == nil {
		return nil, nil
	}
	runs, err := in.Base.runs(ctx, c)
	if err != nil || len(looser)+len(runs) == 0 {
		return nil, err
	}
	// If nothing was gated before, nothing can become looser.
	gated, err := in.Base.list(ctx, in.IsPack)
	if err != nil || len(gated) == 0 && in.Config.Document == nil {
		return nil, err
	}
	if c == nil {
		if c, err = in.Base.Change(ctx); err != nil {
			return nil, err
		}
	}
	name, judged := c.judged()
	if judged {
		for _, l := range looser {
			at := finding.Location{File: c.w.Files.Show(c.config)}
			if l.Now {
				at = l.Node.Location()
			}
			found = append(found, about{"", repository.Loosened(at, l, c.w.Files.Show(name))})
		}
	}
	if len(looser) > 0 && !judged {
		r.loosen("%s becomes looser in %s", c.w.Files.Show(c.config), paths(looser))
	}
	if name = c.w.Files.Show(name); !judged {
		name, judged = c.elsewhere()
	}
	r.rerouted = len(runs) > 0
	for _, d := range runs {
		if judged {
			found = append(found, about{"", repository.Rerouted(d.At, d.What, name)})
			continue
		}
		r.loosen("%s: %s", d.At.File, d.What)
		r.Notice("%s: %s; who approves a change of the config approves this one too", d.At.File, d.What)
	}
	return found, nil
}

// loosen adds to the report what later changes are no longer held to.
func (r *Run) loosen(format string, args ...any) {
	r.Report.Loosened = append(r.Report.Loosened, fmt.Sprintf(format, args...))
}

// elsewhere returns the first file of the change that has the name of a pack or of a file beside one,
// in any folder of the git repository: another run may judge it, and this one reports what else the
// change does.
func (c *Change) elsewhere() (name string, ok bool) {
	i := slices.IndexFunc(c.paths, func(name string) bool {
		_, _, beside := repo.SideKind(name)
		return beside || repo.Matches(repo.PackPatterns(repo.DefaultConfig()), path.Base(name))
	})
	if i < 0 {
		return "", false
	}
	return c.paths[i], true
}

// runs returns how the change alters the workflows that run packgate.
func (b *Baseline) runs(ctx context.Context, c *Change) ([]workflows.Difference, error) {
	paths := []string{}
	if c != nil {
		paths = c.paths
	} else {
		changes, err := b.Git.Changed(ctx, b.Tree)
		if err != nil {
			return nil, err
		}
		for _, one := range changes {
			paths = append(paths, one.Path)
		}
	}
	b.reading.Lock()
	defer b.reading.Unlock()
	before, err := b.Workflows()
	if err != nil || !before.CallsAny() && !slices.ContainsFunc(paths, mayRun) {
		return nil, err
	}
	head, err := b.head()
	if err != nil {
		return nil, err
	}
	after, err := head.Workflows()
	if err != nil {
		return nil, err
	}
	return workflows.Compare(before, after), nil
}

// calls reports whether the workflows of the baseline run packgate through a file of the git repository.
// True may also mean that it is not certain.
func (b *Baseline) calls(name string) bool {
	b.reading.Lock()
	defer b.reading.Unlock()
	if b.running == nil {
		running, err := b.Workflows()
		if err != nil {
			return true
		}
		b.running = running
	}
	return b.running.Calls(name)
}

// mayRun reports whether a file may affect how workflows run packgate, beside the files that their
// steps call.
func mayRun(name string) bool {
	return strings.HasPrefix(name, ".github/") || strings.HasSuffix(name, "action.yml") || strings.HasSuffix(name, "action.yaml")
}

// head returns the commit that is checked out.
func (c *Commit) head() (*Commit, error) {
	sha, err := c.Git.Resolve("HEAD")
	if err != nil {
		return nil, err
	}
	head := *c
	head.Ref = ""
	head.Tree, err = c.Git.Tree(sha)
	return &head, err
}

// Workflows returns how the workflows of the commit run packgate.
func (c *Commit) Workflows() (*workflows.Gates, error) {
	prefix := "."
	if c.prefix == "." {
		prefix = Display(c.dir)
	}
	files, err := c.files(".", prefix)
	if err != nil {
		return nil, err
	}
	return workflows.Read(files)
}
