package repository_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
	"github.com/goccy/go-yaml"
)

// releaseVersion is the one place that says which version is released next, or was last.
func releaseVersion(t *testing.T) *semver.Version {
	t.Helper()
	v, err := semver.StrictNewVersion(strings.TrimSuffix(read(t, "VERSION"), "\n"))
	if err != nil {
		t.Fatalf("reading VERSION: %v", err)
	}
	return v
}

var (
	datedHeading = regexp.MustCompile(`(?m)^## \[(\d[^\]]*)\] - \d{4}-\d{2}-\d{2}$`)
	usedVersion  = regexp.MustCompile(`contextosai/packgate(?:/setup)?@(v[\w.-]*)`)
	saidVersion  = regexp.MustCompile(`(?:packgate@v|packgate_|packgate:|packgate packgate |release\.Version=|such as |version: )"?(\d+\.\d+\.\d+)`)
)

// The changelog's newest version is that of VERSION, and whatever names packgate's own
// version for others to copy names this one.
func TestOneVersion(t *testing.T) {
	version := releaseVersion(t)
	changelog := read(t, "CHANGELOG.md")
	m := datedHeading.FindStringSubmatch(changelog)
	if m == nil || m[1] != version.String() {
		t.Errorf("the newest version of CHANGELOG.md is %q; VERSION says %s", m, version)
	}
	if link := fmt.Sprintf("\n[%s]: https://github.com/contextosai/packgate/releases/tag/v%[1]s\n", version); !strings.Contains(changelog, link) {
		t.Errorf("CHANGELOG.md has no line %q", strings.TrimSpace(link))
	}
	major, uses := fmt.Sprintf("v%d", version.Major()), 0
	for file, text := range copied(t) {
		for _, m := range usedVersion.FindAllStringSubmatch(text, -1) {
			uses++
			if m[1] != major && m[1] != "v"+version.String() {
				t.Errorf("%s uses packgate at %s; wanted %s", file, m[1], major)
			}
		}
	}
	if uses == 0 {
		t.Error("no page and no workflow uses packgate")
	}
	said := saidVersion.FindAllStringSubmatch(read(t, filepath.Join("docs", "install.md")), -1)
	if len(said) < 5 {
		t.Errorf("docs/install.md names %d versions for others to copy; wanted 5 at least", len(said))
	}
	for _, m := range said {
		if m[1] != version.String() {
			t.Errorf("docs/install.md names the version %s; wanted %s", m[1], version)
		}
	}
}

// copied are the pages and workflows that others copy from, by file.
func copied(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{"README.md": read(t, "README.md")}
	for _, dir := range []string{"docs", "examples", "internal/scaffold", "setup"} {
		err := fs.WalkDir(os.DirFS(dir), ".", func(file string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && (d.Name() == "node_modules" || d.Name() == "dist") {
				return filepath.SkipDir
			}
			if ext := filepath.Ext(file); err == nil && !d.IsDir() && slices.Contains([]string{".md", ".yml", ".yaml", ".tmpl", ".sh"}, ext) {
				texts[dir+"/"+file] = read(t, filepath.Join(dir, filepath.FromSlash(file)))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return texts
}

const goreleaserFile = ".github/goreleaser.yaml"

// releaseConfig is the part of goreleaserFile that is used, so that a misspelt member
// is found without goreleaser, which the tests under e2e/release run.
type releaseConfig struct {
	Version     int
	Before      struct{ Hooks []string }
	ProjectName string `yaml:"project_name"`
	Builds      []struct {
		ID, Main, Binary, ModTimestamp string `yaml:",omitempty"`

		Env, Flags, Ldflags, Goos, Goarch []string
	}
	Archives  []map[string]any
	Checksum  struct{ Algorithm string }
	Sboms     []map[string]any
	Changelog struct{ Disable bool }
	Release   struct{ Disable bool }
	Snapshot  map[string]string
}

func readReleaseConfig(t *testing.T) releaseConfig {
	t.Helper()
	var c releaseConfig
	if err := yaml.Unmarshal([]byte(read(t, goreleaserFile)), &c); err != nil {
		t.Fatal(err)
	}
	if c.Version != 2 || len(c.Builds) != 1 || len(c.Archives) != 1 || c.Checksum.Algorithm != "sha256" || len(c.Sboms) != 1 {
		t.Fatalf("goreleaser.yaml is not of the form that the release takes: %+v", c)
	}
	if !c.Release.Disable || !c.Changelog.Disable {
		t.Error("goreleaser.yaml publishes; wanted that left to the workflow")
	}
	return c
}

// The release compares the program of the image with that of the archive, so both have
// to be built alike.
func TestImageAndArchiveAreBuiltAlike(t *testing.T) {
	build := readReleaseConfig(t).Builds[0]
	run := regexp.MustCompile(`(?m)^RUN (.* )go build -C /src (.*) -ldflags "([^"]*)" -o /out/packgate \.$`).FindStringSubmatch(read(t, "Dockerfile"))
	if run == nil {
		t.Fatal("the Dockerfile has no line of the form RUN … go build -C /src … -ldflags \"…\" -o /out/packgate .")
	}
	for _, env := range build.Env {
		if !strings.Contains(" "+run[1], " "+env+" ") {
			t.Errorf("the archives are built with %s, the image with %s", env, run[1])
		}
	}
	if got := strings.Join(build.Flags, " "); got != run[2] {
		t.Errorf("the archives are built with %s, the image with %s", got, run[2])
	}
	if got := strings.ReplaceAll(strings.Join(build.Ldflags, " "), "{{ .Version }}", "$VERSION"); got != run[3] {
		t.Errorf("the archives are linked with %s, the image with %s", got, run[3])
	}
	// What the tag embeds is built first, by both.
	if command := "go run ./playground/build"; !strings.Contains(read(t, goreleaserFile), "\n    - "+command+"\n") ||
		!strings.Contains(read(t, "Dockerfile"), "\nRUN go run -C /src ./playground/build\n") {
		t.Errorf("the archives and the image are not both built after %s", command)
	}
	const variable = module + "/internal/release.Version"
	declared := strings.Contains(read(t, filepath.Join("internal", "release", "release.go")), "\nvar Version string\n")
	if !declared || !strings.HasSuffix(run[3], " -X "+variable+"=$VERSION") {
		t.Errorf("the image is linked with %s; wanted -X %s=$VERSION, and that variable", run[3], variable)
	}
}

// Whatever is built can be installed and is pinned, and nothing else.
func TestSystemsOfARelease(t *testing.T) {
	build := readReleaseConfig(t).Builds[0]
	slices.Sort(build.Goos)
	installer, pin := read(t, filepath.Join("setup", "install.sh")), read(t, filepath.Join(".github", "release", "pin.sh"))
	var systems, processors []string
	for _, m := range regexp.MustCompile(`\) os=(\w+) `).FindAllStringSubmatch(installer, -1) {
		systems = append(systems, m[1])
	}
	for _, m := range regexp.MustCompile(`\) arch=(\w+) `).FindAllStringSubmatch(installer, -1) {
		processors = append(processors, m[1])
	}
	slices.Sort(systems)
	if !slices.Equal(systems, build.Goos) || !slices.Equal(processors, build.Goarch) {
		t.Errorf("setup installs for %q and %q; built is for %q and %q", systems, processors, build.Goos, build.Goarch)
	}
	for _, loop := range []string{"for os in " + strings.Join(build.Goos, " "), "for arch in " + strings.Join(build.Goarch, " ")} {
		if !strings.Contains(pin, loop+"; do\n") {
			t.Errorf("pin.sh has no loop %q", loop)
		}
	}
}

// releaseTree copies what a release changes into a folder of its own.
func releaseTree(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, file := range []string{".github/release/pin.sh", ".github/release/notes.sh", "setup/install.sh", "VERSION", "CHANGELOG.md"} {
		putScript(t, filepath.Join(dir, filepath.FromSlash(file)), read(t, filepath.FromSlash(file)))
	}
	// As on main, also where these tests run at a release.
	image := regexp.MustCompile(`(?m)^  image: .*$`)
	putScript(t, filepath.Join(dir, "action.yml"), image.ReplaceAllString(read(t, "action.yml"), "  image: Dockerfile"))
	return dir
}

func putScript(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// checksumsOf are the checksums of a release, all of them one digest.
func checksumsOf(version, digest string) string {
	var b strings.Builder
	for _, system := range []string{"windows", "linux", "darwin"} {
		for _, processor := range []string{"amd64", "arm64"} {
			fmt.Fprintf(&b, "%s  packgate_%s_%s_%s.cdx.json\n", strings.Repeat("0", 64), version, system, processor)
			fmt.Fprintf(&b, "%s  packgate_%s_%s_%s.tar.gz\n", digest, version, system, processor)
		}
	}
	return b.String()
}

func TestReleaseIsPinned(t *testing.T) {
	version, digest := releaseVersion(t).String(), strings.Repeat("ab", 32)
	good := checksumsOf(version, digest)
	for name, c := range map[string]struct{ checksums, digest, refused string }{
		"good":              {good, "sha256:" + digest, ""},
		"digest of no form": {good, "latest", "the digest is latest"},
		"archive missing":   {strings.Replace(good, "darwin_arm64.tar.gz", "plan9_arm64.tar.gz", 1), "sha256:" + digest, "darwin_arm64.tar.gz once"},
		"archive twice":     {good + good, "sha256:" + digest, "once"},
		"no digest":         {strings.ReplaceAll(good, digest, "ab"), "sha256:" + digest, "once"},
		"other version":     {checksumsOf("9.9.9", digest), "sha256:" + digest, "once"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := releaseTree(t)
			putScript(t, filepath.Join(dir, "checksums.txt"), c.checksums)
			before := read(t, filepath.Join(dir, "action.yml"))
			out, err := exec.Command("bash", filepath.Join(dir, ".github", "release", "pin.sh"), filepath.Join(dir, "checksums.txt"), c.digest).CombinedOutput()
			if c.refused != "" {
				if err == nil || !strings.Contains(string(out), c.refused) || read(t, filepath.Join(dir, "action.yml")) != before {
					t.Errorf("pin.sh ends with %v and says %q; wanted it refused, with %q", err, out, c.refused)
				}
				return
			}
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			var a actionFile
			if err := yaml.UnmarshalWithOptions([]byte(read(t, filepath.Join(dir, "action.yml"))), &a, yaml.Strict()); err != nil {
				t.Fatal(err)
			}
			if !pinnedImage.MatchString(a.Runs.Image) || !strings.HasSuffix(a.Runs.Image, digest) {
				t.Errorf("the action runs %q", a.Runs.Image)
			}
			if got := strings.Count(read(t, filepath.Join(dir, "setup", "checksums.txt")), digest+"  packgate_"+version+"_"); got != 6 {
				t.Errorf("the checksums name %d archives; wanted 6", got)
			}
		})
	}
}

func TestReleaseNotes(t *testing.T) {
	dir := releaseTree(t)
	notes := func() (string, error) {
		out, err := exec.Command("bash", filepath.Join(dir, ".github", "release", "notes.sh")).CombinedOutput()
		return string(out), err
	}
	putScript(t, filepath.Join(dir, "VERSION"), "1.2.0\n")
	putScript(t, filepath.Join(dir, "CHANGELOG.md"), "# Changelog\n\n## [Unreleased]\n\n- later\n\n## [1.2.0] - 2026-01-02\n\n### Added\n\n- this\n\n## [1.1.0] - 2025-01-02\n\n- before\n\n[1.2.0]: https://example.org\n")
	if got, err := notes(); err != nil || got != "### Added\n\n- this\n" {
		t.Errorf("the notes are %q (%v)", got, err)
	}
	putScript(t, filepath.Join(dir, "VERSION"), "1.3.0\n")
	if got, err := notes(); err == nil || !strings.Contains(got, `no section "## [1.3.0] - DATE"`) {
		t.Errorf("the notes of a version without any are %q (%v); wanted them refused", got, err)
	}
}
