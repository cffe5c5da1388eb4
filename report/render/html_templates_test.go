package render

import (
	"bytes"
	"html/template"
	"strings"
	"testing"

	"github.com/contextosai/packgate/report/model"
	own "github.com/contextosai/packgate/report/template"
)

// contextual fills our templates with html/template, which looks where in the page each
// value stands and escapes for that place.
func contextual(t *testing.T) *template.Template {
	t.Helper()
	texts, err := htmlTexts()
	if err != nil {
		t.Fatal(err)
	}
	all := template.New("report").Funcs(template.FuncMap{
		"address": func(s string) string { return s },
		"parts":   nameParts,
		"markup":  func(s own.Markup) template.HTML { return template.HTML(s) },
	})
	for name, text := range texts {
		for _, field := range []string{".Head", ".Source", ".Script"} {
			text = strings.ReplaceAll(text, "{{"+field+"}}", "{{markup "+field+"}}")
		}
		if _, err := all.New(name).Parse(text); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// sameByContext holds that a page has each value escaped for the place where it stands.
func sameByContext(t *testing.T, all *template.Template, r *model.Report) {
	t.Helper()
	set, err := loadHTML()
	if err != nil {
		t.Fatal(err)
	}
	packs := r.Packs.Urgent()
	view := func() *htmlView {
		v := newHTMLView(r)
		v.program = program(packs)
		return v
	}
	a, b := view(), view()
	for i := -1; i <= packs.Len(); i++ {
		name, data := "top", func(v *htmlView) any { return v.page(packs) }
		switch {
		case i == packs.Len():
			name, data = "bottom", func(v *htmlView) any { return v.bottom() }
		case i >= 0:
			name, data = "pack", func(v *htmlView) any { return v.pack(packs.At(i), i+1) }
		}
		var got, want bytes.Buffer
		if err := set.Execute(&got, name, data(a)); err != nil {
			t.Fatal(err)
		}
		if err := all.ExecuteTemplate(&want, name, data(b)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want.Bytes()) {
			at := 0
			for at < min(got.Len(), want.Len()) && got.Bytes()[at] == want.Bytes()[at] {
				at++
			}
			t.Fatalf("%s differs at byte %d:\n got %.200q\nwant %.200q", name, at, got.Bytes()[max(0, at-80):], want.Bytes()[max(0, at-80):])
		}
	}
}

// TestHTMLAddress holds that no address runs anything, and that those of the web stay what
// they are.
func TestHTMLAddress(t *testing.T) {
	all := template.Must(template.New("").Parse(`<a href="{{.}}">`))
	for _, s := range []string{"#p1", "https://github.com/a/b?x=1&y=%20%zz%2", "http://h/a b\"'<>()|\\^`{}é\x00+", "#\n", "https://h/%", "https://h/%a"} {
		var want bytes.Buffer
		if err := all.Execute(&want, s); err != nil {
			t.Fatal(err)
		}
		if got := `<a href="` + htmlText(htmlAddress(s)) + `">`; got != want.String() {
			t.Errorf("%q is %s, wanted %s", s, got, want.String())
		}
	}
	for _, s := range []string{"javascript:alert(1)", "JAVASCRIPT:alert(1)", " javascript:alert(1)", "data:text/html,x", "vbscript:x", "//host", "", "HTTPS://h"} {
		if got := htmlAddress(s); got != "#" {
			t.Errorf("%q leads to %q", s, got)
		}
	}
}
