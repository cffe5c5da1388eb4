package scaffold

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/repo"
)

// Whatever a folder is called, a pack can be named after it, and be published.
func TestDefaultPackID(t *testing.T) {
	for folder, want := range map[string]string{
		"support": "ctxpack.support", "Acme Packs": "ctxpack.acme-packs", "日本": "ctxpack.support", "": "ctxpack.support", "/": "ctxpack.support",
		"..": "ctxpack.support", "ctxpack": "ctxpack.support", "ctxpack.billing": "ctxpack.billing", "-a--b-": "ctxpack.a-b", "0": "ctxpack.0", "ÄB": "ctxpack.b",
		strings.Repeat("long ", 100): "ctxpack." + strings.TrimSuffix(strings.Repeat("long-", 8), "-"),
	} {
		if got := DefaultPackID(folder); got != want {
			t.Errorf("the pack of the folder %q is %q, wanted %q", folder, got, want)
		}
	}
}

func FuzzDefaultPackID(f *testing.F) {
	for _, s := range []string{"support", "ctxpack-", "ctxpack ctxpack", "a\x00b", "\xff", "C:\\x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, folder string) {
		id := DefaultPackID(folder)
		if _, err := registry.NewArtifact(id, "1.0.0", []byte("{}")); err != nil {
			t.Errorf("%q cannot be published: %v", id, err)
		}
		if again := DefaultPackID(id); again != id {
			t.Errorf("the pack of a folder of the name %q is %q", id, again)
		}
		if err := (&Options{PackID: id, Tenant: DefaultTenant(id)}).check(); err != nil {
			t.Error(err)
		}
	})
}

func TestRefusedOptions(t *testing.T) {
	for name, o := range map[string]Options{
		"tenant": {Tenant: "a b"}, "owner": {Owner: "acme/packs"}, "branch": {Branch: "a'b"}, "folder": {Folder: "${{ x }}"}, "workflow that signs timestamps": {Timestamp: "../x.yml"},
	} {
		_, err := Files(o)
		var refused *repo.Problem
		if !errors.As(err, &refused) {
			t.Errorf("%s: got %v; wanted it refused", name, err)
		} else if !strings.Contains(refused.Message, "cannot be the "+name) || refused.Hint == "" {
			t.Errorf("%s: refused is %+v", name, refused)
		}
	}
	for _, o := range []Options{{Branch: ".."}, {Branch: "a..b"}, {Branch: "*"}, {Folder: "a\nb"}, {Owner: "@a b"}, {Owner: "@a\n* @b"}, {Tenant: "<x>"}} {
		if _, err := Files(o); err == nil {
			t.Errorf("%+v is taken; wanted it refused", o)
		}
	}
}

// The schedule is as often as it has to be, and no more often than that asks for.
func TestCron(t *testing.T) {
	for refresh, want := range map[time.Duration]string{
		0: "41 */6 * * *", 6 * time.Hour: "41 */6 * * *", 7 * time.Hour: "41 */6 * * *", 5 * time.Hour: "41 */4 * * *", 36 * time.Hour: "41 5 * * *",
		90 * time.Minute: "41 * * * *", time.Hour: "41 * * * *", 59 * time.Minute: "15/30 * * * *", 25 * time.Minute: "10/20 * * * *", 10 * time.Minute: "5/10 * * * *",
	} {
		if got := (Options{Refresh: refresh}).Cron(); got != want {
			t.Errorf("every %s it is %q, wanted %q", refresh, got, want)
		}
	}
}
