package scaffold

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/contextosai/packgate/repo"
)

// Options say what the files are about. The zero value asks for those of a repository
// that has packs and workflows already.
type Options struct {
	PackID            string        // the pack_id of the first pack, as DefaultPackID makes one. Where it is empty no pack is made, and no environment catalog.
	Tenant            string        // the tenant_id of that pack; empty for DefaultTenant of its pack_id
	Folder            string        // that of the pack repository, relative to the root of the git repository, with forward slashes; empty for the root itself
	Owner             string        // reviews what the gate decides by, @org/team or @login; empty where nobody is named yet
	Branch            string        // the default branch; empty for main
	Workflows, Matrix bool          // says whether the workflows are made, and Matrix whether the gate's is one of several jobs
	Packs             []string      // patterns of the packs that are there; none where they have the usual names
	Catalogs          []File        // of those packs, as Catalogs makes them, relative to Folder
	Timestamp         string        // the workflow that signs timestamps, relative to the root of the git repository; empty for none
	Refresh           time.Duration // how often it does, at least; 0 for every six hours
	// Version is the release that the workflows run, MAJOR.MINOR.PATCH, and Commit the one that its
	// tag names, "" where that is not known. Another version is no release: the newest of the
	// major version runs then.
	Version, Commit string
}

// versionForm is that of a release, and commitForm that of a commit. What a development build
// calls itself is neither.
var (
	versionForm = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$`)
	})
	commitForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{40}$`) })
)

// Tag returns the tag of the release that the workflows run.
func (o Options) Tag() string {
	if !versionForm().MatchString(o.Version) {
		return "v0"
	}
	return "v" + o.Version
}

// Action returns how workflows name the action: by the commit of its release, with the tag as a
// comment, or else by the tag. Of an exact one a comment says that it can be pinned.
func (o Options) Action() string {
	const action = "contextosai/packgate@"
	switch {
	case !versionForm().MatchString(o.Version):
		return action + o.Tag()
	case !commitForm().MatchString(o.Commit):
		return action + o.Tag() + " # packgate doctor says how to pin its commit"
	}
	return action + o.Commit + " # " + o.Tag()
}

// Cron returns the schedule of the workflow that signs timestamps: the least frequent one of even
// steps that is as often as it has to be. GitHub starts nothing at the full hour in time.
func (o Options) Cron() string {
	minutes := int(cmp.Or(o.Refresh, 6*time.Hour).Minutes())
	for _, hours := range []int{24, 12, 8, 6, 4, 3, 2, 1} {
		switch {
		case hours*60 > minutes:
		case hours == 24:
			return "41 5 * * *"
		case hours == 1:
			return "41 * * * *"
		default:
			return fmt.Sprintf("41 */%d * * *", hours)
		}
	}
	step := 30
	for _, fits := range []int{20, 15, 10} {
		if step > minutes {
			step = fits
		}
	}
	return fmt.Sprintf("%d/%d * * * *", step/2, step) // no config asks for less than ten minutes
}

// prefix begins the pack_id of every pack in the contract's examples.
const prefix = "ctxpack."

// mostName bounds what is taken of the name of a folder, in bytes.
const mostName = 40

var (
	ownerForm = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(@[A-Za-z0-9][A-Za-z0-9-]*(/[A-Za-z0-9._-]+)?|[^@\s]+@[^@\s]+)$`)
	})
	// branchForm leaves out what would have to be escaped in an expression or in YAML.
	branchForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/-]*$`) })
	// tenantForm is that of the left side of a reference to a pack.
	tenantForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_.:-]+$`) })
)

// DefaultPackID returns the pack_id of a pack that is named after a folder: in small
// letters, with single hyphens for all that is no letter or digit. A name of which
// nothing is left gives ctxpack.support.
func DefaultPackID(folder string) string {
	words := strings.FieldsFunc(strings.ToLower(folder), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	name := strings.Join(words, "-")
	if name == "" || name == strings.TrimSuffix(prefix, ".") {
		name = "support"
	}
	name = strings.TrimPrefix(name, strings.Replace(prefix, ".", "-", 1))
	return prefix + strings.TrimRight(name[:min(len(name), mostName)], "-")
}

// DefaultTenant returns the tenant_id for a pack_id: tenant_ and the pack's own name.
func DefaultTenant(packID string) string {
	return "tenant_" + strings.ReplaceAll(ownName(packID), "-", "_")
}

// ownName returns what a pack's folder is called: its pack_id without the common prefix.
func ownName(packID string) string {
	return strings.ReplaceAll(strings.TrimPrefix(packID, prefix), ":", "-")
}

// PackFile returns the name of the file of a pack, relative to the folder of the pack
// repository.
func PackFile(packID string) string { return path.Join("packs", ownName(packID), "pack.json") }

// check refuses the first option that cannot be taken, but no pack_id.
func (o *Options) check() error {
	refuse := func(option, value, hint string) error {
		return &repo.Problem{Message: fmt.Sprintf("%q cannot be the %s", value, option), Hint: hint}
	}
	switch {
	case !tenantForm().MatchString(o.Tenant) && o.Tenant != "":
		return refuse("tenant", o.Tenant, "use letters, digits and _ . : - alone")
	case !ownerForm().MatchString(o.Owner) && o.Owner != "":
		return refuse("owner", o.Owner, "name a team as @org/team, or somebody as @login")
	case !branchForm().MatchString(o.Branch) && o.Branch != "", strings.Contains(o.Branch, ".."):
		return refuse("branch", o.Branch, "name the default branch, such as main")
	case !isWorkflow(o.Timestamp) && o.Timestamp != "":
		return refuse("workflow that signs timestamps", o.Timestamp, "name a file of .github/workflows")
	case strings.Contains(o.Folder, "${{"), strings.ContainsFunc(o.Folder, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\uFFFD' }):
		return refuse("folder", o.Folder, "use a folder whose name a workflow can hold: without control characters and ${{")
	}
	return nil
}

// isWorkflow reports whether a name is that of a workflow file, of which nothing means anything in YAML.
func isWorkflow(name string) bool {
	file, ok := strings.CutPrefix(name, workflowFolder)
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
	return ok && strings.Trim(file, letters) == "" && (path.Ext(file) == ".yml" || path.Ext(file) == ".yaml")
}
