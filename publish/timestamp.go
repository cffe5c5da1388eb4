package publish

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/publish/attest"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/publish/statement"
)

// Freshener says at intervals that a publisher's status is still the newest.
type Freshener struct {
	Checker  *Checker                                     // trusts the publisher
	Verifier *attest.Verifier                             // trusts what Signer signs, in the role of freshness
	Signer   func(context.Context) (attest.Signer, error) // as that of a Publisher
	Expiry   time.Duration                                // how long a timestamp may be relied on at most
	Memory   *Memory                                      // of the newest status that was timestamped here; nil for none
	DryRun   bool                                         // does all that reads, and signs and writes nothing
	Now      func() time.Time                             // nil for time.Now
}

// TimestampResult is what became of a timestamp.
type TimestampResult struct {
	Registry string
	Sequence int    // of the status
	Digest   string // of the status
	Packs    int    // that the status is about
	Issued   time.Time
	Expires  time.Time
	Bundle   string // digest of what was signed, "" in a dry run
	Signer   *attest.SignerInfo
	DryRun   bool
	Notes    []string // Notes say what was found and not used, and of what the status says less than the registry
}

// Timestamp signs that the newest status of the publisher is the newest, and puts that into
// the registry beside the status itself. It signs for none that does not verify, for none
// that is older than the last timestamp or the memory says, and for none that names a record
// which is not there: ErrCut says which, ErrNotPublished that there is no status, and ErrStatus
// that there are two, or that a tag claims one that is not there.
func (f *Freshener) Timestamp(ctx context.Context) (*TimestampResult, error) {
	repo, err := f.Checker.Registry.Status()
	if err != nil {
		return nil, err
	}
	there, err := f.Checker.statuses(ctx, repo)
	if err != nil {
		return nil, err
	}
	s, err := f.only(there, repo)
	if err != nil {
		return nil, err
	}
	now := clock(f.Now)
	out := &TimestampResult{
		Registry: s.ledger.Registry, Sequence: s.ledger.Sequence, Digest: s.digest(), Packs: len(s.ledger.Packs),
		Issued: now, Expires: now.Add(f.Expiry).Truncate(time.Second), DryRun: f.DryRun,
	}
	for _, r := range there.odd {
		out.Notes = append(out.Notes, r.Message)
	}
	if err := f.notOlder(ctx, repo, s, out); err != nil {
		return nil, err
	}
	if err := there.sure(); err != nil {
		return nil, err
	}
	if err := f.headsThere(ctx, s, out); err != nil || f.DryRun {
		return out, err
	}
	return out, f.write(ctx, repo, s, out)
}

// only returns the newest status, where there is exactly one.
func (f *Freshener) only(there *statuses, repo *registry.Repository) (*statusAt, error) {
	switch {
	case len(there.newest) == 1:
		return there.newest[0], nil
	case len(there.newest) > 1:
		return nil, statusError(nil, "%q has %d statuses of sequence %d: publishing writes one that merges them", repo.Name(), len(there.newest), there.newest[0].ledger.Sequence)
	case len(there.odd) > 0:
		return nil, &fault.Error{Kind: ErrStatus, Message: there.odd[0].Message, Hint: there.odd[0].Hint}
	}
	return nil, &fault.Error{Kind: ErrNotPublished, Message: fmt.Sprintf("%q has no status of %q", repo.Name(), f.Checker.Verifier.Name()),
		Hint: "publish once with publish.freshness in the config, which writes it"}
}

// notOlder refuses a status that is older than the one of the last timestamp: what was said
// since would be unsaid.
func (f *Freshener) notOlder(ctx context.Context, repo *registry.Repository, s *statusAt, out *TimestampResult) error {
	if err := f.notForgotten(s); err != nil {
		return err
	}
	last, err := f.Checker.timestampUnder(ctx, repo, f.Verifier)
	switch {
	case err != nil && (outage(err) || errors.Is(err, registry.ErrUnauthorized) || errors.Is(err, registry.ErrForbidden)):
		return err
	case notThere(err):
		return nil
	case err != nil:
		out.Notes = append(out.Notes, fmt.Sprintf("the last timestamp is not used: %v", err))
		return nil
	case last.Sequence > s.ledger.Sequence:
		return &fault.Error{Kind: ErrCut, Message: fmt.Sprintf("the last timestamp names status %d, and the newest status in the registry is %d", last.Sequence, s.ledger.Sequence)}
	case last.Sequence == s.ledger.Sequence && last.Digest != s.digest():
		return statusError(nil, "the last timestamp names %s as status %d, and the registry has %s", last.Digest, last.Sequence, s.digest())
	}
	return nil
}

// notForgotten refuses a status that is older than the one that was timestamped here before:
// whoever can delete from the registry may have taken the last timestamp away as well.
func (f *Freshener) notForgotten(s *statusAt) error {
	before, err := f.Memory.recall(s.ledger.Registry, s.ledger.Publisher)
	switch {
	case err != nil || before == nil:
		return err
	case before.Sequence > s.ledger.Sequence:
		return &fault.Error{Kind: ErrCut, Message: fmt.Sprintf("status %d was timestamped here before, and the newest status in the registry is %d", before.Sequence, s.ledger.Sequence)}
	case before.Sequence == s.ledger.Sequence && before.Status != s.digest():
		return statusError(nil, "%s was timestamped here before as status %d, and the registry has %s", before.Status, before.Sequence, s.digest())
	}
	return nil
}

// headsThere looks whether the record is there that the status names of each pack, and tells
// of which packs there is more.
func (f *Freshener) headsThere(ctx context.Context, s *statusAt, out *TimestampResult) error {
	for _, id := range slices.Sorted(maps.Keys(s.ledger.Packs)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		named := s.ledger.Packs[id].Head
		head, err := f.Checker.beyond(ctx, id, named)
		if err != nil {
			return err
		}
		if head != named {
			out.Notes = append(out.Notes, fmt.Sprintf("the registry has more of %q than the status says: the next run that publishes adds it", id))
		}
	}
	return nil
}

// cut is the error of a registry that has less than was said.
func cut(packID string, named, found statement.Head) error {
	return &fault.Error{Kind: ErrCut, Message: fmt.Sprintf("the status names record %d of %q (%s), and the newest one in the registry is record %d", named.Sequence, packID, named.Digest, found.Sequence)}
}

// write signs a timestamp, and puts it there.
func (f *Freshener) write(ctx context.Context, repo *registry.Repository, s *statusAt, out *TimestampResult) error {
	source, err := statement.Timestamp{
		Subject: statement.Subject{Name: out.Registry, Digest: out.Digest}, Sequence: out.Sequence, Issued: out.Issued, Expires: out.Expires,
	}.Statement()
	if err != nil {
		return &fault.Error{Kind: ErrCandidate, Message: "no statement about the timestamp can be made", Cause: err}
	}
	signer, err := f.Signer(ctx)
	if err != nil {
		return err
	}
	bundle, err := signer.Sign(ctx, source)
	if err != nil {
		return err
	}
	t, err := f.Checker.timestampOf(f.Verifier, bundle)
	if err != nil {
		return &fault.Error{Kind: ErrSigned, Message: "the timestamp would not be trusted", Hint: "make publish.freshness in the config name the workflow that signs it", Cause: err}
	}
	manifest, err := repo.PushObject(ctx, &registry.Object{Type: registry.TimestampType, Layers: []registry.Layer{
		{Type: registry.BundleType, Content: bundle}, {Type: registry.StatusType, Content: s.document}, {Type: registry.BundleType, Content: s.bundle},
	}})
	if err != nil {
		return err
	}
	out.Bundle, out.Signer = t.Bundle, &t.Signer
	if err := repo.Tag(ctx, manifest, timestampTag(f.Checker.Verifier.Name())); err != nil || f.Memory == nil {
		return err
	}
	_, err = f.Memory.keep(seenOf(s.ledger.Publisher, t))
	return err
}

// timestampAt is a timestamp that verified, with the status that is kept beside it.
type timestampAt struct {
	*statement.Timestamp
	Signing
	document, bundle []byte // of the status, which is not verified yet
}

// timestampOf verifies a timestamp: the identity of freshness signed it, for this registry.
func (c *Checker) timestampOf(verifier *attest.Verifier, bundle []byte) (*timestampAt, error) {
	t, signed, err := VerifyTimestamp(verifier, c.Registry.String(), bundle)
	if err != nil {
		return nil, err
	}
	return &timestampAt{Timestamp: t, Signing: signed}, nil
}

// VerifyTimestamp verifies a timestamp: that the identity of freshness signed it, for the
// registry of that name. The error is of kind ErrStatus, or one of attest's.
func VerifyTimestamp(freshness *attest.Verifier, registryName string, bundle []byte) (_ *statement.Timestamp, signed Signing, err error) {
	v, err := freshness.Verify(bundle)
	if err != nil {
		return nil, signed, err
	}
	t, err := v.Statement.Timestamp()
	if err != nil {
		return nil, signed, statusError(err, "the signed statement is not a timestamp")
	}
	if t.Name != registryName {
		return nil, signed, statusError(nil, "the timestamp is of the registry %q, wanted %q", t.Name, registryName)
	}
	return t, signing(v, t.Issued), nil
}

// timestampUnder reads and verifies the timestamp that the publisher's tag names. That there
// is none is an error of kind registry.ErrNotFound.
func (c *Checker) timestampUnder(ctx context.Context, repo *registry.Repository, verifier *attest.Verifier) (*timestampAt, error) {
	layers, err := c.timestampObject(ctx, repo)
	if err != nil {
		return nil, err
	}
	t, err := c.timestampOf(verifier, layers[0].Content)
	if err != nil {
		return nil, err
	}
	t.document, t.bundle = layers[1].Content, layers[2].Content
	return t, nil
}

// clock returns the time by a clock, nil for that of the machine: UTC in whole seconds.
func clock(now func() time.Time) time.Time {
	if now == nil {
		now = time.Now
	}
	return now().UTC().Truncate(time.Second)
}
