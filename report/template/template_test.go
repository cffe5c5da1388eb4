package template_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	texttemplate "text/template"

	"github.com/contextosai/packgate/report/template"
)

type inner struct {
	Name string
	List []string
	Next *inner
}

type data struct {
	Text, Empty string
	Number      int
	Yes, No     bool
	Own         template.Markup
	List        []string
	None        []string
	All         []inner
	One         *inner
	Nothing     *inner
}

var sample = data{
	Text: "a<b", Number: -7, Yes: true, Own: "<hr>", List: []string{"x", "", "z"},
	All: []inner{{Name: "one", List: []string{"1"}}, {Name: "two", Next: &inner{Name: "three"}}},
	One: &inner{Name: "four", List: []string{"p", "q"}},
}

// TestSameAsTheStandardLibrary fills templates with text/template too.
func TestSameAsTheStandardLibrary(t *testing.T) {
	for _, text := range []string{
		"", "plain", "{{.Text}} {{.Number}} {{.Own}}{{/* a comment */}}", "{{- .Text -}}  x",
		"{{if .Yes}}a{{else}}b{{end}}{{if .No}}a{{else}}b{{end}}{{if .Empty}}a{{else if .Number}}c{{else}}b{{end}}{{if .None}}a{{end}}{{if .Nothing}}a{{else}}n{{end}}",
		"{{with .One}}{{.Name}}{{$.Text}}{{else}}none{{end}}{{with .Nothing}}{{.Name}}{{else}}{{.Text}}{{end}}",
		"{{range .List}}[{{.}}]{{else}}none{{end}}{{range .None}}[{{.}}]{{else}}none{{end}}",
		"{{range $i, $each := .All}}{{$i}}={{$each.Name}}{{range $each.List}}{{.}}{{$i}}{{end}}{{with .Next}}{{.Name}}{{end}};{{end}}",
		"{{range $one := .All}}{{$one.Name}}{{end}}",
		"{{$x := .List}}{{range $i, $each := .All}}{{index $x $i}}{{$x := .Name}}{{$x}}{{end}}",
		`{{if eq .Text "a<b"}}same{{end}}{{if not .Yes}}no{{end}}{{or .Empty .Text}}{{or .Empty ""}}{{if or .No .None .Text}}one{{end}}`,
		`{{define "each"}}<{{.Name}}{{with .Next}}{{template "each" .}}{{end}}>{{end}}{{range .All}}{{template "each" .}}{{end}}{{template "none"}}{{define "none"}}{{if .}}a{{else}}b{{end}}{{end}}`,
		`{{upper .Text}}{{with upper "q"}}{{.}}{{end}}`,
	} {
		want := &bytes.Buffer{}
		standard := texttemplate.Must(texttemplate.New("main").Funcs(texttemplate.FuncMap{"upper": strings.ToUpper}).Parse(text))
		if err := standard.Execute(want, sample); err != nil {
			t.Fatal(err)
		}
		got, err := filled(text)
		if err != nil || got != want.String() {
			t.Errorf("%s\n gives %q (%v),\nwanted %q", text, got, err, want)
		}
	}
}

func filled(text string) (string, error) {
	return filledWith(text, template.Options{Funcs: map[string]template.Func{"upper": func(args []any) (any, error) {
		s, ok := args[0].(string)
		if !ok {
			return nil, errors.New("it is no text")
		}
		return strings.ToUpper(s), nil
	}}})
}

func filledWith(text string, o template.Options) (string, error) {
	set, err := template.Parse(map[string]string{"main": text}, o)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	err = set.Execute(&b, "main", sample)
	return b.String(), err
}

// Whatever is not text of the program itself goes through the function that escapes.
func TestEscape(t *testing.T) {
	o := template.Options{Left: "<<", Right: ">>", Escape: func(s string) string { return "(" + s + ")" }}
	got, err := filledWith(`{{x}}<<.Text>><<range .List>><<.>><<end>><<or .Empty "y">><<.Own>><<.Number>>`, o)
	if want := "{{x}}(a<b)(x)()(z)(y)<hr>-7"; err != nil || got != want {
		t.Errorf("%q (%v), wanted %q", got, err, want)
	}
}

// What our templates do not need is refused, with the place where it stands.
func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		"{{.Missing}}":                    "main:1:2: .Missing is no field",
		"\n{{.Text.Name}}":                "main:2:7: .Text.Name is a field of string, wanted a struct",
		"{{.One.Nobody}}":                 ".One.Nobody is no field",
		"{{.Nothing.Name}}":               ".Nothing.Name is a field of invalid, wanted a struct",
		"{{.Yes}}":                        "is of the kind bool, wanted text or a whole number",
		"{{.One}}":                        "is of the kind struct, wanted text or a whole number",
		"{{range .Text}}{{end}}":          "ranges over string, wanted a slice",
		"{{.Text | upper}}":               "is not one command",
		"{{$x := 1}}":                     "1 is not supported",
		"{{$x := .Text}}{{$x = .}}":       "is not one command",
		"{{(or .Text .Text)}}":            "is not supported",
		"{{.Text 1}}":                     "has arguments and is no function",
		"{{index .List .Number}}":         "there is no element -7 of 3",
		"{{index .List}}":                 "it has the wrong arguments",
		"{{index .Text .Number}}":         "it has the wrong arguments",
		"{{eq .Text .Number}}":            "it has the wrong arguments",
		"{{eq .Text}}":                    "it has the wrong arguments",
		"{{not .Yes .No}}":                "it has the wrong arguments",
		"{{or}}":                          "it has the wrong arguments",
		"{{or .Nothing .Text}}":           "is called with nothing",
		"{{upper .Number}}":               "it is no text",
		"{{template \"nobody\" .}}":       "there is no template \"nobody\"",
		"{{range .List}}{{break}}{{end}}": "is not supported",
		"{{define \"a\"}}{{template \"a\"}}{{end}}{{template \"a\"}}": "templates use one another more than 1000 deep",
		"{{nobody .}}": "function \"nobody\" not defined",
		"{{if}}":       "missing value for if",
	} {
		if got, err := filled(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gives %q and the error %v, wanted %q", text, got, err, want)
		}
	}
	two := map[string]string{"a": `{{define "x"}}1{{end}}`, "b": `{{define "x"}}2{{end}}`}
	if _, err := template.Parse(two, template.Options{}); err == nil || !strings.Contains(err.Error(), `template "x" is defined twice`) {
		t.Errorf("two definitions: %v", err)
	}
	set, err := template.Parse(map[string]string{}, template.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := set.Execute(&bytes.Buffer{}, "main", nil); err == nil || !strings.Contains(err.Error(), `there is no template "main"`) {
		t.Errorf("no template: %v", err)
	}
}
