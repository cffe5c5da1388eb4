package publish

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/publish/statement"
)

// StepStatus is that of a change that is made, and that the publisher's status does not
// say yet.
const StepStatus Step = "written into the status"

// statusTries is how often a status is signed again because another publisher was faster.
const statusTries = 8

// changed notes that something was said of a pack, and of a manifest of it where one is
// given, and brings the status up to date where that is not done for several at once.
func (p *Publisher) changed(ctx context.Context, doing, name, digest string) error {
	if !p.Status || p.DryRun {
		return nil
	}
	id := packOf(name)
	if p.touched == nil {
		p.touched = map[string][]string{}
	}
	p.touched[id] = append(p.touched[id], digest)
	if p.Batch {
		return nil
	}
	switch _, err := p.Flush(ctx); {
	case err == nil:
		return nil
	case outage(err):
		return failed(doing, name, StepStatus, "", err)
	default:
		return &fault.Error{Kind: ErrStep, Message: fmt.Sprintf("%s %q is done, and could not be %s", doing, name, StepStatus), Hint: fault.Hint(err), Cause: err}
	}
}

// StatusResult is what became of a publisher's status.
type StatusResult struct {
	Sequence int      // 0 where there is none yet
	Digest   string   // of the document
	Bundle   string   // digest of what was signed, "" where nothing was
	Late     []string // Late are the packs of which the registry has more than the last status said, without those that this publisher changed itself
	Notes    []string // Notes say what was found and not used
}

// Flush brings the publisher's status up to date with what the registry has of the packs
// that this publisher changed, and of those that are named. Where another publisher writes
// one at the same time, both are read again and put together under the next sequence. It
// fails with ErrCut where the registry has less of a pack than the last status says, since
// the status would forget what is gone. Nothing is written where Status is off, in a dry
// run, and where nothing has changed.
func (p *Publisher) Flush(ctx context.Context, packIDs ...string) (*StatusResult, error) {
	out := &StatusResult{}
	if !p.Status || p.DryRun {
		return out, nil
	}
	repo, err := p.Registry.Status()
	if err != nil {
		return nil, err
	}
	for range statusTries {
		done, err := p.flush(ctx, repo, packIDs, out)
		if err != nil || done {
			return out, err
		}
	}
	return nil, &fault.Error{Kind: ErrMoved, Message: fmt.Sprintf("the status in %q was changed by somebody else %d times in the meantime", repo.Name(), statusTries),
		Hint: "publish from one job at a time, and run it again"}
}

// flush writes the status once; done is false where another publisher wrote one meanwhile.
func (p *Publisher) flush(ctx context.Context, repo *registry.Repository, packIDs []string, out *StatusResult) (done bool, err error) {
	c := p.Checker()
	there, err := c.statuses(ctx, repo)
	if err != nil {
		return false, err
	}
	out.Notes = nil
	for _, r := range there.odd {
		out.Notes = append(out.Notes, r.Message)
	}
	if err := there.sure(); err != nil {
		return false, err
	}
	next, err := p.nextLedger(ctx, there.newest, packIDs, out)
	if err != nil {
		return false, err
	}
	if len(there.newest) == 1 && reflect.DeepEqual(next.Packs, there.newest[0].ledger.Packs) {
		last := there.newest[0]
		out.Sequence, out.Digest = last.ledger.Sequence, last.digest()
		p.touched = nil
		return true, p.pointTo(ctx, repo, there, last.manifest)
	}
	if len(next.Packs) == 0 {
		return true, nil
	}
	return p.writeStatus(ctx, repo, next, out)
}

// nextLedger returns what the next status is to say.
func (p *Publisher) nextLedger(ctx context.Context, newest []*statusAt, packIDs []string, out *StatusResult) (*statement.Ledger, error) {
	c := p.Checker()
	next := &statement.Ledger{Registry: p.Registry.String(), Publisher: p.Verifier.Name(), Sequence: 1, Packs: map[string]statement.PackLedger{}}
	wanted := map[string]bool{}
	for _, id := range slices.AppendSeq(slices.Clone(packIDs), maps.Keys(p.touched)) {
		wanted[id] = true
	}
	if len(newest) == 0 {
		listed, err := p.Registry.Packs(ctx)
		if err != nil && !errors.Is(err, registry.ErrUnsupported) {
			return nil, err
		}
		for _, id := range listed {
			wanted[id] = true
		}
	}
	for _, s := range newest {
		next.Sequence = s.ledger.Sequence + 1
		for id, entry := range s.ledger.Packs {
			if before, known := next.Packs[id]; known && !reflect.DeepEqual(before, entry) {
				wanted[id] = true // two publishers met
				entry = united(before, entry)
			}
			next.Packs[id] = entry
		}
	}
	out.Late = nil
	for _, id := range slices.Sorted(maps.Keys(wanted)) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		entry, err := p.refreshed(ctx, c, next.Packs, id)
		if err != nil {
			return nil, err
		}
		if entry == nil {
			continue
		}
		if before, known := next.Packs[id]; known && p.touched[id] == nil && !reflect.DeepEqual(before, *entry) {
			out.Late = append(out.Late, id)
		}
		next.Packs[id] = *entry
	}
	return next, nil
}

// refreshed returns what is to be said of a pack: what the registry has, and never less than
// was said before. It is nil where there is nothing to say.
func (p *Publisher) refreshed(ctx context.Context, c *Checker, packs map[string]statement.PackLedger, id string) (*statement.PackLedger, error) {
	var before *statement.PackLedger
	if known, ok := packs[id]; ok {
		before = &known
	}
	digests := slices.DeleteFunc(slices.Clone(p.touched[id]), func(digest string) bool { return digest == "" })
	found, err := c.packLedger(ctx, id, before, digests)
	if err != nil {
		return nil, err
	}
	if before == nil {
		if reflect.DeepEqual(*found, statement.PackLedger{States: map[string]string{}, Pins: map[string]*statement.PinLedger{}}) {
			if standing, err := c.hasVersions(ctx, id); err != nil || !standing {
				return nil, err
			}
		}
		return found, nil
	}
	found.States = unitedStates(before.States, found.States)
	for environment, pin := range before.Pins {
		if _, known := found.Pins[environment]; !known {
			found.Pins[environment] = pin
		}
	}
	return found, nil
}

// hasVersions reports whether the registry has a version of a pack.
func (c *Checker) hasVersions(ctx context.Context, packID string) (bool, error) {
	repo, err := c.Registry.Repository(packID)
	if err != nil {
		return false, err
	}
	tags, err := repo.Tags(ctx)
	return len(versionsOf(slices.Values(tags), true)) > 0, err
}

// unitedStates returns the states of both, the worse one where they differ: a state is never
// taken back.
func unitedStates(a, b map[string]string) map[string]string {
	out := make(map[string]string, max(len(a), len(b)))
	maps.Copy(out, a)
	for digest, state := range b {
		if out[digest] != statement.StateRevoked {
			out[digest] = state
		}
	}
	return out
}

// united puts together what two statuses of one sequence say of a pack, until the registry is
// asked.
func united(a, b statement.PackLedger) statement.PackLedger {
	if b.Head.Sequence > a.Head.Sequence {
		a, b = b, a
	}
	pins := maps.Clone(b.Pins)
	maps.Copy(pins, a.Pins)
	return statement.PackLedger{Head: a.Head, States: unitedStates(a.States, b.States), Pins: pins}
}

// writeStatus signs a status and puts it there.
func (p *Publisher) writeStatus(ctx context.Context, repo *registry.Repository, next *statement.Ledger, out *StatusResult) (done bool, err error) {
	document, err := next.Document()
	if err != nil {
		return false, &fault.Error{Kind: ErrCandidate, Message: "no status can be made", Cause: err}
	}
	about := next.Status(document)
	about.Time = p.now()
	source, err := about.Statement()
	if err != nil {
		return false, &fault.Error{Kind: ErrCandidate, Message: "no statement about the status can be made", Cause: err}
	}
	bundle, err := p.signed(ctx, source)
	if err != nil {
		return false, err
	}
	own, err := p.Checker().statusOf(document, bundle)
	if err != nil {
		return false, &fault.Error{Kind: ErrSigned, Message: "the signature of the status would not be trusted", Cause: err}
	}
	manifest, err := repo.PushObject(ctx, &registry.Object{Type: registry.StatusType, Layers: []registry.Layer{{Type: registry.StatusType, Content: document}, {Type: registry.BundleType, Content: bundle}}})
	if err != nil {
		return false, err
	}
	if err := repo.Tag(ctx, manifest, sequenceTag(next.Publisher, next.Sequence, manifest)); err != nil {
		return false, err
	}
	there, err := p.Checker().statuses(ctx, repo)
	if err != nil {
		return false, err
	}
	switch {
	case len(there.newest) == 0 || there.newest[0].ledger.Sequence < next.Sequence:
		return false, &fault.Error{Kind: ErrLost, Message: "the status was written, and is missing when it is read back"}
	case len(there.newest) > 1 || there.newest[0].manifest != manifest:
		return false, nil // another publisher was there; its status and this one are put together
	}
	out.Sequence, out.Digest, out.Bundle = next.Sequence, own.digest(), own.Bundle
	p.touched = nil
	return true, p.pointTo(ctx, repo, there, manifest)
}

// pointTo moves the publisher's tag to its newest status.
func (p *Publisher) pointTo(ctx context.Context, repo *registry.Repository, there *statuses, manifest string) error {
	if there.pointed == manifest {
		return nil
	}
	err := repo.Tag(ctx, manifest, publisherTag(p.Verifier.Name()))
	if errors.Is(err, registry.ErrMoved) {
		return nil // by a publisher that has a newer one, which names what this one does
	}
	return err
}
