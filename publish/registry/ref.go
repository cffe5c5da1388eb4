package registry

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/opencontainers/go-digest"
	"oras.land/oras-go/v2/registry"
)

var (
	// packPattern is a component of a repository's name and tagPattern a tag (OCI
	// distribution specification 1.1, "Pulling manifests").
	packPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$`) })
	tagPattern  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`) })
	// ownPattern is a tag that packgate writes: of a version, of one manifest of a
	// version, or of an environment.
	ownPattern = sync.OnceValue(func() *regexp.Regexp {
		const number = `(?:0|[1-9][0-9]*)`
		return regexp.MustCompile(`^(?:(` + number + `\.` + number + `\.` + number + `)(-[0-9a-f]{12})?|` + pinPrefix + `(.+))$`)
	})
)

const (
	layoutPrefix = "oci:"
	pinPrefix    = "env-"
	maxName      = 255 // what registries commonly allow for host and repository together
	shortDigest  = 12  // how much of a digest a content tag shows
)

// Ref names something in a registry: a version, a digest, a version that must have a
// digest, or another tag.
type Ref struct {
	Registry string // ghcr.io/acme/packs or oci:FOLDER
	Pack     string // pack_id
	Version  string // MAJOR.MINOR.PATCH, where the reference names a version
	Digest   string // of the manifest, where the reference names one
	Tag      string // a pin, a content tag or that of a bundle (Version is then set too); "" with the tag of a version
}

// Build returns the tag of the bundle that the reference names; false where it names none.
func (r Ref) Build() (BuildTag, bool) { return ReadBuildTag(r.Tag) }

// ParseRef reads a reference. Written short it starts with the pack_id and is looked
// for in defaultRegistry: ctxpack.support@1.2.0, ctxpack.support@env-prod,
// ctxpack.support@sha256:…. Written out it starts with the registry:
// ghcr.io/acme/packs/ctxpack.support:1.2.0, …:env-prod, …@sha256:…,
// …:1.2.0@sha256:…, oci:./registry/ctxpack.support:1.2.0. A bundle of an environment is
// ctxpack.support@1.2.0+prod.3 or …:1.2.0_prod.3. An error is of kind ErrName;
// a pack without version, tag or digest is one.
func ParseRef(s, defaultRegistry string) (Ref, error) {
	base, name := defaultRegistry, s
	if slash := strings.LastIndexByte(s, '/'); slash >= 0 {
		base, name = s[:slash], s[slash+1:]
	} else if strings.HasPrefix(s, layoutPrefix) {
		return Ref{}, refError(s, "it names no folder", "write oci:FOLDER/PACK_ID:VERSION")
	}
	parsed, err := parseBase(base)
	if err != nil {
		return Ref{}, err
	}
	ref := Ref{Registry: parsed.String()}
	var tag, at string
	name, at, hasAt := strings.Cut(name, "@")
	name, tag, hasTag := strings.Cut(name, ":")
	ref.Pack = name
	if err := checkPack(name); err != nil {
		return Ref{}, err
	}
	if !hasAt && !hasTag {
		return Ref{}, refError(s, "it names no version",
			fmt.Sprintf("add the version, as in %s@1.2.0, or the digest", name))
	}
	if hasTag {
		if err := ref.setTag(s, tag); err != nil {
			return Ref{}, err
		}
	}
	switch {
	case !hasAt:
	case strings.Contains(at, ":"):
		if err := checkDigest(at); err != nil {
			return Ref{}, refError(s, fmt.Sprintf("%q is not a digest", at), "write sha256: and 64 lower-case hexadecimal digits")
		}
		ref.Digest = at
	case hasTag:
		return Ref{}, refError(s, fmt.Sprintf("%q after the tag is not a digest", at), "name the version once")
	default:
		if err := ref.setTag(s, at); err != nil {
			return Ref{}, err
		}
	}
	return ref, nil
}

// setTag takes a version, a content tag or a pin. Any other tag is refused: packgate
// never writes one, so whatever is under it was put there by someone else.
func (r *Ref) setTag(s, name string) error {
	text := name
	if version, bundle, ok := strings.Cut(name, "+"); ok && isVersion(version) {
		text = version + "_" + bundle // a tag cannot have the plus of a name
	}
	if t, ok := ReadBuildTag(text); ok {
		r.Version, r.Tag = t.Version, t.String()
		return nil
	}
	tag, ours := ReadTag(name)
	if !ours || !tagPattern().MatchString(name) {
		return refError(s, fmt.Sprintf("%q is neither a version nor a pin", name),
			"write a version such as 1.2.0, a bundle such as 1.2.0+prod.3, a digest such as sha256:…, or env- and the name of an environment")
	}
	if r.Version = tag.Version; tag.Version != name {
		r.Tag = name
	}
	return nil
}

// Tag is a tag of packgate's.
type Tag struct {
	Version     string // of a version tag or a content tag
	Content     bool   // whether it is a content tag
	Environment string // of a pin
}

// ReadTag tells what a tag is; false for one that is none of packgate's.
func ReadTag(name string) (Tag, bool) {
	m := ownPattern().FindStringSubmatch(name)
	if m == nil {
		return Tag{}, false
	}
	return Tag{Version: m[1], Content: m[2] != "", Environment: m[3]}, true
}

// String returns the reference written out. ParseRef reads it back to the same Ref.
func (r Ref) String() string {
	s := strings.TrimSuffix(r.Registry, "/") + "/" + r.Pack
	if tag := r.Name(); tag != "" {
		s += ":" + tag
	}
	if r.Digest != "" {
		s += "@" + r.Digest
	}
	return s
}

// Name returns the tag that the reference names, "" where it names a digest alone.
func (r Ref) Name() string {
	return cmp.Or(r.Tag, r.Version)
}

// ContentTag returns the tag that belongs to one manifest of a version: the version
// and the first twelve digits of the manifest's digest. Two publishers of different
// content cannot collide in it.
func ContentTag(version, manifestDigest string) string {
	hex := strings.TrimPrefix(manifestDigest, "sha256:")
	return version + "-" + hex[:min(len(hex), shortDigest)]
}

// PinTag returns the tag that points at what an environment uses. An error is of kind
// ErrName where the name of the environment cannot be part of a tag.
func PinTag(environment string) (string, error) {
	tag := pinPrefix + environment
	if environment == "" || !tagPattern().MatchString(tag) {
		return "", &fault.Error{Kind: ErrName,
			Message: fmt.Sprintf("environment %q cannot be part of a tag, wanted 1 to %d of the characters A-Z a-z 0-9 . _ -", environment, 128-len(pinPrefix)),
			Hint:    "rename the environment"}
	}
	return tag, nil
}

func refError(s, what, hint string) *fault.Error {
	return &fault.Error{Kind: ErrName, Message: fmt.Sprintf("reference %q cannot be read: %s", s, what), Hint: hint}
}

// base is the place that packs are kept in.
type base struct {
	host, path string // of a registry; path may be empty
	folder     string // of layouts; where it is not empty there is no host
}

func (b base) String() string {
	switch {
	case b.folder != "":
		return layoutPrefix + b.folder
	case b.path != "":
		return b.host + "/" + b.path
	}
	return b.host
}

// parseBase reads the place of packs: ghcr.io/acme/packs or oci:FOLDER.
func parseBase(s string) (base, error) {
	bad := func(what, hint string) (base, error) {
		return base{}, &fault.Error{Kind: ErrName, Message: fmt.Sprintf("registry %q cannot be used: %s", s, what), Hint: hint}
	}
	const example = "write it as in ghcr.io/acme/packs, or oci:FOLDER for a folder"
	if folder, ok := strings.CutPrefix(s, layoutPrefix); ok {
		trimmed := strings.TrimRight(folder, "/")
		if trimmed == "" || !utf8.ValidString(folder) || strings.ContainsFunc(folder, unicode.IsControl) {
			return bad("it names no folder", "write the folder after oci:, as in oci:./registry")
		}
		return base{folder: trimmed}, nil
	}
	host, path, _ := strings.Cut(s, "/")
	last := s[strings.LastIndexByte(s, '/')+1:]
	switch {
	case s == "":
		return bad("it is empty", example)
	case strings.Contains(s, "://"):
		return bad("it starts with a scheme", "leave out everything up to //")
	case strings.ContainsRune(s, '@') || path != "" && strings.ContainsRune(last, ':'):
		return bad("it has a tag, a digest or a user in it", example)
	case s != strings.ToLower(s):
		return bad("it has upper-case letters", fmt.Sprintf("write it in lower case: %q", strings.ToLower(s)))
	case strings.HasSuffix(s, "/"):
		return bad("it ends with a slash", example)
	case !strings.ContainsAny(host, ".:") && host != "localhost":
		return bad(fmt.Sprintf("%q is not a host", host), "start with the host of the registry, as in ghcr.io/acme/packs")
	case len(s) > maxName:
		return bad(fmt.Sprintf("it has %d characters, wanted at most %d", len(s), maxName), "")
	}
	ref := registry.Reference{Registry: host, Repository: path}
	if ref.ValidateRegistry() != nil {
		return bad(fmt.Sprintf("%q is not a host", host), example)
	}
	if path != "" && ref.ValidateRepository() != nil {
		return bad(fmt.Sprintf("%q is not a name of a repository", path), "use a-z and 0-9, with single . _ or - between them, and / between the parts")
	}
	return base{host: host, path: path}, nil
}

// checkPack says whether a pack_id can be the last part of a repository's name, and
// where it cannot, why not. Contract schemas allow more than registries do.
func checkPack(packID string) error {
	if packID == StatusName {
		return &fault.Error{Kind: ErrName, Message: fmt.Sprintf("pack_id %q is the name under which packgate keeps the status of all packs", packID), Hint: "use another pack_id"}
	}
	if len(packID) <= maxName/2 && packPattern().MatchString(packID) {
		return nil
	}
	what := "it must start and end with a letter or a digit, with . _ __ or - between them"
	if packID == "" {
		what = "it is empty"
	} else if len(packID) > maxName/2 {
		what = fmt.Sprintf("it has %d characters, wanted at most %d", len(packID), maxName/2)
	}
	const allowed = "abcdefghijklmnopqrstuvwxyz0123456789._-"
	for _, c := range packID {
		if c >= 'A' && c <= 'Z' {
			what = fmt.Sprintf("upper-case %q is not allowed", c)
		} else if !strings.ContainsRune(allowed, c) {
			what = fmt.Sprintf("%q is not allowed", c)
		} else {
			continue
		}
		break
	}
	return &fault.Error{Kind: ErrName, Message: fmt.Sprintf("pack_id %q cannot be the name of a repository: %s", packID, what),
		Hint: "use a-z, 0-9 and single . _ or - between them in pack_id"}
}

func checkVersion(version string) error {
	if isVersion(version) && tagPattern().MatchString(version) {
		return nil
	}
	return &fault.Error{Kind: ErrName, Message: fmt.Sprintf("version %q cannot be a tag, wanted MAJOR.MINOR.PATCH", version),
		Hint: "write pack_version as three numbers without leading zeros"}
}

// isVersion says whether a text is MAJOR.MINOR.PATCH.
func isVersion(text string) bool {
	tag, _ := ReadTag(text)
	return text != "" && tag.Version == text
}

// checkDigest accepts sha256 alone: one algorithm means one digest per manifest.
func checkDigest(s string) error {
	d := digest.Digest(s)
	if err := d.Validate(); err != nil || d.Algorithm() != digest.SHA256 {
		return &fault.Error{Kind: ErrName, Message: fmt.Sprintf("%q is not a digest, wanted sha256: and 64 lower-case hexadecimal digits", s)}
	}
	return nil
}
