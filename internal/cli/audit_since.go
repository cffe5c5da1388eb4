package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/publish"
	"github.com/contextosai/packgate/publish/export"
	"github.com/contextosai/packgate/report/model"
)

// earlier is an export that was written before, and is kept where whoever can write to the registry
// cannot: what it has, the registry has to have still.
type earlier struct {
	*export.Checked
	packs []string // that it is about
}

// readEarlier verifies the earlier export, where one is named. It is wrong use to name one that does
// not verify, or that is of another registry: nothing follows from it.
func (a *auditing) readEarlier(ctx context.Context) error {
	if a.options.since == "" {
		return nil
	}
	trust := export.Trust{Publisher: a.checker.Verifier, Registry: a.checker.Registry.String()}
	checked, err := export.Check(ctx, a.options.since, trust)
	if err != nil {
		return badExport(err)
	}
	if len(checked.Problems) > 0 {
		return misuse("name an export as it was written", "the export in %q does not verify: %s", a.options.since, checked.Problems[0])
	}
	a.earlier = &earlier{checked, checked.Index.Packs}
	return nil
}

// lost finds what the earlier export has of each pack and the registry has no more: a signed
// statement or a record is never taken back, whatever is said later.
func (a *auditing) lost(ctx context.Context, ids []string) error {
	if a.earlier == nil {
		return nil
	}
	for _, id := range ids {
		if !slices.Contains(a.earlier.packs, id) {
			continue
		}
		there := map[string]bool{}
		_, err := a.checker.Evidence(ctx, id, func(p publish.Piece) error {
			there[string(pack.DigestOf(p.Content))] = true
			return nil
		})
		if err != nil {
			a.unchecked(id, historyCheck, "whether the registry has what the export of %s has: %v", a.earlier.Index.Exported, err)
			a.unseen = true
			continue
		}
		of := slices.DeleteFunc(slices.Clone(a.earlier.Signed), func(s export.Signed) bool { return s.Pack != id })
		gone := slices.DeleteFunc(slices.Clone(of), func(s export.Signed) bool { return there[s.Bundle] })
		if len(gone) == 0 {
			continue
		}
		a.out.Findings = append(a.out.Findings, model.AuditFinding{Severity: string(publish.SeverityError), Pack: id, Digest: gone[0].Bundle, Check: historyCheck,
			Message: fmt.Sprintf("the registry lacks %d of the %s that the export of %s has", len(gone), pack.Counted(len(of), "signed statement"), a.earlier.Index.Exported),
			Hint:    "check who can delete from the registry, and restore it from a copy; statements/ and records/ of the export have the Sigstore bundles"})
	}
	return ctx.Err()
}

// exported reports whether the earlier export is about a pack.
func (a *auditing) exported(id string) bool {
	return a.earlier != nil && slices.Contains(a.earlier.packs, id)
}
