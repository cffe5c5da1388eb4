package e2e

import (
	"bytes"
	"debug/buildinfo"
	"debug/elf"
	"encoding/json"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/contextosai/packgate/bench/size/weight"
)

const (
	imageTag     = "localhost/packgate-e2e:test"
	imageVersion = "0.0.0-e2e"
)

// TestImage builds the Dockerfile once, looks at what came out, and runs it.
func TestImage(t *testing.T) {
	e := newEngine(t)
	e.build(t, "..", imageTag, imageVersion)
	archive := filepath.Join(t.TempDir(), "image.tar")
	e.save(t, imageTag, archive)
	img := readImage(t, archive)

	t.Run("settings", func(t *testing.T) { checkSettings(t, img.config) })
	t.Run("files", func(t *testing.T) { checkFiles(t, img) })
	t.Run("binary", func(t *testing.T) { checkBinary(t, img.files["packgate"].data) })
	t.Run("size", func(t *testing.T) { checkSize(t, img) })

	t.Run("new pack passes", func(t *testing.T) {
		w := newWorkspace(t,
			func(dir string) { write(t, filepath.Join(dir, "HELLO.md"), "packs\n") },
			func(dir string) { copyExample(t, dir) })
		o := runAction(t, e, imageTag, img, w)
		o.check(t, 0, "pass")
		o.checkReport(t, w)
		if got := o.outputs["errors"]; got != "0" {
			t.Errorf("output errors is %q; wanted 0", got)
		}
		if got := o.changedPacks(t); len(got) != 2 {
			t.Errorf("output changed-packs is %q; wanted the two packs of the example", got)
		}
	})
	t.Run("broken pack fails", func(t *testing.T) {
		w := newWorkspace(t,
			func(dir string) { copyExample(t, dir) },
			func(dir string) {
				edit(t, dir, "packs/support/pack.json", `"order_lookup"`, `"no_such_evidence"`)
				edit(t, dir, "packs/support/pack.json", `"pack_version": "1.0.0"`, `"pack_version": "2.0.0"`)
			})
		o := runAction(t, e, imageTag, img, w)
		o.check(t, 1, "fail")
		if got := o.outputs["errors"]; got == "" || got == "0" {
			t.Errorf("output errors is %q; wanted a number above 0", got)
		}
	})
	t.Run("no pack changed", func(t *testing.T) {
		w := newWorkspace(t,
			func(dir string) { copyExample(t, dir) },
			func(dir string) { write(t, filepath.Join(dir, "NOTES.md"), "nothing about packs\n") })
		o := runAction(t, e, imageTag, img, w)
		o.check(t, 0, "pass")
		if got := o.changedPacks(t); len(got) != 0 {
			t.Errorf("output changed-packs is %q; wanted an empty list", got)
		}
	})
}

// checkSettings holds GitHub's rules for docker actions: the runner decides about
// user and working directory, and the entry point does not depend on the latter.
func checkSettings(t *testing.T, c imageConfig) {
	if c.User != "" {
		t.Errorf("the image sets the user %q; wanted none", c.User)
	}
	// Some builders write the root for a Dockerfile that says nothing.
	if c.WorkingDir != "" && c.WorkingDir != "/" {
		t.Errorf("the image sets the working directory %q; wanted none", c.WorkingDir)
	}
	if len(c.Entrypoint) != 1 || !path.IsAbs(c.Entrypoint[0]) {
		t.Errorf("the entry point is %q; wanted one absolute path", c.Entrypoint)
	}
	if !slices.Equal(c.Cmd, []string{"action"}) {
		t.Errorf("the command is %q; wanted action", c.Cmd)
	}
	if got := c.Labels["org.opencontainers.image.version"]; got != imageVersion {
		t.Errorf("the version label is %q; wanted %q", got, imageVersion)
	}
}

// checkFiles holds that there is nothing in the image to attack but the binary.
func checkFiles(t *testing.T, img image) {
	const certs = "etc/ssl/certs/ca-certificates.crt"
	got := slices.Sorted(maps.Keys(img.files))
	if want := []string{certs, "packgate"}; !slices.Equal(got, want) {
		t.Fatalf("the image holds %q; wanted %q", got, want)
	}
	for name, f := range img.files {
		if !f.mode.IsRegular() {
			t.Errorf("%s is %v; wanted a regular file", name, f.mode)
		}
	}
	if mode := img.files["packgate"].mode; mode.Perm()&0o111 != 0o111 {
		t.Errorf("the binary has mode %v; wanted it executable by everybody", mode)
	}
	if !bytes.Contains(img.files[certs].data, []byte("BEGIN CERTIFICATE")) {
		t.Errorf("%s holds no certificate", certs)
	}
	t.Logf("binary %d bytes, certificates %d bytes", len(img.files["packgate"].data), len(img.files[certs].data))
}

// checkSize holds that the image is within its budget, file by file, since engines
// store layers as they like until they push them.
func checkSize(t *testing.T, img image) {
	sizes, err := weight.Measure(img.files["packgate"].data)
	if err != nil {
		t.Fatal(err)
	}
	if sizes.Certificates, err = weight.Layer(img.files["etc/ssl/certs/ca-certificates.crt"].data); err != nil {
		t.Fatal(err)
	}
	if err := sizes.Within(); err != nil {
		t.Error(err)
	}
	checkPushed(t, img)
}

// mostPushed is how many bytes the layers of the image may have as the release pushes them.
const mostPushed = 15_000_000

// checkPushed holds that the image is small as the release pushes it, with layers of zstd. Skopeo
// compresses them with the same library.
func checkPushed(t *testing.T, img image) {
	pushed := 0
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(19)))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for _, f := range img.files {
		pushed += len(z.EncodeAll(f.data, nil))
	}
	if t.Logf("layers of zstd: %d bytes", pushed); pushed > mostPushed {
		t.Errorf("the layers have %d bytes with zstd; wanted at most %d", pushed, mostPushed)
	}
}

// checkBinary holds that the binary needs nothing of a system, carries its version
// and says nothing of the machine it was built on.
func checkBinary(t *testing.T, data []byte) {
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("reading the binary: %v", err)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			t.Error("the binary asks for a dynamic loader; wanted a static one")
		}
	}
	if libraries, err := f.ImportedLibraries(); err == nil && len(libraries) > 0 {
		t.Errorf("the binary is linked with %q; wanted a static one", libraries)
	}
	info, err := buildinfo.Read(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("reading the build information: %v", err)
	}
	if info.Path != "github.com/contextosai/packgate" {
		t.Errorf("the binary is %q; wanted github.com/contextosai/packgate", info.Path)
	}
	want := map[string]string{"CGO_ENABLED": "0", "-trimpath": "true"}
	for _, s := range info.Settings {
		if v, ok := want[s.Key]; ok && v == s.Value {
			delete(want, s.Key)
		}
	}
	if len(want) > 0 {
		t.Errorf("the binary was not built with %v", want)
	}
	// The linker says nothing when the variable that -X names does not exist.
	if !bytes.Contains(data, []byte(imageVersion)) {
		t.Errorf("the binary does not carry the version %q", imageVersion)
	}
}

// check holds what every run has to leave: exit status and verdict that agree,
// and a summary that says who speaks.
func (o outcome) check(t *testing.T, status int, result string) {
	t.Helper()
	if o.status != status {
		t.Errorf("exit status %d; wanted %d", o.status, status)
	}
	if got := o.outputs["result"]; got != result {
		t.Errorf("output result is %q; wanted %q", got, result)
	}
	if !strings.Contains(o.summary, "packgate") {
		t.Errorf("the job summary does not name packgate:\n%s", o.summary)
	}
	if t.Failed() {
		t.Logf("outputs: %q\nlog:\n%s", o.outputs, o.log)
	}
}

// changedPacks reads the output of that name.
func (o outcome) changedPacks(t *testing.T) []string {
	t.Helper()
	var packs []string
	if err := json.Unmarshal([]byte(o.outputs["changed-packs"]), &packs); err != nil {
		t.Errorf("output changed-packs is %q; wanted a JSON list of text: %v", o.outputs["changed-packs"], err)
	}
	return packs
}

// checkReport holds that the report files are where the outputs say they are, and
// that the report names the version that was built.
func (o outcome) checkReport(t *testing.T, w workspace) {
	t.Helper()
	for _, name := range []string{"report-json", "report-md"} {
		file := o.outputs[name]
		if !filepath.IsLocal(file) {
			t.Errorf("output %s is %q; wanted a path in the workspace", name, file)
			continue
		}
		data, err := os.ReadFile(filepath.Join(w.dir, file))
		if err != nil {
			t.Errorf("output %s: %v", name, err)
			continue
		}
		if name == "report-md" {
			continue
		}
		var report struct{ Tool struct{ Version string } }
		decode(t, data, &report)
		if report.Tool.Version != imageVersion {
			t.Errorf("the report is by version %q; wanted %q", report.Tool.Version, imageVersion)
		}
	}
}
