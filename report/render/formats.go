package render

import (
	"errors"
	"fmt"
	"io"

	"github.com/contextosai/packgate/report/model"
)

// Options are what a rendering needs besides the report.
type Options struct {
	Style Style            // of a terminal
	Rules []model.RulePage // the rules that SARIF describes beside those of the report
}

// Format is a form in which a report is written.
type Format struct {
	Name string
	File string // its name in a folder of reports; "" for a format that is not written there
	// Changes says that comparisons and audits are written in it too, and Plain that everything is.
	Changes, Plain bool
	// Whole says that it lists all packs: of a summary without some of them there is no such form.
	Whole bool
	write func(w io.Writer, r *model.Report, o Options) error
}

// ErrSummary is wrapped by the error of a form that lists all packs, and was given a summary.
var ErrSummary = errors.New("this is the summary of a report, in which packs or parts of them are left out")

// Write writes a report. The error is ErrSummary for a form that a summary does not have, or that of
// the writer, or of a stored pack that cannot be read any more.
func (f Format) Write(w io.Writer, r *model.Report, o Options) (err error) {
	defer model.Lost(&err)
	if !f.Has(r) {
		return fmt.Errorf("%w; the form %s takes the whole report", ErrSummary, f.Name)
	}
	return f.write(w, r, o)
}

// Has reports whether a report can be written in the form.
func (f Format) Has(r *model.Report) bool { return !f.Whole || r.Partial == nil }

// JSONFile is the report that other commands and jobs read, and SummaryFile the part of it that
// fits into a comment, of bounded size.
const (
	JSONFile    = "report.json"
	SummaryFile = "summary.json"
)

// Formats returns the forms in which a report is written, sorted by name.
func Formats() []Format {
	return []Format{
		{Name: "codequality", Whole: true, write: func(w io.Writer, r *model.Report, _ Options) error { return CodeQuality(w, r) }},
		{Name: "html", File: "report.html", write: func(w io.Writer, r *model.Report, _ Options) error { return HTMLReport(w, r) }},
		{Name: "json", File: JSONFile, Changes: true, Plain: true, Whole: true, write: func(w io.Writer, r *model.Report, _ Options) error { return model.JSON(w, r) }},
		{Name: "junit", File: "report.junit.xml", Whole: true, write: func(w io.Writer, r *model.Report, _ Options) error { return JUnit(w, r) }},
		{Name: "markdown", File: "report.md", Changes: true, write: func(w io.Writer, r *model.Report, _ Options) error { return MarkdownReport(w, r) }},
		{Name: "sarif", File: "report.sarif", Whole: true, write: func(w io.Writer, r *model.Report, o Options) error { return SARIF(w, r, o.Rules) }},
		{Name: "summary", File: SummaryFile, write: func(w io.Writer, r *model.Report, _ Options) error { return WriteSummary(w, r) }},
		{Name: "terminal", Changes: true, Plain: true, write: func(w io.Writer, r *model.Report, o Options) error { return Terminal(w, r, o.Style) }},
		{Name: "warnings-ng", Whole: true, write: func(w io.Writer, r *model.Report, _ Options) error { return WarningsNG(w, r) }},
	}
}

// FormatNamed returns the format of a name; ok is false if there is none.
func FormatNamed(name string) (f Format, ok bool) {
	if found := firstOf(Formats(), func(f *Format) bool { return f.Name == name }); found != nil {
		return *found, true
	}
	return Format{}, false
}

// FormatNames returns the names of the formats for which a test holds, or of all formats if it is nil, sorted.
func FormatNames(holds func(Format) bool) []string {
	var names []string
	for _, f := range Formats() {
		if holds == nil || holds(f) {
			names = append(names, f.Name)
		}
	}
	return names
}
