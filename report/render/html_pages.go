package render

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

// PagesDir is the folder of the pages of packs in a folder of reports, beside the page that has the
// details of the first ones.
const PagesDir = "report-pages"

// indexFile is the page of that folder that lists all packs. Another one follows where it is full.
const indexFile = "index.html"

// IndexMark stands near the beginning of an index, within IndexHead bytes: the folder is one that
// Pages has filled.
const (
	IndexMark = `<meta name="generator" content="packgate index">`
	IndexHead = 64 << 10
)

// IsPages reports whether a folder is one that Pages has filled, by the beginning of its index, which
// read returns.
func IsPages(read func(name string, most int) ([]byte, error)) bool {
	head, err := read(indexFile, IndexHead)
	return err == nil && bytes.Contains(head, []byte("\n"+IndexMark))
}

// Paged reports whether HTMLReport has no room for the details of some pack, so that Pages writes
// those of all. The error is that of a pack that cannot be read.
func Paged(r *model.Report) (paged bool, err error) { return pagedBeyond(r, maxHTML) }

// pagedBeyond is Paged for a page of that many bytes.
func pagedBeyond(r *model.Report, most int) (paged bool, err error) {
	defer model.Lost(&err)
	switch n := r.Packs.Len(); {
	case r.Partial != nil || n < 2:
		return false, nil
	case n > maxDetails:
		return true, nil
	}
	v, packs := newHTMLView(r), r.Packs.Urgent()
	inside, err := v.details(&htmlPieces{to: io.Discard}, packs, most)
	return inside < packs.Len(), err
}

// Pages writes a page for each pack of a report, and an index that lists them, the worst first: files
// of one folder, which link to one another. It writes nothing where HTMLReport has everything. The
// error is that of a file, or of a stored pack that cannot be read any more.
func Pages(create func(name string) (io.WriteCloser, error), r *model.Report) (err error) {
	defer model.Lost(&err)
	if paged, err := Paged(r); err != nil || !paged {
		return err
	}
	v := newHTMLView(r)
	rows := v.rows(r.Packs)
	p := &htmlPages{create: create, report: r, names: pageNames(r.Packs)}
	_, title := v.title(r.Packs, rows)
	p.back = sentence{{kind: innerPiece, text: "← All " + pack.Counted(len(rows), "pack"), href: indexFile}}.plain(": " + v.flat(title))
	if err := p.index(v, rows); err != nil {
		return err
	}
	for i, one := range r.Packs.All() {
		if err := p.pack(one, p.names[i]); err != nil {
			return err
		}
	}
	return nil
}

// htmlPages is a folder of pages.
type htmlPages struct {
	create func(name string) (io.WriteCloser, error)
	report *model.Report
	names  []string // of the files of the packs
	back   sentence // leads to the index, and says how the run ended
}

// file writes one page.
func (p *htmlPages) file(name string, write func(*htmlPieces) error) error {
	f, err := p.create(name)
	if err != nil {
		return err
	}
	return cmp.Or(write(&htmlPieces{to: f}), f.Close())
}

// pack writes the page of one pack.
func (p *htmlPages) pack(one *model.Pack, name string) error {
	v := newHTMLView(p.report)
	v.own = true
	return p.file(name, func(out *htmlPieces) error {
		l := v.verdict(one)
		top := htmlPage{Head: htmlHead(nil), Verdict: v.flat(v.headline(one)), Tone: toneOf(l), Mark: l.mark, Back: v.say(p.back), Revisions: v.revisions()}
		top.Title = top.Verdict + " · packgate"
		v.inside = p.report.Packs.Len() // nothing is left out
		return cmp.Or(out.write("top", top, name), out.write("pack", v.pack(one, 1), name), out.write("bottom", v.bottom(), name))
	})
}

// index writes the pages that list all packs, each as many as fit.
func (p *htmlPages) index(v *htmlView, rows []*packRow) error {
	top, number := v.top(p.report.Packs, rows), 0
	top.Index = true
	rows = ranked(rows, (*packRow).urgency)
	v.inside = len(rows)
	for from, name := 0, indexFile; from < len(rows); {
		listed := v.node(v.overview(rows[from:], func(r *packRow) sentence {
			return sentence{{kind: innerPiece, text: r.id + inWords(r.Brief), href: p.names[r.at]}}
		}), "packs", &number)
		shown := rows[from : from+len(listed.Table.Rows)]
		listed.LeftOut = ""
		top.Filter, top.Rows = v.rowFilter(shown), []htmlNode{listed}
		from += len(shown)
		next := fmt.Sprintf("index-%d.html", from)
		if from < len(rows) {
			more := plain(fmt.Sprintf("The list goes on with %s: ", pack.Counted(len(rows)-from, "more pack")))
			top.Rows = append(top.Rows, v.node(append(more, piece{kind: innerPiece, text: "the next page", href: next}), "packs", &number))
		}
		err := p.file(name, func(out *htmlPieces) error {
			return cmp.Or(out.write("top", top, name), out.write("bottom", v.bottom(), name))
		})
		if err != nil {
			return err
		}
		top.Back, name = v.say(p.back), next
	}
	return nil
}

// rowFilter returns the choices of the filters of packs.
func (v *htmlView) rowFilter(rows []*packRow) *htmlFilter {
	verdicts, agents := map[string]bool{}, map[string]bool{}
	for _, r := range rows {
		verdicts[r.verdictWord()], agents[v.text(r.Effect)] = true, true
	}
	delete(agents, "")
	return filterOf("pack", len(rows), htmlChoice{"verdict", "Verdict", choices(verdicts)}, htmlChoice{"agents", "Change", choices(agents)})
}

// pageNames returns the file of each pack, made of its id: of a few characters that mean the same to
// all file systems, and no two alike. No stem has two signs in a row, as is before a number.
func pageNames(packs model.Packs) []string {
	names, before := make([]string, packs.Len()), map[string]int{}
	for i, b := range packs.Briefs() {
		stem := cmp.Or(plainStem(idOf(b)+inWords(b)), "unnamed")
		names[i] = "pack-" + stem
		if before[stem]++; before[stem] > 1 {
			names[i] += fmt.Sprintf("--%d", before[stem])
		}
		names[i] += ".html"
	}
	return names
}

// maxStem is how many bytes of an id the name of a file has.
const maxStem = 80

// plainStem returns the letters and digits of a text in lower case, with one sign between two words.
func plainStem(s string) string {
	var b strings.Builder
	var sign rune
	for _, c := range strings.ToLower(s[:min(len(s), 4*maxStem)]) {
		switch {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
			if sign != 0 && b.Len() > 0 {
				b.WriteRune(sign)
			}
			sign = 0
			b.WriteRune(c)
		case (c == '.' || c == '_') && sign == 0:
			sign = c
		default:
			sign = '-'
		}
		if b.Len() >= maxStem {
			break
		}
	}
	return b.String()
}

// isPageName reports whether a text is the name of a page beside the one that links to it.
func isPageName(s string) bool {
	stem, ok := strings.CutSuffix(s, ".html")
	return ok && stem != "" && !slices.ContainsFunc([]byte(stem), func(c byte) bool {
		return !(c >= 'a' && c <= 'z' || isDigit(c) || c == '.' || c == '_' || c == '-')
	})
}
