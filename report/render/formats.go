package render

import (
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
	Write          func(w io.Writer, r *model.Report, o Options) error
}

// JSONFile is the report that other commands and jobs read.
const JSONFile = "report.json"

// Formats returns the forms in which a report is written, sorted by name.
func Formats() []Format {
	return []Format{
		{Name: "codequality", Write: func(w io.Writer, r *model.Report, _ Options) error { return CodeQuality(w, r) }},
		{Name: "html", File: "report.html", Write: func(w io.Writer, r *model.Report, _ Options) error { return HTMLReport(w, r) }},
		{Name: "json", File: JSONFile, Changes: true, Plain: true, Write: func(w io.Writer, r *model.Report, _ Options) error { return model.JSON(w, r) }},
		{Name: "junit", File: "report.junit.xml", Write: func(w io.Writer, r *model.Report, _ Options) error { return JUnit(w, r) }},
		{Name: "markdown", File: "report.md", Changes: true, Write: func(w io.Writer, r *model.Report, _ Options) error { return MarkdownReport(w, r) }},
		{Name: "sarif", File: "report.sarif", Write: func(w io.Writer, r *model.Report, o Options) error { return SARIF(w, r, o.Rules) }},
		{Name: "terminal", Changes: true, Plain: true, Write: func(w io.Writer, r *model.Report, o Options) error { return Terminal(w, r, o.Style) }},
		{Name: "warnings-ng", Write: func(w io.Writer, r *model.Report, _ Options) error { return WarningsNG(w, r) }},
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
