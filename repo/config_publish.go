package repo

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/contextosai/packgate/pack"
	"oras.land/oras-go/v2/registry"
)

// Publish says where packs are published and what their signatures must carry.
type Publish struct {
	pack.Part
	// Registry is an OCI registry with or without a repository in it
	// ("ghcr.io/acme/packs"), or LayoutPrefix and a folder.
	Registry pack.Text `json:"registry"`
	Identity Identity  `json:"identity"`
	// Earlier are who signed before the identity did.
	Earlier pack.List[Identity] `json:"earlier"`
	// SigningConfig and TrustedRoot name files of a private Sigstore, relative to
	// the folder of the config; without a node they are those of the public one.
	SigningConfig pack.Text `json:"signing_config"`
	TrustedRoot   pack.Text `json:"trusted_root"`
	Freshness     Freshness `json:"freshness"`
}

// Identity is who has to have signed.
type Identity struct {
	pack.Part
	Issuer       pack.Text `json:"issuer"`
	Workflow     pack.Text `json:"workflow"`
	Repository   pack.Text `json:"repository"`
	RepositoryID pack.Text `json:"repository_id"`
	OwnerID      pack.Text `json:"owner_id"`
	Until        pack.Text `json:"until"` // when an earlier identity ended, RFC 3339; without a node it has no end
}

// Ended returns when an earlier identity ended; zero where it has no end, and where it says what
// is no time, which is a problem of its own.
func (i Identity) Ended() time.Time {
	t, err := time.Parse(time.RFC3339, i.Until.Value)
	if err != nil {
		return time.Time{}
	}
	return t
}

// LayoutPrefix begins the name of a registry that is a folder, with an OCI image
// layout for each pack.
const LayoutPrefix = "oci:"

// What is intended where a config does not say another: the server of a workflow, and
// the issuer of the tokens of its runs.
const (
	githubServer = "https://github.com/"
	githubIssuer = "https://token.actions.githubusercontent.com"
)

// WorkflowURI returns the address that the certificate of a signature must name,
// https://github.com/OWNER/REPOSITORY/PATH@REF; "" where the config names none.
func (i Identity) WorkflowURI() string { return onServer(i.Workflow.Value) }

// RepositoryURI returns the address of the repository that the certificate must
// name. Where the config names none it is that of the workflow; "" without either.
func (i Identity) RepositoryURI() string {
	if i.Repository.Value != "" {
		return onServer(i.Repository.Value)
	}
	repository, _, found := strings.Cut(i.WorkflowURI(), "/.github/workflows/")
	if !found {
		return ""
	}
	return repository
}

func onServer(name string) string {
	if name == "" || strings.HasPrefix(name, "https://") {
		return name
	}
	return githubServer + name
}

// The words of the hints that more than one check gives.
const (
	workflowHint   = "write owner/repository/.github/workflows/FILE.yml@refs/heads/BRANCH, with https:// and the server before it for GitHub Enterprise"
	repositoryHint = "write owner/repository, with https:// and the server before it for GitHub Enterprise"
	registryHint   = "write a registry such as ghcr.io/acme/packs, or oci: and a folder"
)

// checkPublish checks what the schema cannot say of the sections publish and evaluator.
func (c *Config) checkPublish() (problems Problems) {
	p := &c.Publish
	type check struct {
		pack.Text
		problem func(string) *Problem
	}
	checks := []check{
		{p.Registry, checkRegistry},
		{p.SigningConfig, checkTrustFile},
		{p.TrustedRoot, checkTrustFile},
		{p.Identity.Issuer, checkIssuer},
		{p.Identity.Workflow, checkWorkflow},
		{p.Identity.Repository, checkRepository},
		{p.Freshness.Workflow, checkWorkflow},
		{c.Evaluator.Issuer, checkIssuer},
		{c.Evaluator.Workflow, checkWorkflow},
		{c.Evaluator.Repository, checkRepository},
	}
	for _, e := range p.Earlier.Items {
		checks = append(checks, check{e.Issuer, checkIssuer}, check{e.Workflow, checkWorkflow}, check{e.Repository, checkRepository}, check{e.Until, checkTime})
	}
	problems = p.checkEarlier()
	for _, check := range checks {
		if !check.OK {
			continue
		}
		if problem := check.problem(check.Value); problem != nil {
			problems = append(problems, problem.placed(check.Node))
		}
	}
	return problems
}

// mostEarlier bounds the earlier identities: each is tried for what the present one did not sign.
const mostEarlier = 32

// checkEarlier checks the list of earlier identities as a whole.
func (p *Publish) checkEarlier() (problems Problems) {
	e := p.Earlier
	if len(e.Items) == 0 {
		return nil
	}
	switch {
	case p.Identity.WorkflowURI() == "":
		problems = append(problems, Problemf("add identity: {workflow: …} to publish", "publish.earlier lists who signed before publish.identity did, and publish names none").placed(e.Node))
	case len(e.Items) > mostEarlier:
		problems = append(problems, Problemf("leave out those of which no version is in use", "publish.earlier has %d identities, wanted at most %d", len(e.Items), mostEarlier).placed(e.Node))
	}
	fresh, _, _ := strings.Cut(p.Freshness.WorkflowURI(), "@")
	for _, one := range e.Items {
		switch file, _, _ := strings.Cut(one.WorkflowURI(), "@"); {
		case one.WorkflowURI() == p.Identity.WorkflowURI() && one.RepositoryURI() == p.Identity.RepositoryURI():
			problems = append(problems, Problemf("remove it", "the earlier workflow %q is that of publish.identity", one.Workflow.Value).placed(one.Workflow.Node))
		case fresh != "" && file == fresh:
			problems = append(problems, Problemf("let another workflow file sign timestamps", "the earlier workflow %q signs timestamps: what a clock starts must not be able to publish", one.Workflow.Value).placed(one.Workflow.Node))
		}
	}
	return problems
}

// checkTime says what is wrong with a time. Whether it is one, the schema says.
func checkTime(text string) *Problem {
	if _, err := time.Parse(time.RFC3339, text); err != nil {
		return Problemf("write it such as 2026-11-26T12:00:00Z", "the time is %q", text)
	}
	return nil
}

// checkRegistry says what is wrong with the name of a registry, whose grammar is
// that of the OCI distribution specification ("Pulling manifests").
func checkRegistry(name string) *Problem {
	if folder, ok := strings.CutPrefix(name, LayoutPrefix); ok {
		return checkLayout(folder)
	}
	host, repository, nested := strings.Cut(name, "/")
	switch {
	case strings.Contains(name, "://"):
		_, plain, _ := strings.Cut(name, "://")
		return Problemf(fmt.Sprintf("write %q", strings.ToLower(plain)), "the registry %q begins with a scheme", name)
	case strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' }):
		return Problemf(registryHint, "the registry %q has a blank in it", name)
	case strings.ToLower(name) != name:
		return Problemf(fmt.Sprintf("write %q", strings.ToLower(name)), "the registry %q has capital letters, which registries do not take", name)
	case strings.Contains(name, "@"):
		return Problemf("leave out what begins with @", "the registry %q names a digest or a user", name)
	case strings.Contains(repository, ":"):
		return Problemf("leave out the tag: each version gets its own", "the registry %q has a tag", name)
	case strings.HasSuffix(name, "/"):
		return Problemf(fmt.Sprintf("write %q", strings.TrimRight(name, "/")), "the registry %q ends with a slash", name)
	case host != "localhost" && !strings.ContainsAny(host, ".:"):
		return Problemf(registryHint, "the registry %q has no host, such as ghcr.io", name)
	}
	r := registry.Reference{Registry: host, Repository: repository}
	if err := r.ValidateRegistry(); err != nil {
		return Problemf(registryHint, "the registry %q begins with %q, which is not a host", name, host)
	}
	if err := r.ValidateRepository(); nested && err != nil {
		return Problemf("use lower case letters, digits and single separators . _ - between them",
			"the registry %q has the path %q, which OCI registries do not take", name, repository)
	}
	return nil
}

// checkLayout says what is wrong with the folder of a registry. One that is written
// from the root of the file system is intended; a relative one stays in the repository.
func checkLayout(folder string) *Problem {
	switch {
	case folder == "":
		return Problemf("write oci: and a folder, such as oci:./registry", "the registry %q names no folder", LayoutPrefix)
	case strings.ContainsAny(folder, "\x00\\"):
		return Problemf("separate folders by /", "the folder %q has a character that a path cannot have", folder)
	case path.IsAbs(folder) || filepath.IsAbs(folder):
		return nil
	case !filepath.IsLocal(filepath.FromSlash(path.Clean(folder))):
		return Problemf("name a folder below the root of the repository, or one from the root of the file system",
			"the folder %q points outside the repository", folder)
	}
	return nil
}

func checkTrustFile(name string) *Problem {
	const hint = "name a file of the repository, relative to the config"
	switch {
	case strings.Contains(name, "://"):
		return Problemf(hint, "%q is an address, wanted a file", name)
	case strings.ContainsAny(name, "\x00\\") || !filepath.IsLocal(filepath.FromSlash(path.Clean(name))):
		return Problemf(hint, "%q is not a path relative to the config", name)
	}
	return nil
}

// checkIssuer says what is wrong with an issuer, which OpenID Connect Core 1.0
// (section 2, iss) wants to be an https address without query and fragment.
func checkIssuer(issuer string) *Problem {
	const issuerHint = "write the issuer as its tokens have it; GitHub's is " + githubIssuer
	if _, err := serverAddress(issuer); err != nil {
		return Problemf(issuerHint, "the issuer %q %v", issuer, err)
	}
	// Issuers are compared as they are, and some have a slash at their end.
	if issuer != githubIssuer && strings.EqualFold(strings.TrimRight(issuer, "/"), githubIssuer) {
		return Problemf(issuerHint, "the issuer %q is not written as GitHub's tokens have it", issuer)
	}
	return nil
}

// serverAddress reads an https address; plain http is for a server on this machine.
func serverAddress(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Host == "" || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' }):
		return nil, errors.New("is not an address, wanted one such as https://host")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.ForceQuery:
		return nil, errors.New("has a user, a query or a fragment in it")
	case u.Scheme == "https" || u.Scheme == "http" && isLoopback(u.Hostname()):
		return u, nil
	}
	return nil, fmt.Errorf("begins with %q, wanted https://", u.Scheme+"://")
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Names as GitHub makes them: of accounts, of repositories, of workflow files and
// of branches (git-check-ref-format, as far as it matters to a comparison).
const (
	accountForm    = `[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?`
	repositoryForm = accountForm + `/[A-Za-z0-9._-]+`
)

var (
	repositoryName = form(`^` + repositoryForm + `$`)
	workflowName   = form(`^` + repositoryForm + `/\.github/workflows/[^/@\s]+\.ya?ml@refs/heads/[^\s~^:?*\[\\]+$`)
	workflowFile   = form(`^[^@]*/\.github/workflows/[^/@]+\.ya?ml(@|$)`)
)

// form returns an expression that is compiled when it is first asked for.
func form(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// checkWorkflow says which part of a workflow's name is not as a certificate
// has it.
func checkWorkflow(name string) *Problem {
	short, problem := withoutServer(name, workflowHint)
	if problem != nil {
		return problem
	}
	file, ref, hasRef := strings.Cut(short, "@")
	switch {
	case workflowName().MatchString(short):
		return nil
	case !workflowFile().MatchString(short):
		return Problemf(workflowHint, "the workflow %q names no file of .github/workflows in a repository", name)
	case !hasRef:
		return Problemf(fmt.Sprintf("write %q, or the branch that is published from", file+"@refs/heads/main"), "the workflow %q has no ref", name)
	case !strings.HasPrefix(ref, "refs/"):
		return Problemf(fmt.Sprintf("write %q", file+"@refs/heads/"+ref), "the workflow %q has the ref %q, wanted it in full", name, ref)
	case !strings.HasPrefix(ref, "refs/heads/"):
		return Problemf("name the branch that is published from, as refs/heads/BRANCH", "the workflow %q has the ref %q, wanted a branch: packgate signs on branches alone", name, ref)
	}
	return Problemf(workflowHint, "the workflow %q is not as a certificate names one", name)
}

func checkRepository(name string) *Problem {
	short, problem := withoutServer(name, repositoryHint)
	if problem == nil && !repositoryName().MatchString(short) {
		return Problemf(repositoryHint, "the repository %q is not as a certificate names one", name)
	}
	return problem
}

// withoutServer returns a name without the server that may be before it.
func withoutServer(name, hint string) (string, *Problem) {
	if !strings.Contains(name, "://") {
		return name, nil
	}
	rest, ok := strings.CutPrefix(name, "https://")
	if !ok {
		return "", Problemf(hint, "%q begins with another scheme than https://", name)
	}
	_, short, _ := strings.Cut(rest, "/")
	if _, err := serverAddress(name); err != nil {
		return "", Problemf(hint, "%q %v", name, err)
	}
	return short, nil
}
