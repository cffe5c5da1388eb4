package gating

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/gates/waivers"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// acceptedFindings holds what the baseline file excuses. An entry that the base has too excuses a
// finding that is as it was there; an entry that the change adds is in force once the roles under
// reviews.baseline have approved.
type acceptedFindings struct {
	file    *repo.Accepted      // of the workspace; nil for none
	all     []repo.Acceptance   // its entries
	entries []acceptedEntry     // those in force
	brought []*repo.Acceptance  // those that the change adds: approved, or waiting for an approval
	refused []about             // findings that the baseline grows without approval
	sharing map[string][]string // the files of each pack_id that several files have
	// find finds sharing when it is first asked for; nil where it is known, and for one pack alone.
	find func() (map[string][]string, error)
}

// shared reports whether several files have a pack_id, so that an entry may be for a finding of another
// one; also where that is not known.
func (a *acceptedFindings) shared(id string) bool {
	if a.find != nil {
		sharing, err := a.find()
		return err != nil || len(sharing[id]) > 0
	}
	return len(a.sharing[id]) > 0
}

// acceptedEntry is an entry in force. If anew is set, the change added the entry and it was approved,
// so its finding may be new too.
type acceptedEntry struct {
	*repo.Acceptance
	anew bool
}

// Accepted returns the baseline file, nil if there is none. It returns an error if the file cannot be
// used (it is not valid, was edited by hand, or has entries that the policy does not allow), and if a
// baseline file is in another folder than the config, where it excuses nothing.
func (w *Workspace) Accepted(policy gates.Policy) (*repo.Accepted, error) {
	if err := w.misplacedBaseline(); err != nil {
		return nil, err
	}
	file, err := w.Files.Accepted()
	if err != nil || file == nil {
		return nil, err
	}
	if err := policy.CheckAccepted(file, w.Config.WaiverDays()).Err(); err != nil {
		return nil, err
	}
	return file, nil
}

// misplacedBaseline returns an error for a baseline file in the folder of a pack, or above it, that
// has no config beside it.
func (w *Workspace) misplacedBaseline() error {
	known := map[string]bool{".": true}
	for _, name := range w.Packs {
		for dir := path.Dir(name); !known[dir]; dir = path.Dir(dir) {
			known[dir] = true
			there, err := w.Files.Exists(path.Join(dir, repo.AcceptedName))
			if err != nil || !there {
				continue // what cannot be looked at excuses nothing either
			}
			if own, err := w.Files.Exists(path.Join(dir, repo.ConfigName)); err != nil || !own {
				problem := repo.Problemf("move it there, or write it again with packgate baseline write", "the baseline file counts only beside the config, as %s", w.Files.Show(repo.AcceptedName))
				problem.Location.File = w.Files.Show(path.Join(dir, repo.AcceptedName))
				return problem
			}
		}
	}
	return nil
}

// accept reads the baseline file, and decides which of its entries are in force. A file that cannot
// be used fails the run, and excuses nothing.
func (r *Run) accept(ctx context.Context, in *Inputs) error {
	policy, err := in.policy(r.Now())
	if err != nil {
		return err
	}
	file, err := in.Workspace.Accepted(policy)
	if errors.Is(err, repo.ErrUse) {
		r.Fail(err)
		return nil
	}
	if err != nil || file == nil {
		return err
	}
	a := &in.accepted
	a.file, a.all = file, file.Entries
	before, err := r.acceptedBefore(in)
	if err != nil {
		return err
	}
	for i := range file.Entries {
		e := &file.Entries[i]
		if in.Base == nil || slices.ContainsFunc(before, func(old repo.Acceptance) bool { return e.CoversNoMore(&old) }) {
			a.entries = append(a.entries, acceptedEntry{e, false})
			continue
		}
		a.brought = append(a.brought, e)
	}
	if len(a.brought) == 0 {
		return nil
	}
	return r.grow(ctx, in)
}

// acceptedBefore returns the entries of the base's baseline file. A file that cannot be used has none.
func (r *Run) acceptedBefore(in *Inputs) ([]repo.Acceptance, error) {
	if in.Base == nil {
		return nil, nil
	}
	in.Base.reading.Lock()
	defer in.Base.reading.Unlock()
	files, err := in.Base.files(in.Base.prefix, in.Files.Prefix)
	if err != nil {
		return nil, err
	}
	file, err := files.Accepted()
	if errors.Is(err, repo.ErrUse) {
		r.Notice("the %s of the base cannot be used, so every entry counts as new: %v", in.Files.Show(repo.AcceptedName), err)
		return nil, nil
	}
	if err != nil || file == nil {
		return nil, err
	}
	return file.Entries, nil
}

// grow decides whether the entries that the change brings are in force.
func (r *Run) grow(ctx context.Context, in *Inputs) error {
	a, roles := &in.accepted, in.Config.Reviews.BaselineRoles()
	given := in.Approvals.given()
	missing := slices.DeleteFunc(slices.Clone(roles), func(role string) bool {
		return slices.ContainsFunc(given, func(one finding.Approval) bool { return one.Role == role })
	})
	gated, err := in.Base.gated(ctx)
	switch {
	case err != nil:
		return err
	case in.inForce == nil, len(roles) > 0 && len(missing) == 0:
		for _, e := range a.brought {
			a.entries = append(a.entries, acceptedEntry{e, true})
		}
	case !gated:
		for _, e := range a.brought {
			a.entries = append(a.entries, acceptedEntry{e, false})
		}
		a.brought = nil
		r.Notice("nothing was checked in the base, so the first %s excuses only findings that the base has too", in.Files.Show(repo.AcceptedName))
	case len(roles) == 0:
		a.refused = []about{{"", waivers.Grown(a.brought, "name roles under reviews.baseline of the config, in a change that is merged first")}}
	default:
		members := in.Config.Reviews.Members()
		for i, role := range missing {
			missing[i] = fmt.Sprintf("%s (%s)", role, strings.Join(members[role], ", "))
		}
		hint := "let the pull request be approved by " + strings.Join(missing, ", ")
		if unknown := in.Approvals.unknown(); unknown != "" {
			hint += "; who has approved is not known: " + unknown
		}
		a.refused = []about{{"", waivers.Grown(a.brought, hint)}}
	}
	return nil
}

// gated reports whether anything shows that the base was gated: a config or a baseline file, in the
// folder or above it, or a workflow that runs packgate.
func (b *Baseline) gated(ctx context.Context) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	b.reading.Lock()
	defer b.reading.Unlock()
	if b.has(b.prefix, b.ConfigName) {
		return true, nil
	}
	for dir := b.prefix; ; dir = path.Dir(dir) {
		if b.has(dir, repo.ConfigName) || b.has(dir, repo.AcceptedName) {
			return true, nil
		}
		if dir == "." {
			break
		}
	}
	running, err := b.Workflows()
	return err != nil || running.CallsAny(), err
}

// words describes how much the baseline grows, "" if it does not.
func (a *acceptedFindings) words() string {
	if len(a.brought) == 0 {
		return ""
	}
	return "a baseline that grows by " + pack.Counted(len(a.brought), "entry")
}

// identity names the entries in force.
func (a *acceptedFindings) identity() string {
	var all []string
	for _, e := range a.entries {
		all = append(all, e.Seal, strconv.FormatBool(e.anew))
	}
	return fields(all...)
}

// strays returns an error for entries of the baseline file, and for waivers that the change adds, whose
// packs the repository does not have. If it is not known which packs it has, there is no error.
func (in Inputs) strays() error {
	if !in.whole || len(in.since.unread) > 0 {
		return nil
	}
	refs := in.since.claims.ids()
	return append(stray(in.brought(), refs), in.accepted.stray(refs)...).Err()
}

// stray returns an error for each entry of a pack that is not among those of the repository, as
// pack_id@version.
func (a *acceptedFindings) stray(refs []string) (problems repo.Problems) {
	known := map[string]bool{}
	for _, ref := range refs {
		known[idOf(ref)] = true
	}
	for i := range a.all {
		if e := &a.all[i]; !known[e.Pack] {
			problem := repo.Problemf("remove it with packgate baseline write --shrink; is the file of another repository?", "the baseline's entry is for the pack %q, which is not in this repository", e.Pack)
			problem.Location = e.Location
			problems = append(problems, problem)
		}
	}
	return problems
}

// apply excuses the findings of a pack that have an entry, and reports the entries that have no
// finding. If compared is set there is a base, and a finding has to be as it is there.
func (a *acceptedFindings) apply(j *judged, policy gates.Policy, compared bool) {
	if len(a.entries) == 0 || j.subject.Pack == nil {
		return
	}
	id, now := j.subject.Pack.PackMeta.PackID.Value, newSide(j.subject)
	j.used = map[string]int{}
	var about []finding.Finding
	counting := map[int]int{} // of about, the finding of the pack that counts all the same
	for _, e := range a.entries {
		switch {
		case e.Pack != id:
			continue
		case policy.Ended(e.Expires):
			about = append(about, waivers.ExpiredEntry(e.Acceptance))
			continue
		}
		used, changed := 0, -1
		for i := range j.result.Findings {
			f := &j.result.Findings[i]
			if f.Rule != e.Rule || f.Kin() != e.Finding || f.Excused() || f.IsRest() {
				continue
			}
			if now.content(*f) != e.Content || compared && !e.anew && !f.Old {
				changed = i
				continue
			}
			if used < e.Most() {
				f.Accepted = &finding.Acceptance{Reason: e.Reason, Owner: e.Owner, Recorded: e.Recorded, Expires: e.Expires}
				used++
			}
		}
		j.used[e.Seal] = used
		if used < e.Most() && j.result.Checked(e.Rule) && !a.shared(id) {
			if changed >= 0 {
				counting[len(about)] = changed
			}
			about = append(about, waivers.StaleEntry(e.Acceptance, used, changed >= 0))
		}
	}
	for i, at := range counting {
		if f := &j.result.Findings[at]; !f.Excused() { // by another entry
			about[i].Cause = &finding.Cause{Finding: f.Fingerprint()}
		}
	}
	j.result.Accepted(policy.JudgeAlone(about))
}

// Excused returns what the gates found in a pack of the workspace, with the findings marked that a
// baseline file excuses, and with findings about what is wrong with its entries. As in a check that
// compares with nothing, all entries are in force; a nil file has none.
func (w *Workspace) Excused(s *gate.Subject, found gates.Result, file *repo.Accepted, policy gates.Policy) gates.Result {
	if file == nil {
		return found
	}
	a := acceptedFindings{file: file, all: file.Entries}
	a.find = sync.OnceValues(func() (map[string][]string, error) {
		ids, err := w.identities(nil)
		return ids.sharing(), err
	})
	for i := range file.Entries {
		a.entries = append(a.entries, acceptedEntry{&file.Entries[i], false})
	}
	return a.excused(s, found, policy)
}

// excused marks the findings that entries in force excuse, as Excused does.
func (a *acceptedFindings) excused(s *gate.Subject, found gates.Result, policy gates.Policy) gates.Result {
	j := &judged{subject: s, result: found}
	a.apply(j, policy, false)
	return j.result
}

// content returns the digest of what a finding is about, as 32 hexadecimal digits: its file within the
// pack, and the value at its place. Its message is not part of it, so that packgate can improve it.
func (s *side) content(f finding.Finding) string {
	digest := pack.DigestOf([]byte(fields(s.within(f.Location.File), s.at(f.Location))))
	return strings.TrimPrefix(string(digest), "sha256:")[:32]
}
