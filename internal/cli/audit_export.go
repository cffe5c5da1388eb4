package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/publish/attest"
	"github.com/contextosai/packgate/publish/export"
	"github.com/contextosai/packgate/publish/statement"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/report/render"
)

// export writes what the registry proves of the packs into a folder. What was found wrong does
// not keep it from that: it is what an auditor asks about.
func (a *auditing) export(ctx context.Context, ids []string) error {
	index, events, err := export.Write(ctx, a.options.export, export.Source{Checker: a.checker, Packs: ids, Config: a.configOf, Now: a.now})
	if err != nil {
		return badExport(err)
	}
	a.out.Export = &model.AuditExport{Directory: a.options.export, Events: events, Files: len(index.Files)}
	for _, without := range index.NotChecked {
		a.unchecked("", "export", "%s", without)
	}
	return nil
}

func (a *auditing) now() time.Time {
	if now := a.house.env.Now; now != nil {
		return now()
	}
	return time.Now()
}

// badExport turns what is wrong with the folder that was named into wrong use.
func badExport(err error) error {
	if errors.Is(err, export.ErrTaken) || errors.Is(err, export.ErrNotExport) {
		return badUse(err)
	}
	return err
}

// configOf reads the config that was in force for a version, from the commit that it was
// published from.
func (a *auditing) configOf(ctx context.Context, s *statement.Summary) ([]byte, error) {
	switch {
	case a.w == nil:
		return nil, errors.New("the current folder is not a pack repository")
	case s.Source.Commit == "":
		return nil, errors.New("its statement names no commit")
	}
	c, err := openSource(ctx, a.house.env, a.w, s.Source.Commit)
	if err != nil {
		return nil, err
	}
	defer c.Close() // only read from
	name := a.w.ConfigName()
	src, ok, err := c.Read(name, a.w.Config.Limits.MaxBytes)
	if err == nil && !ok {
		err = fmt.Errorf("commit %.12s has no %s", s.Source.Commit, name)
	}
	return src, err
}

// verifyExport verifies a folder that was exported, and asks nobody.
func verifyExport(ctx context.Context, env *Env, dir string, o auditOptions) error {
	house, err := openHouse(env, o.registryOptions)
	if err != nil {
		return err
	}
	trust := export.Trust{}
	if trust.Publisher, err = house.verifier(ctx); err != nil {
		return err
	}
	if trust.Freshness, err = house.stamper(ctx, o.freshness, trust.Publisher); err != nil {
		return err
	}
	if o.registry != "" {
		reg, err := house.open("")
		if err != nil {
			return err
		}
		trust.Registry = reg.String()
	}
	checked, err := export.Check(ctx, dir, trust)
	if err != nil {
		return badExport(err)
	}
	out := shownExport(dir, checked)
	if o.strict {
		out.Verified = out.Verified && len(out.NotChecked) == 0
	}
	if err := render.WriteExportCheck(env.Stdout, o.format, out, env.style(o.color)); err != nil || out.Verified {
		return err
	}
	return &verdictError{code: gating.ExitFindings}
}

// stamper returns what trusts timestamps; nil where nobody is named who signs them.
func (h *registryHouse) stamper(ctx context.Context, o freshnessOptions, publisher *attest.Verifier) (*attest.Verifier, error) {
	_, named, err := o.over(h.config.Publish.Freshness)
	if err != nil || !named {
		return nil, err
	}
	return h.freshnessVerifier(ctx, o, publisher)
}

func shownExport(dir string, c *export.Checked) *model.ExportCheck {
	out := &model.ExportCheck{
		Directory: dir, Verified: len(c.Problems) == 0, Registry: c.Index.Registry, Publisher: c.Index.Publisher, Exported: c.Index.Exported,
		Events: len(c.Events), Statements: c.Statements, Packs: []model.ExportedPack{},
		Problems: append([]string{}, c.Problems...), NotChecked: append([]string{}, c.NotChecked...),
	}
	if !c.Issued.IsZero() {
		out.Issued = shownTime(c.Issued)
	}
	for _, h := range c.Histories {
		out.Packs = append(out.Packs, model.ExportedPack{Pack: h.Pack, Records: h.Records, CompleteTo: h.Complete, Stamped: h.Stamped && h.Complete > 0})
	}
	return out
}

// checkExport refuses flags that do not go together.
func (o *auditOptions) checkExport(ids []string) error {
	switch {
	case o.export != "" && o.verify != "":
		return misuse("give one of the two", "--export and --verify are given")
	case o.verify != "" && o.since != "":
		return misuse("give one of the two", "--verify and --since are given")
	case o.verify != "" && o.metrics != "":
		return misuse("leave out --metrics: an export is verified without a registry", "--verify and --metrics are given")
	case o.verify != "" && len(ids) > 0:
		return misuse("leave them out: an export is verified whole", "--verify and %q are given", ids[0])
	case o.verify != "" && o.format == "markdown":
		return misuse("give --format terminal or json", "--verify has no Markdown form")
	case o.verify == "" && cmp.Or(o.freshness.workflow, o.freshness.key) != "":
		return misuse("leave it out, or add --verify", "--freshness-workflow and --freshness-key are for --verify")
	}
	return nil
}
