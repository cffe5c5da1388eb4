package scaffold

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// Options say what the files are about. The zero value asks for those of a repository
// that has packs and workflows already.
type Options struct {
	// PackID is the pack_id of the first pack, as DefaultPackID makes one. Where it is
	// empty no pack is made, and no environment catalog.
	PackID string
	// Tenant is the tenant_id of that pack; empty for DefaultTenant of its pack_id.
	Tenant string
	// Folder is that of the pack repository, relative to the root of the git
	// repository, with forward slashes; empty for the root itself.
	Folder string
	// Owner reviews what the gate decides by, @org/team or @login; empty where nobody
	// is named yet.
	Owner string
	// Branch is the default branch; empty for main.
	Branch string
	// Workflows says whether the workflows are made, and Matrix whether the gate's is
	// one of several jobs.
	Workflows, Matrix bool
}

// prefix begins the pack_id of every pack in the contract's examples.
const prefix = "ctxpack."

// mostName bounds what is taken of the name of a folder, in bytes.
const mostName = 40

var (
	notInName = regexp.MustCompile(`[^a-z0-9]+`)
	ownerForm = regexp.MustCompile(`^(@[A-Za-z0-9][A-Za-z0-9-]*(/[A-Za-z0-9._-]+)?|[^@\s]+@[^@\s]+)$`)
	// branchForm leaves out what would have to be escaped in an expression or in YAML.
	branchForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/-]*$`)
	// tenantForm is that of the left side of a reference to a pack.
	tenantForm = regexp.MustCompile(`^[A-Za-z0-9_.:-]+$`)
)

// DefaultPackID returns the pack_id of a pack that is named after a folder: in small
// letters, with single hyphens for all that is no letter or digit. A name of which
// nothing is left gives ctxpack.support.
func DefaultPackID(folder string) string {
	name := strings.Trim(notInName.ReplaceAllString(strings.ToLower(folder), "-"), "-")
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

// ownName returns what a pack's folder is called: its pack_id without the prefix that
// all of them have.
func ownName(packID string) string {
	return strings.ReplaceAll(strings.TrimPrefix(packID, prefix), ":", "-")
}

// PackFile returns the name of the file of a pack, relative to the folder of the pack
// repository.
func PackFile(packID string) string { return path.Join("packs", ownName(packID), "pack.json") }

// Refused is an option that cannot be taken.
type Refused struct {
	Option  string // tenant, owner, branch or folder
	Message string // in the grammar of messages
	Hint    string
}

// Error returns the message.
func (r *Refused) Error() string { return r.Message }

// check returns a *Refused for the first option that cannot be taken. Whether a
// pack_id can be published is not looked at.
func (o *Options) check() error {
	refuse := func(option, value, hint string) error {
		return &Refused{Option: option, Message: fmt.Sprintf("%q cannot be the %s", value, option), Hint: hint}
	}
	switch {
	case !tenantForm.MatchString(o.Tenant) && o.Tenant != "":
		return refuse("tenant", o.Tenant, "use letters, digits and _ . : - alone")
	case !ownerForm.MatchString(o.Owner) && o.Owner != "":
		return refuse("owner", o.Owner, "name a team as @org/team, or somebody as @login")
	case !branchForm.MatchString(o.Branch) && o.Branch != "", strings.Contains(o.Branch, ".."):
		return refuse("branch", o.Branch, "name the default branch, such as main")
	case strings.Contains(o.Folder, "${{"), strings.ContainsFunc(o.Folder, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\uFFFD' }):
		return refuse("folder", o.Folder, "use a folder whose name a workflow can hold: without control characters and ${{")
	}
	return nil
}
