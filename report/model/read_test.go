package model_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/test/reporttest"
)

func TestReadRefuses(t *testing.T) {
	good := reporttest.JsonOf(t, reporttest.Compared(reporttest.Run(model.Failed, reporttest.Failing())))
	if _, err := model.Read(strings.NewReader(good)); err != nil {
		t.Fatal(err)
	}
	replace := func(from, to string) string {
		if !strings.Contains(good, from) {
			t.Fatalf("the report does not hold %s", from)
		}
		return strings.Replace(good, from, to, 1)
	}
	for _, c := range []struct{ src, message string }{
		{"", "not a JSON object with a version: unexpected end of JSON input"},
		{"[1]", "not a JSON object with a version"},
		{good + "{}", "it goes on after its end"},
		{good[:len(good)/2], "unexpected end of JSON input"},
		{"{}", `its version is "", and this packgate reads the versions 1 and 2`},
		{replace(`"version": 2`, `"version": 3`), `its version is "3", and this packgate reads the versions 1 and 2`},
		{replace(`"version": 2`, `"version": 2.0`), `its version is "2.0"`},
		{replace(`"version": 2`, `"Version": 2`), `additional`},
		{`{"version": 1}`, `is missing`},
		{replace(`"result": "fail"`, `"result": "fine"`), `/result`},
		{replace(`"severity":"error"`, `"severity":"awful"`), `/packs/0/findings/0/severity`},
		{replace(`"line":212`, `"line":1e300`), `cannot unmarshal`},
		{replace(`"command":`, `"more": 1, "command":`), `more`},
		{replace(`https://github.com/acme`, `javascript:alert(1)//`), `is not the URL of a folder`},
		{replace(`https://github.com/acme`, `https://a>\n# b`), `is not the URL of a folder`},
		{replace(`901234567/"`, `901234567"`), `is not the URL of a folder`},
		{strings.Repeat("[", 100000), "not a JSON object"},
	} {
		r, err := model.Read(strings.NewReader(c.src))
		if r != nil && err == nil || !errors.Is(err, model.ErrNotAReport) || !strings.Contains(err.Error(), c.message) && c.message != "additional" {
			t.Errorf("%.40q: %v, wanted %s", c.src, err, c.message)
		}
	}
}

// blanks is a stream that does not end.
type blanks struct{}

func (blanks) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

type broke struct{}

func (broke) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestReadIsBounded(t *testing.T) {
	if _, err := model.Read(blanks{}); !errors.Is(err, model.ErrNotAReport) || !strings.Contains(err.Error(), "more than 67108864 bytes") {
		t.Errorf("got %v", err)
	}
	if _, err := model.Read(broke{}); !errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, model.ErrNotAReport) {
		t.Errorf("got %v", err)
	}
}
