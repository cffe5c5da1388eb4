package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/publish"
	"github.com/contextosai/packgate/publish/registry"
)

// What the machine needs comes before what an error says, and that before what helps
// against its kind. An error around another of a known kind has the inner one's step.
func TestNextStep(t *testing.T) {
	unknown := &fault.Error{Kind: github.ErrUnknownRevision, Message: "revision is not known"}
	outer := &fault.Error{Kind: publish.ErrStep, Message: "failed", Cause: &fault.Error{Kind: registry.ErrUnauthorized, Message: "no"}}
	for _, c := range []struct {
		err  error
		want string
	}{
		{&fault.Error{Kind: registry.ErrStorage, Message: "write", Hint: "own", Cause: fs.ErrPermission}, nextStep(fs.ErrPermission)},
		{fmt.Errorf("open: %w", &fault.Error{Kind: github.ErrUnknownRevision, Message: "revision is not known", Hint: "own"}), "own"},
		{unknown, "name a commit, a branch or a tag of this clone, or fetch it first"},
		{outer, "log in to the registry"},
		{errors.New("other"), ""},
	} {
		if got := nextStep(c.err); got != c.want {
			t.Errorf("%v: %q, wanted %q", c.err, got, c.want)
		}
	}
	if p := problemsOf(unknown); len(p) != 1 || p[0].Hint == "" {
		t.Errorf("it is shown as %+v", p)
	}
}
