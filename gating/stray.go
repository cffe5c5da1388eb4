package gating

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/contextosai/packgate/gates/repository"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// strayArguments returns findings about arguments in the config whose tools no pack has. If a pack has
// the tool, gating that pack checks its arguments. A pack that cannot be read may have any tool. If
// there is a base, the config of the change is looked at, because the change can correct no other, and
// what the base already has is left out.
func (in Inputs) strayArguments(ctx context.Context, c *Change) (found []about, err error) {
	if !in.whole || !c.mayStray() {
		return nil, nil
	}
	config := in.Config
	if in.Base != nil {
		if config, err = configOf(in.Dir, in.Base.ConfigName, false); err != nil {
			if errors.Is(err, repo.ErrUse) {
				err = nil // which the run reports
			}
			return nil, err
		}
	}
	if len(config.Meanings()) == 0 {
		return nil, nil
	}
	now, err := in.tools()
	if err != nil {
		return nil, err
	}
	stray := now.stray(config)
	if len(stray) == 0 {
		return nil, nil
	}
	before, err := in.Base.stray(ctx)
	if err != nil {
		return nil, err
	}
	for _, m := range stray {
		if !slices.Contains(before, m.Name) {
			found = append(found, about{"", repository.Stray(m.Node.NameLocation(), m.Name)})
		}
	}
	return found, nil
}

// mayStray reports whether the change has the config or a pack. It is true for no change, because then
// everything is looked at.
func (c *Change) mayStray() bool {
	if c == nil || c.all || c.Config {
		return true
	}
	for name := range c.names {
		if c.w.IsPack(name) {
			return true
		}
	}
	return false
}

// toolNames are the tools of packs as adapter.capability. Unread is set if one of the packs could not be
// read.
type toolNames struct {
	names  []string
	unread bool
}

func (t *toolNames) add(p *pack.Pack) {
	if p == nil {
		t.unread = true
		return
	}
	for _, a := range p.ToolingLayer.AdapterRegistry.Items {
		for _, capability := range a.Capabilities.Items {
			t.names = append(t.names, a.AdapterID.Value+"."+capability.Value)
		}
	}
}

// stray returns the arguments in a config that belong to none of the tools.
func (t *toolNames) stray(c *repo.Config) []repo.Argument {
	if t.unread {
		return nil
	}
	return slices.DeleteFunc(c.Meanings(), func(m repo.Argument) bool {
		return slices.ContainsFunc(t.names, func(tool string) bool { return strings.HasPrefix(m.Name, tool+".") })
	})
}

// tools returns the tools of all packs of the workspace.
func (in Inputs) tools() (*toolNames, error) {
	all := &toolNames{}
	for _, name := range in.Packs {
		doc, _, err := in.Files.Document(name, in.Config.Limits)
		switch {
		case err == nil && doc.Root != nil:
			all.add(pack.New(doc))
		case err == nil || errors.Is(err, repo.ErrUse):
			all.add(nil)
		default:
			return nil, err
		}
	}
	return all, nil
}

// stray returns the names of arguments in the config of the baseline whose tools none of its packs has.
// There are none for the nil baseline, and for one with a pack that cannot be read.
func (b *Baseline) stray(ctx context.Context) (names []string, err error) {
	if b == nil || b.w.inForce == nil || b.w.inForce.Unusable != nil {
		return nil, nil
	}
	b.reading.Lock()
	defer b.reading.Unlock()
	entries, err := b.list(ctx, b.w.IsPack)
	if err != nil {
		return nil, err
	}
	all := &toolNames{}
	for _, e := range entries {
		if e.Kind != github.KindFile {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f, err := b.file(b.Commit, e.Path)
		if err != nil {
			return nil, err
		}
		if f != nil {
			p, _ := b.readable(f)
			all.add(p)
		}
	}
	for _, m := range all.stray(b.w.Config) {
		names = append(names, m.Name)
	}
	return names, nil
}
