package gating

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/contextosai/packgate/repo"
)

func TestFindPlace(t *testing.T) {
	dir := t.TempDir()
	inner := filepath.Join(dir, "packs", "a")
	if err := os.MkdirAll(inner, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, repo.ConfigName), []byte("version: 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if at, err := FindPlace(inner); at.Root != dir || !at.Found || at.Scope != "packs/a" || err != nil {
		t.Errorf("got %+v, %v", at, err)
	}
	if at, err := FindPlace(filepath.Join(dir, "nowhere")); at.Found || !errors.Is(err, repo.ErrUse) {
		t.Errorf("a folder that is not there: %+v, %v", at, err)
	}
	if err := os.Remove(filepath.Join(dir, repo.ConfigName)); err != nil {
		t.Fatal(err)
	}
	if at, err := FindPlace(inner); at.Found || at.Root != inner || err != nil {
		t.Errorf("no repository: %+v, %v", at, err)
	}
}
