package lsp

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/repo"
)

// mostAtOnce is how many bytes of a pack, counted once more for each overlay, are judged in
// one go: nobody notices how long that takes. Of a larger pack the proofs follow.
const mostAtOnce = 64 << 10

// follows reports whether the proofs of a pack follow what is found without any.
func follows(u *repo.Unit) bool {
	return u.Pack != nil && len(u.Document.Source)*(1+len(u.Overlays)) > mostAtOnce
}

// The first words of a finding that is not of the text that is there, and what is at the
// beginning of a pack while it is not known what its proofs say.
const (
	staleWords = "stale, it is being proved again: "
	openWords  = "only the syntax, the schema and the names of this text were checked yet; the other checks follow"
)

// quickly returns what is found in a pack without any proof, and beside it what was found
// before and takes one, marked as stale.
func (s *server) quickly(v *view, unit *repo.Unit, policy gates.Policy) *result {
	r := &result{open: true}
	subject := v.Subject(unit).Keep(s.kept(v.Dir, unit.Name))
	quick, says := gates.Quick(subject, policy)
	s.list(r, v, v.Excused(subject, gates.Result{Findings: quick}, v.accepted, policy).Findings)
	r.found = append(r.found, found{key: v.key(unit.Name), diagnostic: Diagnostic{Severity: severityInformation, Source: "packgate", Message: openWords}})
	s.lock.Lock()
	before := s.results[packKey{v.Dir, unit.Name}]
	s.lock.Unlock()
	if before != nil {
		moved := mover{view: v, before: before.read, edits: map[string]edit{}}
		for _, f := range before.found {
			if f.Rule != "" && !says(f.Finding) {
				r.found = append(r.found, s.stale(&moved, f))
			}
		}
	}
	r.note(v, unit.Name)
	return r
}

// kept returns what is kept of a pack.
func (s *server) kept(root, pack string) *gate.Kept {
	s.lock.Lock()
	defer s.lock.Unlock()
	key := packKey{root, pack}
	if s.keeps[key] == nil {
		s.keeps[key] = &gate.Kept{}
	}
	return s.keeps[key]
}

// stale returns a finding of an earlier text as it is shown beside the one that is there: at
// the place that its own has become, and without a repair.
func (s *server) stale(m *mover, f found) found {
	f.Message = staleWords + strings.TrimPrefix(f.Message, staleWords)
	f.Location, f.Related, f.Fix = m.location(f.Location), slices.Clone(f.Related), nil
	for i := range f.Related {
		f.Related[i].Location = m.location(f.Related[i].Location)
	}
	f.diagnostic = s.diagnostic(m.view, f.Finding, m.view.location(f.Location, s.units).Range)
	return f
}

// mover finds what places of earlier texts have become.
type mover struct {
	*view
	before map[string]string // the texts that places were counted in, by key
	edits  map[string]edit   // that made of these what there is, by key
}

// edit is what one text differs from another in: what stood between two offsets has become
// longer by some bytes.
type edit struct{ start, end, longer int }

// location returns what a place has become, in offsets alone. One in what was edited begins
// and ends with the edit.
func (m *mover) location(l finding.Location) finding.Location {
	key := m.key(l.File)
	e, known := m.edits[key]
	if !known {
		to := m.text(l.File).src
		from, read := m.before[key]
		if !read {
			from = to
		}
		start, end, with := difference(from, to)
		e = edit{start, end, len(with) - (end - start)}
		m.edits[key] = e
	}
	l.Start.Offset, l.End.Offset = e.moved(l.Start.Offset, false), e.moved(l.End.Offset, true)
	return l
}

func (e edit) moved(offset int, end bool) int {
	switch {
	case offset <= e.start:
		return offset
	case offset >= e.end:
		return offset + e.longer
	case end:
		return e.end + e.longer
	}
	return e.start
}

// prove makes the proofs of all packs of which it is not known what they say, until the
// context ends, and tells the client what is new.
func (s *server) prove(ctx context.Context) {
	s.gating.Lock()
	defer s.gating.Unlock()
	due := map[string]bool{}
	s.lock.Lock()
	for key, r := range s.results {
		if r.open {
			due[key.root] = true
		}
	}
	s.lock.Unlock()
	s.lookAt(slices.Sorted(maps.Keys(due)), depth{ctx, true})
}
