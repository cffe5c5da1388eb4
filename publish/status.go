package publish

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/publish/attest"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/publish/statement"
)

// What a publisher has said of all its packs is its status: a document of every chain's
// head, every version's state and every environment's pin, under a sequence that each
// change raises. It is kept in a repository of its own under two tags, like a version: one
// that cannot collide, status-PUBLISHER-SEQUENCE-DIGEST, and one that names the newest,
// status-PUBLISHER.

// statusDigits is how much of a publisher's and of a manifest's digest a tag shows.
const statusDigits = 12

// publisherTag returns what the tags of a publisher's status begin with.
func publisherTag(publisher string) string {
	return "status-" + shortOf(string(pack.DigestOf([]byte(publisher))))
}

// timestampTag returns the tag of the newest timestamp of a publisher's status.
func timestampTag(publisher string) string {
	return "timestamp-" + shortOf(string(pack.DigestOf([]byte(publisher))))
}

func shortOf(digest string) string { return strings.TrimPrefix(digest, "sha256:")[:statusDigits] }

// sequenceTag returns the tag of one status alone.
func sequenceTag(publisher string, sequence int, manifest string) string {
	return fmt.Sprintf("%s-%d-%s", publisherTag(publisher), sequence, shortOf(manifest))
}

var sequenceForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(status-[0-9a-f]{12})-([1-9][0-9]{0,14})-[0-9a-f]{12}$`)
})

// sequenceIn returns the sequence that a tag of a publisher's status names, 0 for another tag.
func sequenceIn(tag, publisher string) int {
	m := sequenceForm().FindStringSubmatch(tag)
	if m == nil || m[1] != publisherTag(publisher) {
		return 0
	}
	n, err := strconv.Atoi(m[2])
	if err != nil {
		return 0
	}
	return n
}

// statusAt is a status that verified.
type statusAt struct {
	ledger   *statement.Ledger
	document []byte
	bundle   []byte
	manifest string // of the object that it was read from, "" for none
	Signing
}

// digest returns that of the document.
func (s *statusAt) digest() string { return string(pack.DigestOf(s.document)) }

// statusOf verifies a status: the publishing identity signed it, for this registry and about
// this document. The error is of kind ErrStatus, or one of attest's.
func (c *Checker) statusOf(document, bundle []byte) (*statusAt, error) {
	ledger, signed, err := VerifyStatus(c.Verifier, c.Registry.String(), document, bundle)
	if err != nil {
		return nil, err
	}
	return &statusAt{ledger: ledger, document: document, bundle: bundle, Signing: signed}, nil
}

// VerifyStatus verifies a status: that the publisher signed it, for the registry of that name,
// and about this document, which it reads. The error is of kind ErrStatus, or one of attest's.
func VerifyStatus(publisher *attest.Verifier, registryName string, document, bundle []byte) (_ *statement.Ledger, signed Signing, err error) {
	v, err := publisher.Verify(bundle)
	if err != nil {
		return nil, signed, err
	}
	s, err := v.Statement.Status()
	if err != nil {
		return nil, signed, statusError(err, "the signed statement is not a status")
	}
	if found := string(pack.DigestOf(document)); found != s.Digest {
		return nil, signed, statusError(nil, "the signed status is about %s, and the document is %s", s.Digest, found)
	}
	l, err := statement.ReadLedger(document)
	if err != nil {
		return nil, signed, statusError(err, "the signed document is not a status")
	}
	switch {
	case s.Name != registryName || l.Registry != s.Name:
		return nil, signed, statusError(nil, "the status is of the registry %q, wanted %q", cmpOther(s.Name, l.Registry, registryName), registryName)
	case s.Publisher != publisher.Name() || l.Publisher != s.Publisher:
		return nil, signed, statusError(nil, "the status is of the publisher %q, wanted %q", cmpOther(s.Publisher, l.Publisher, publisher.Name()), publisher.Name())
	case l.Sequence != s.Sequence:
		return nil, signed, statusError(nil, "the status has the sequence %d, and its document %d", s.Sequence, l.Sequence)
	}
	return l, signing(v, s.Time), nil
}

// cmpOther returns the first of two texts that is not the wanted one.
func cmpOther(first, second, wanted string) string {
	if first != wanted {
		return first
	}
	return second
}

func statusError(cause error, format string, args ...any) error {
	return &fault.Error{Kind: ErrStatus, Message: fmt.Sprintf(format, args...), Cause: cause}
}

// readStatus reads and verifies the status under a digest.
func (c *Checker) readStatus(ctx context.Context, repo *registry.Repository, manifest string) (*statusAt, error) {
	o, err := repo.PullObject(ctx, manifest, registry.StatusType)
	if err != nil {
		return nil, err
	}
	if len(o.Layers) != 2 || o.Layers[0].Type != registry.StatusType || o.Layers[1].Type != registry.BundleType {
		return nil, statusError(nil, "%s has other layers than a status", manifest)
	}
	s, err := c.statusOf(o.Layers[0].Content, o.Layers[1].Content)
	if err != nil {
		return nil, err
	}
	s.manifest = manifest
	return s, nil
}

// mostOdd bounds how many statuses that do not verify are looked at: anybody who may write
// can put tags there.
const mostOdd = 32

// statuses are what a registry has of a publisher's status.
type statuses struct {
	newest  []*statusAt // those of the highest sequence that verify: one, or several after two publishers met
	pointed string      // the manifest that the publisher's tag names, "" for none
	odd     []Reason    // what bears the publisher's tags and does not verify: an audit fails for the tag of a sequence that is not below the newest
}

// sure refuses to sign anything about the newest status where a tag claims another one that is not
// older. Whoever may write, and delete nothing, can move the tag of the newest status to something
// else; it may have said more.
func (s *statuses) sure() error {
	i := slices.IndexFunc(s.odd, func(r Reason) bool { return r.Fails })
	if i < 0 {
		return nil
	}
	return &fault.Error{Kind: ErrStatus, Message: s.odd[i].Message + "; there may have been a newer status",
		Hint: "restore the tag from a copy, or delete it if packgate did not write it; check who can write to the registry"}
}

// statuses reads the publisher's newest status. What does not verify is passed over, and
// told.
func (c *Checker) statuses(ctx context.Context, repo *registry.Repository) (*statuses, error) {
	publisher := c.Verifier.Name()
	tags, err := repo.Tags(ctx)
	if err != nil {
		return nil, err
	}
	out := &statuses{}
	if out.pointed, err = resolve(ctx, repo, publisherTag(publisher)); err != nil {
		return nil, err
	}
	tags = slices.DeleteFunc(tags, func(tag string) bool { return sequenceIn(tag, publisher) == 0 })
	slices.SortFunc(tags, func(a, b string) int { return sequenceIn(b, publisher) - sequenceIn(a, publisher) })
	if out.pointed != "" { // which counts where the registry does not list its tags
		tags = append(tags, publisherTag(publisher))
	}
	for _, tag := range tags {
		if n := sequenceIn(tag, publisher); len(out.newest) > 0 && n < out.newest[0].ledger.Sequence && n > 0 {
			continue
		}
		if err := c.addStatus(ctx, repo, tag, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// addStatus reads the status under a tag, and adds it to those that are the newest.
func (c *Checker) addStatus(ctx context.Context, repo *registry.Repository, tag string, out *statuses) error {
	manifest, err := resolve(ctx, repo, tag)
	if err != nil || manifest == "" || slices.ContainsFunc(out.newest, func(s *statusAt) bool { return s.manifest == manifest }) {
		return err
	}
	s, err := c.readStatus(ctx, repo, manifest)
	if err == nil && sequenceIn(tag, c.Verifier.Name()) != s.ledger.Sequence && tag != publisherTag(c.Verifier.Name()) {
		err = statusError(nil, "the tag %q names a status of sequence %d", tag, s.ledger.Sequence)
	}
	switch {
	case err != nil && outage(err):
		return err
	case err != nil && len(out.odd) == mostOdd:
		return statusError(err, "more than %d tags in %q name something that is not a status of %q", mostOdd, repo.Name(), c.Verifier.Name())
	case err != nil:
		out.odd = append(out.odd, Reason{Kind: ReasonStatus, Message: fmt.Sprintf("the tag %q in %q names something that is not trusted: %v", tag, repo.Name(), err),
			Hint: "check who can write to the registry", Digest: manifest, Cause: err, Fails: sequenceIn(tag, c.Verifier.Name()) > 0})
	case len(out.newest) == 0 || s.ledger.Sequence > out.newest[0].ledger.Sequence:
		out.newest = []*statusAt{s}
	case s.ledger.Sequence == out.newest[0].ledger.Sequence:
		out.newest = append(out.newest, s)
	}
	return nil
}

// packLedger returns what the registry says of a pack, as a status keeps it. Before is what
// the last status says: a pack whose head is still the same is not read again. It fails with ErrCut
// where a statement is missing that the history names, and without which it would say something else.
func (c *Checker) packLedger(ctx context.Context, packID string, before *statement.PackLedger, digests []string) (*statement.PackLedger, error) {
	var named statement.Head
	if before != nil {
		named = before.Head
	}
	head, err := c.beyond(ctx, packID, named)
	if err != nil {
		return nil, err
	}
	if before != nil && head == before.Head && head != (statement.Head{}) {
		return before, nil
	}
	s, err := c.survey(ctx, packID, request{digests: digests})
	if err != nil {
		return nil, err
	}
	if err := s.forgets(before); err != nil {
		return nil, err
	}
	out := &statement.PackLedger{Head: head, States: map[string]string{}, Pins: map[string]*statement.PinLedger{}}
	for digest, h := range s.holdings {
		if state := stateOf(h.states); state != nil {
			out.States[digest] = state.State
		}
		for _, p := range h.pins {
			if _, known := out.Pins[p.Environment]; known {
				continue
			}
			moves := s.moves(p.Environment)
			out.Pins[p.Environment] = pinLedger(moves[len(moves)-1])
		}
	}
	return out, nil
}

// forgets refuses to say of a pack what lacks a state, or the last move of an environment, that its
// history names: the statement is not there. A revocation that was said before is not lost with it.
func (s *survey) forgets(before *statement.PackLedger) error {
	var lost []Reason
	for _, digest := range slices.Sorted(maps.Keys(s.holdings)) {
		if before == nil || before.States[digest] != statement.StateRevoked {
			lost = append(lost, s.hidden(s.holdings[digest])...)
		}
	}
	environments := map[string]bool{}
	for _, p := range s.chain.places {
		environments[p.Environment] = p.moves() || environments[p.Environment]
	}
	for _, environment := range slices.Sorted(maps.Keys(environments)) {
		if environments[environment] {
			lost = append(lost, s.unmoved(environment)...)
		}
	}
	if len(lost) == 0 {
		return nil
	}
	return &fault.Error{Kind: ErrCut, Message: lost[0].Message, Hint: lost[0].Hint}
}

func pinLedger(newest move) *statement.PinLedger {
	if newest.Stopped {
		return nil
	}
	_, version, _ := strings.Cut(newest.to.version.Pack, "@")
	out := &statement.PinLedger{Manifest: newest.to.digest, Version: version}
	if newest.Runs != nil {
		out.Bundle = newest.Runs.Manifest
	}
	return out
}

// notThere tells whether an error says that something is not in the registry.
func notThere(err error) bool { return errors.Is(err, registry.ErrNotFound) }

// auditStatus holds the publisher's status against what the registry has of some packs; it
// finds nothing where there is none. Stated are the packs that the status names.
func (c *Checker) auditStatus(ctx context.Context, packIDs []string) (out []AuditFinding, stated map[string]bool, err error) {
	repo, err := c.Registry.Status()
	if err != nil {
		return nil, nil, err
	}
	there, err := c.statuses(ctx, repo)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range there.odd {
		f := AuditFinding{Severity: SeverityWarning, Reason: r}
		if r.Fails {
			f.Severity = SeverityError
		}
		out = append(out, f)
	}
	if len(there.newest) == 0 {
		return out, nil, nil
	}
	const again = "run the workflow that publishes once more, which writes the status"
	find := func(packID string, severity Severity, hint, format string, args ...any) {
		out = append(out, AuditFinding{Pack: packID, Severity: severity, Reason: ReasonStatus.explains("", hint, format, args...)})
	}
	if n := len(there.newest); n > 1 {
		find("", SeverityError, again, "two publishers wrote at the same time: there are %d statuses of sequence %d", n, there.newest[0].ledger.Sequence)
	}
	stated = map[string]bool{}
	for _, id := range packIDs {
		said, known := there.newest[0].ledger.Packs[id]
		var before *statement.PackLedger
		if known {
			before, stated[id] = &said, true
		}
		found, err := c.packLedger(ctx, id, before, slices.Sorted(maps.Keys(said.States)))
		switch {
		case errors.Is(err, ErrCut):
			find(id, SeverityError, "check who can delete from the registry, and restore it from a copy", "%v", err)
		case err != nil:
			continue // which the audit of the pack says
		case len(missing(said.States, found.States)) > 0:
			find(id, SeverityError, "check who can delete from the registry, and make the statement again", "the registry does not show the state of %s, which the status has", strings.Join(missing(said.States, found.States), ", "))
		case !reflect.DeepEqual(said, *found) && (known || len(found.States)+len(found.Pins)+found.Head.Sequence > 0):
			find(id, SeverityWarning, again, "the status of %s is older than what the registry has of %q: a run was cut off before it wrote the status", stampOf(there.newest[0].Time), id)
		}
	}
	return out, stated, nil
}

// missing returns the digests of versions whose state is worse by what was said than by what
// is found, sorted.
func missing(said, found map[string]string) (digests []string) {
	for digest, state := range said {
		if found[digest] != state && found[digest] != statement.StateRevoked {
			digests = append(digests, digest)
		}
	}
	slices.Sort(digests)
	return digests
}
