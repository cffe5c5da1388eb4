package cli

import (
	"cmp"
	"errors"

	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/publish"
	"github.com/contextosai/packgate/publish/attest"
	"github.com/contextosai/packgate/publish/registry"
)

// Hints that several kinds of failure share.
const (
	tryLater    = "run it again later"
	askRegistry = "ask who runs the registry"
	distrust    = "do not use it, unless you know who signed it and trust them"
)

// nextSteps are what to do about each kind of failure, for errors that say nothing
// themselves. The first that fits counts, so kinds that are put around others stand last.
var nextSteps = []struct {
	kind error
	hint string
}{
	{github.ErrNotActions, "run it in a job of GitHub Actions, or use packgate check"},
	{github.ErrRefused, "run it on pull_request, push or merge_group"},
	{github.ErrUnknownEvent, "run it on pull_request, push or merge_group"},
	{github.ErrPayload, "run the job again, and look at what sets GITHUB_EVENT_PATH where that does not help"},
	{github.ErrNoRepository, "run it inside a git repository"},
	{github.ErrUnsupported, "use a plain SHA-1 repository, as actions/checkout makes it"},
	{github.ErrIncomplete, "check out without a filter"},
	{github.ErrUnknownRevision, "name a commit, a branch or a tag of this clone, or fetch it first"},
	{github.ErrBaseUnreadable, "fetch the commit that is compared with, for example with fetch-depth: 0"},
	{github.ErrTooLarge, "make it smaller, or divide it"},
	{github.ErrForbidden, "add the permission to the job, or give a token that has it"},
	{github.ErrNotFound, "check the name, and that the token may see it"},
	{github.ErrRateLimited, tryLater},
	{github.ErrUnavailable, tryLater},
	{github.ErrTooLong, "make the text shorter"},
	{github.ErrRejected, "look at what GitHub answered, and change what was asked for"},
	{github.ErrNoPullRequest, "propose the change in a pull request"},
	{github.ErrArtifact, "upload the report file alone, as the first workflow of the documentation does"},

	{registry.ErrName, "write the name as REGISTRY/PATH/PACK_ID:VERSION, or PACK_ID@VERSION"},
	{registry.ErrNotFound, "check the reference; packgate log PACK_ID lists the versions"},
	{registry.ErrUnauthorized, "log in to the registry"},
	{registry.ErrForbidden, "ask for the right to do it, or use other credentials"},
	{registry.ErrUnavailable, tryLater},
	{registry.ErrContent, "do not use what the registry serves; " + askRegistry},
	{registry.ErrForeign, "check the reference: it names something that packgate did not publish"},
	{registry.ErrMoved, "publish from one job at a time, and run it again"},
	{registry.ErrUnsupported, askRegistry + " for it, or name what is meant"},
	{registry.ErrRefused, "look at what the registry answered; " + askRegistry},
	{registry.ErrStorage, "check the folder, its owner and the space that is left"},

	{attest.ErrMalformed, "check that it is the file that is meant, and whole"},
	{attest.ErrSignature, "do not use it: it was changed after it was signed, or signed with another key"},
	{attest.ErrIssuer, distrust},
	{attest.ErrWorkflow, distrust},
	{attest.ErrRepository, distrust},
	{attest.ErrTrigger, distrust},
	{attest.ErrCertificate, distrust},
	{attest.ErrTimestamp, distrust},
	{attest.ErrLog, distrust},
	{attest.ErrSCT, distrust},
	{attest.ErrUntrusted, distrust},
	{attest.ErrToken, "give the job id-token: write, or sign with a key"},
	{attest.ErrRefusedBySigning, "check that the signing config names the services that accept this run's identity"},
	{attest.ErrUnavailable, tryLater},

	{publish.ErrCandidate, "correct the pack, and check it again before publishing"},
	{publish.ErrRef, "name a version of this registry, as PACK_ID@VERSION or by its digest"},
	{publish.ErrNotPublished, "publish it first, or name a version that is published"},
	{publish.ErrRefused, "look at the state of the version with packgate verify"},
	{publish.ErrRevoked, "publish another content under another version"},
	{publish.ErrMoved, "look at what was changed, and run it again"},
	{publish.ErrSigned, "do not publish it, and report it: nothing but the signer could have changed it"},
	{publish.ErrLost, "run it again, and look at the registry where that does not help"},
	{publish.ErrState, "name a folder that this user may write to, or remove what is in it"},
	{publish.ErrStep, "mend what is named, and run it again: what is done is not done twice"},
}

// nextStep returns what to do about an error: what the machine needs, what the error
// says itself, or what helps against its kind. It is "" for an error of no known kind.
func nextStep(err error, own string) string {
	if hint := cmp.Or(remedy(err), own); hint != "" {
		return hint
	}
	for _, n := range nextSteps {
		if errors.Is(err, n.kind) {
			return n.hint
		}
	}
	return ""
}
