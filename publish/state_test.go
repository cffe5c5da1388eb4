package publish

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSavedState(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "state", "publish")
	state, err := OpenState(folder)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenState(folder); err != nil {
		t.Errorf("opened again: %v", err)
	}
	if b, err := os.ReadFile(filepath.Join(folder, ".gitignore")); err != nil || string(b) != "*\n" {
		t.Errorf(".gitignore %q, error %v", b, err)
	}
	file := filepath.Join(folder, support+"@1.0.0.json")
	cases := map[string]struct {
		change func(t *testing.T)
		resign bool
	}{
		"used":      {func(*testing.T) {}, false},
		"damaged":   {func(t *testing.T) { write(t, file, []byte("{")) }, true},
		"empty":     {func(t *testing.T) { write(t, file, nil) }, true},
		"of others": {func(t *testing.T) { edit(t, file, `"manifest":"sha256:`, `"manifest":"sha512:`) }, true},
		"format":    {func(t *testing.T) { edit(t, file, "v1", "v0") }, true},
		"tampered":  {func(t *testing.T) { edit(t, file, `"bundle":"`, `"bundle":"AAAA`) }, true},
		"report":    {func(t *testing.T) { edit(t, file, `"report":"`, `"report":"AAAA`) }, true},
		"a folder": {func(t *testing.T) {
			if err := errors.Join(os.Remove(file), os.Mkdir(file, 0o700)); err != nil {
				t.Fatal(err)
			}
		}, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			h := newHost(t, false)
			w := worldOf(t, h, h.base(), "")
			interrupted(t, w, state, file)
			c.change(t)
			p := w.publisher()
			p.State = state
			r, err := p.Publish(t.Context(), candidate("1.0.0", ""))
			w.must(err)
			if resigned := w.signed.Load() == 2; resigned != c.resign || c.resign != (len(r.Notes) > 0) {
				t.Errorf("%d signatures, notes %q, wanted a new one: %v", w.signed.Load(), r.Notes, c.resign)
			}
			if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the state file is there after publishing: %v", err)
			}
			if v := w.verify("1.0.0"); v.Status != Usable {
				t.Errorf("verdict %+v", v)
			}
		})
	}
	left, err := os.ReadDir(folder)
	if err != nil || len(left) != 1 {
		t.Errorf("the folder has %v, error %v, wanted .gitignore alone", left, err)
	}
}

// interrupted publishes while the registry takes nothing, so that what was signed
// is kept.
func interrupted(t *testing.T, w *world, state *StateFolder, file string) {
	t.Helper()
	w.host.on(func(_ int64, rw http.ResponseWriter, r *http.Request, _ http.Handler) bool {
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			return false
		}
		http.Error(rw, "away", http.StatusServiceUnavailable)
		return true
	})
	p := w.publisher()
	p.State = state
	_, err := p.Publish(t.Context(), candidate("1.0.0", ""))
	var unfinished *Unfinished
	if !errors.As(err, &unfinished) || unfinished.Step != StepPushed || unfinished.State != file {
		t.Fatalf("error %v, wanted that it is unfinished, with the state in %s", err, file)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("state file: %v, error %v", info, err)
	}
	w.host.on(nil)
}

func TestStateFolderThatCannotBe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, nil)
	if _, err := OpenState(filepath.Join(file, "state")); !errors.Is(err, ErrState) {
		t.Errorf("error %v, wanted %v", err, ErrState)
	}
}

func write(t *testing.T, name string, b []byte) {
	t.Helper()
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func edit(t *testing.T, name, old, text string) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(b), old, text, 1)
	if changed == string(b) {
		t.Fatalf("%q is not in the file", old)
	}
	write(t, name, []byte(changed))
}
