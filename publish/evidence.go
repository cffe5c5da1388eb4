package publish

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/publish/registry"
)

// PieceKind is what a piece of evidence is.
type PieceKind string

// The kinds of evidence.
const (
	PieceStatement PieceKind = "statement" // the Sigstore bundle of a statement about a version, an environment's bundle or a pin
	PieceRecord    PieceKind = "record"    // the Sigstore bundle of a record of the pack's history
	PieceReport    PieceKind = "report"    // the report of a run, which statements name by its digest
)

// Piece is a part of what a registry has that proves something of a pack, as it is there.
type Piece struct {
	Kind    PieceKind
	Content []byte
}

// Evidence calls take with each signed statement of a pack, each record of its history and
// each report, in a fixed order, and returns what it did not look at. Nothing is verified. The
// errors are those of the registry, and that of take, which ends it.
func (c *Checker) Evidence(ctx context.Context, packID string, take func(Piece) error) (notChecked []string, err error) {
	s, err := c.survey(ctx, packID, request{})
	if err != nil {
		return nil, err
	}
	digests, err := c.evident(ctx, s)
	if err != nil {
		return nil, err
	}
	for _, digest := range digests {
		attached, err := s.repo.Attachments(ctx, digest)
		if err != nil {
			return nil, err
		}
		for _, at := range attached {
			kind := PieceStatement
			if at.Type == registry.ReportType {
				kind = PieceReport
			}
			if err := take(Piece{kind, at.Content}); err != nil {
				return nil, err
			}
		}
	}
	if s.unlisted != "" {
		notChecked = append(notChecked, fmt.Sprintf("what else the registry has of %q: its list of tags does not have %q, although the tag exists", packID, s.unlisted))
	}
	for _, version := range slices.Sorted(maps.Keys(s.dropped)) {
		notChecked = append(notChecked, fmt.Sprintf("%s of %q, which are more than the %d that packgate reads",
			pack.Counted(s.dropped[version], "content tag"), nameOf(packID, version), digestLimit))
	}
	return notChecked, records(ctx, s.repo, take)
}

// evident returns the digests of the manifests to which statements about a pack are attached:
// of its versions, and of what environments make of them.
func (c *Checker) evident(ctx context.Context, s *survey) ([]string, error) {
	digests := map[string]bool{}
	run := s.chain.bundles()
	for _, h := range s.holdings {
		digests[h.digest] = h.artifact != nil
		for _, p := range h.pins {
			if p.Runs != nil {
				run = append(run, p.Runs.Manifest)
			}
		}
	}
	all, err := c.builds(ctx, s.pack, "", "", run...)
	if err != nil {
		return nil, err
	}
	for digest, h := range all.holdings {
		digests[digest] = h.build != nil
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(digests)), func(digest string) bool { return !digests[digest] }), nil
}

// records gives all records of a pack's history, be they forks of it.
func records(ctx context.Context, repo *registry.Repository, take func(Piece) error) error {
	tags, err := repo.Tags(ctx)
	if err != nil {
		return err
	}
	digests := map[string]bool{}
	for _, tag := range tags {
		if _, ok := registry.ReadRecordTag(tag); !ok {
			continue
		}
		digest, err := resolve(ctx, repo, tag)
		if err != nil {
			return err
		}
		if digest != "" {
			digests[digest] = true
		}
	}
	for _, digest := range slices.Sorted(maps.Keys(digests)) {
		bundle, err := repo.Record(ctx, digest)
		if problemOf(digest, err) != nil {
			continue // which an audit says
		}
		if err != nil {
			return err
		}
		if err := take(Piece{PieceRecord, bundle}); err != nil {
			return err
		}
	}
	return nil
}

// StatusFiles are the publisher's newest status as it is in the registry, and the timestamp
// that says that it is the newest. What is not there is nil.
type StatusFiles struct {
	Document, Bundle []byte // of the status
	Timestamp        []byte // its bundle
}

// StatusFiles reads the publisher's newest status, which verifies, and the timestamp that is
// beside it, which is not verified. Where a timestamp names an earlier status, which is the case
// until it is signed anew, it is that status which is returned: what is proved to be complete
// ends with it. The error is of kind ErrStatus where there are two newest statuses.
func (c *Checker) StatusFiles(ctx context.Context) (out StatusFiles, err error) {
	repo, err := c.Registry.Status()
	if err != nil {
		return out, err
	}
	there, err := c.statuses(ctx, repo)
	if err != nil {
		return out, err
	}
	switch len(there.newest) {
	case 0:
		return out, nil
	case 1:
		out.Document, out.Bundle = there.newest[0].document, there.newest[0].bundle
	default:
		return out, statusError(nil, "%q has %d statuses of sequence %d: publishing writes one that merges them", repo.Name(), len(there.newest), there.newest[0].ledger.Sequence)
	}
	stamp, err := c.timestampObject(ctx, repo)
	switch {
	case notThere(err):
		return out, nil
	case err != nil:
		return out, err
	}
	out.Timestamp, out.Document, out.Bundle = stamp[0].Content, stamp[1].Content, stamp[2].Content
	return out, nil
}

// timestampObject returns the layers of the timestamp that the publisher's tag names: its
// bundle, the status, and the bundle of that. That there is none is an error of kind
// registry.ErrNotFound.
func (c *Checker) timestampObject(ctx context.Context, repo *registry.Repository) ([]registry.Layer, error) {
	manifest, err := repo.Resolve(ctx, timestampTag(c.Verifier.Name()))
	if err != nil {
		return nil, err
	}
	o, err := repo.PullObject(ctx, manifest, registry.TimestampType)
	if notThere(err) {
		return nil, statusError(err, "the tag of the timestamp names something that is missing")
	}
	if err != nil {
		return nil, err
	}
	kinds := []string{}
	for _, l := range o.Layers {
		kinds = append(kinds, l.Type)
	}
	if !slices.Equal(kinds, []string{registry.BundleType, registry.StatusType, registry.BundleType}) {
		return nil, statusError(nil, "%s has other layers than a timestamp", manifest)
	}
	return o.Layers, nil
}
