package model

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/pack"
)

// ErrNotOneRun is wrapped by the errors of Merge: the reports are not parts of one run.
var ErrNotOneRun = errors.New("the reports do not belong together")

// Merge puts the reports of several runs over parts of one repository together: the packs of all of
// them, sorted by path, the reviews that they need, what became of versions in a registry, and their errors and notices, each
// once and in the order in which one run over all packs would have them. The command is that of the
// runs, where it was one. A pack may be in several reports if all say the same of it; what they find in the repository
// as a whole is put together. All have to be about the same commits. Reports of different versions of packgate or its rules are merged with a
// notice. Result, summary and exit code are left to the caller.
func Merge(reports []*Report) (out *Report, err error) {
	defer Lost(&err)
	if len(reports) == 0 {
		return nil, fmt.Errorf("%w: no report was given", ErrNotOneRun)
	}
	first := reports[0]
	out = &Report{
		Version: Version, Tool: first.Tool, Command: first.Command, Base: first.Base, Head: first.Head,
		Errors: []Problem{}, Notices: []string{},
	}
	var tools []string
	var publications []string // as JSON
	var errs [][]Problem
	var notices [][]string
	var packs []onePack
	var dealt *Report // of a shard
	for _, r := range reports {
		err := cmp.Or(
			sameRevision("base", first, r, func(r *Report) *Revision { return r.Base }),
			sameRevision("head", first, r, func(r *Report) *Revision { return r.Head }),
		)
		if err != nil {
			return nil, err
		}
		if r.Shard != "" && (r.Tree != "" || r.Result != Broken) { // a run may break before it knows
			if dealt == nil {
				dealt = r
			}
			if dealt.Tree != r.Tree {
				return nil, fmt.Errorf("%w: the packs, the config or the catalogs of shard %q%s are not those of another shard", ErrNotOneRun, r.Shard, inFile(r))
			}
		}
		if r.Command != first.Command {
			out.Command = "merge"
		}
		out.Reviews = MergeReviews(out.Reviews, r.Reviews)
		errs, notices = append(errs, r.Errors), append(notices, r.Notices)
		out.Loosened = append(out.Loosened, r.Loosened...)
		for _, p := range r.Published {
			if form := pack.CompactJSON(p); !slices.Contains(publications, form) {
				publications, out.Published = append(publications, form), append(out.Published, p)
			}
		}
		tools = append(tools, r.Tool.Name+" "+r.Tool.Version+" (rules "+r.Tool.RulesVersion+")")
		packs = append(packs, r.Packs.list...)
	}
	out.Errors = append(out.Errors, interleave(errs, byPlace)...)
	out.Notices = append(out.Notices, interleave(notices, cmp.Compare)...)
	slices.Sort(out.Loosened)
	out.Loosened = slices.Compact(out.Loosened)
	slices.Sort(tools)
	if tools = slices.Compact(tools); len(tools) > 1 {
		out.Notices = append(out.Notices, fmt.Sprintf("the merged reports come from different versions: %s", Few(tools, maxVersions, "version")))
	}
	out.Packs, err = onePerPath(packs)
	return out, err
}

// interleave puts together lists of which each is what one run has of a longer list: every element
// once, and none before one that it follows in a list. The order decides what the lists leave open.
func interleave[T comparable](lists [][]T, order func(a, b T) int) []T {
	left := make([][]T, len(lists)) // of each list
	in := map[T]int{}               // how many lists have it
	for i, list := range lists {
		seen := map[T]bool{}
		for _, x := range list {
			if !seen[x] {
				seen[x], left[i] = true, append(left[i], x)
				in[x]++
			}
		}
	}
	var out []T
	taken := map[T]bool{}
	for {
		heads := map[T]int{} // how many lists go on with it
		for i := range left {
			for len(left[i]) > 0 && taken[left[i][0]] {
				left[i] = left[i][1:]
			}
			if len(left[i]) > 0 {
				heads[left[i][0]]++
			}
		}
		if len(heads) == 0 {
			return out
		}
		next := slices.Collect(maps.Keys(heads))
		ready := slices.DeleteFunc(slices.Clone(next), func(x T) bool { return heads[x] < in[x] })
		if len(ready) > 0 { // else the lists contradict each other
			next = ready
		}
		one := slices.MinFunc(next, order)
		out, taken[one] = append(out, one), true
	}
}

func byPlace(a, b Problem) int {
	return cmp.Or(
		cmp.Compare(fileOf(a), fileOf(b)), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
		cmp.Compare(a.Message, b.Message), cmp.Compare(a.Hint, b.Hint),
	)
}

// fileOf returns the file of a problem. One of the file system has it in its text.
func fileOf(p Problem) string {
	return cmp.Or(p.File, strings.TrimPrefix(p.Message, "read "))
}

const maxVersions = 5

// Few joins the first words, and says how many more of them there are than it names.
func Few(words []string, most int, noun string) string {
	list := strings.Join(words[:min(most, len(words))], ", ")
	if left := len(words) - most; left > 0 {
		list += " and " + pack.Counted(left, "more "+noun)
	}
	return list
}

func sameRevision(what string, r, other *Report, of func(*Report) *Revision) error {
	if a, b := of(r).Commit(), of(other).Commit(); a != b {
		return fmt.Errorf("%w: %s has the %s %q and %s %q", ErrNotOneRun, cmp.Or(r.File, "one"), what, a, cmp.Or(other.File, "another"), b)
	}
	return nil
}

// Commit returns the SHA of a revision, "" for none.
func (r *Revision) Commit() string {
	if r == nil {
		return ""
	}
	return r.SHA
}

// onePerPath sorts packs by path, those of the head first, and leaves each of them once.
func onePerPath(packs []onePack) (Packs, error) {
	slices.SortStableFunc(packs, func(a, b onePack) int {
		return cmp.Or(cmp.Compare(a.row.Kind, b.row.Kind), cmp.Compare(a.row.Path, b.row.Path), cmp.Compare(a.line(), b.line()))
	})
	all := Packs{list: packs}
	out := packs[:0]
	for i := range packs {
		last := len(out) - 1
		if last < 0 || out[last].place() != packs[i].place() {
			out = append(out, packs[i])
			continue
		}
		same, err := samePack(&all.list[last], &all.list[i])
		if err == nil && !same && packs[i].row.Kind == KindRepository {
			out[last], same = join(out[last].open(), packs[i].open())
		}
		if err != nil || !same {
			return Packs{}, cmp.Or(err, fmt.Errorf("%w: two of them say different things about %q", ErrNotOneRun, packs[i].row.Path))
		}
	}
	return Packs{list: out}, nil
}

// join returns what two reports say of one repository: the findings of both in the order of finding.Compare, each
// once, with the worse result. What a summary has cut short cannot be joined.
func join(a, b *Pack) (one onePack, ok bool) {
	both, known := *a, map[string]bool{}
	both.Findings = slices.DeleteFunc(slices.Concat(a.Findings, b.Findings), func(f Finding) bool {
		form := pack.CompactJSON(f)
		again := known[form]
		known[form] = true
		return again
	})
	slices.SortStableFunc(both.Findings, func(x, y Finding) int {
		of, _ := finding.ParseSeverity(x.Severity)
		other, _ := finding.ParseSeverity(y.Severity)
		return cmp.Or(cmp.Compare(other, of), cmp.Compare(x.File, y.File))
	})
	if urgency(b.Result) < urgency(a.Result) {
		both.Result = b.Result
	}
	return onePack{row: Row{Brief: BriefOf(&both)}, pack: &both}, a.Cut == nil && b.Cut == nil
}

// onePlace tells the entries of a report apart.
type onePlace struct{ kind, path, line string }

func (o *onePack) place() onePlace { return onePlace{o.row.Kind, o.row.Path, o.line()} }

// line tells the lines of one pins file apart; "" for all other entries.
func (o *onePack) line() string {
	if o.row.Kind != KindPromotion {
		return ""
	}
	return o.row.Pack
}

// samePack compares packs by what a reader of the JSON form sees.
func samePack(a, b *onePack) (bool, error) {
	if a.stored != nil && b.stored != nil && a.stored.digest == b.stored.digest {
		return true, nil
	}
	of, err := a.text(a.open)
	if err != nil {
		return false, err
	}
	other, err := b.text(b.open)
	return bytes.Equal(of, other), err
}

// MissingShards returns the shards that none of the reports is of, as i/N in their
// order; none where no report is of a shard. The error is ErrNotOneRun where a shard
// is there twice, or the packs were dealt out to different numbers of them.
func MissingShards(reports []*Report) ([]string, error) {
	there := map[int]*Report{}
	total, first := 0, &Report{}
	for _, r := range reports {
		if r.Shard == "" {
			continue
		}
		i, n, err := shardOf(r.Shard)
		switch {
		case err != nil:
			return nil, err
		case first.Shard == "":
			total, first = n, r
		case n != total:
			return nil, fmt.Errorf("%w: one is of shard %q%s and another of shard %q%s", ErrNotOneRun, first.Shard, inFile(first), r.Shard, inFile(r))
		case there[i] != nil:
			return nil, fmt.Errorf("%w: two of them are of shard %q%s%s", ErrNotOneRun, r.Shard, inFile(there[i]), inFile(r))
		}
		there[i] = r
	}
	var missing []string
	for i := 1; i <= total; i++ {
		if there[i] == nil {
			missing = append(missing, fmt.Sprintf("%d/%d", i, total))
		}
	}
	return missing, nil
}

// inFile returns a word that names the file of a report; "" for one of this run.
func inFile(r *Report) string {
	if r.File == "" {
		return ""
	}
	return " (" + r.File + ")"
}

// shardOf reads the i/N of a shard, which the schema bounds.
func shardOf(shard string) (i, n int, err error) {
	index, total, _ := strings.Cut(shard, "/")
	i, notIndex := strconv.Atoi(index)
	n, notTotal := strconv.Atoi(total)
	if notIndex != nil || notTotal != nil || i < 1 || i > n || n > maxShards {
		return 0, 0, fmt.Errorf("%w: one is of shard %q, which cannot exist", ErrNotOneRun, shard)
	}
	return i, n, nil
}

const maxShards = 999

const maxNamedShards = 12

// ShardsMissing returns the problem that reports of shards are missing.
func ShardsMissing(missing []string) Problem {
	quoted := make([]string, len(missing))
	for i := range missing {
		quoted[i] = strconv.Quote(missing[i])
	}
	return Problem{
		Message: "there is no report of shard " + Few(quoted, maxNamedShards, "shard") + ", so what it found is not known",
		Hint:    "run the jobs of these shards again, and merge the reports of all of them",
	}
}
