package repository_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// dockerOf is a stand-in for Docker: every image that it "builds" holds one program, and
// it prints where Docker prints. It notes how it was called.
const dockerOf = `#!/bin/sh
echo "$*" >>"$CALLS"
case "$1 $2 $3" in
  "buildx imagetools inspect") echo "sha256:$DIGEST" ;;
  "create "*) echo container ;;
  "cp "*) cp "$PROGRAM" "$3"; echo copied ;;
  *) echo said ;;
esac
`

// skopeoOf is a stand-in for skopeo, which notes how it was called.
const skopeoOf = `#!/bin/sh
echo "skopeo $*" >>"$CALLS"
`

// compressed finds the calls that push an image with layers of zstd.
var compressed = regexp.MustCompile(`(?m)^skopeo copy --format oci .*--dest-compress-format zstd .* docker-archive:\S+/image-(amd64|arm64)\.tar docker://ghcr\.io/contextosai/packgate:\S+-(amd64|arm64)$`)

// The release pushes no image whose program is not the one in the archives, and hands on
// the digest alone.
func TestReleaseImage(t *testing.T) {
	version, digest := releaseVersion(t).String(), strings.Repeat("cd", 32)
	for name, c := range map[string]struct {
		inside string // of the archive for arm64
		pushes int
		tagged bool
	}{
		"the same program":    {"the program", 2, true},
		"another for arm64":   {"another program", 1, false},
		"a part of the other": {"the pro", 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			putScript(t, filepath.Join(dir, ".github", "release", "image.sh"), read(t, filepath.Join(".github", "release", "image.sh")))
			putScript(t, filepath.Join(dir, "VERSION"), version+"\n")
			putScript(t, filepath.Join(dir, "bin", "docker"), dockerOf)
			putScript(t, filepath.Join(dir, "bin", "skopeo"), skopeoOf)
			putScript(t, filepath.Join(dir, "program"), "the program")
			for processor, inside := range map[string]string{"amd64": "the program", "arm64": c.inside} {
				file := fmt.Sprintf("packgate_%s_linux_%s.tar.gz", version, processor)
				putScript(t, filepath.Join(dir, "dist", file), string(archiveOf(t, "packgate", inside)))
			}
			cmd := exec.Command("bash", filepath.Join(dir, ".github", "release", "image.sh"), filepath.Join(dir, "dist"))
			cmd.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"),
				"CALLS="+filepath.Join(dir, "calls"), "PROGRAM="+filepath.Join(dir, "program"), "DIGEST="+digest)
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			err := cmd.Run()
			if want := map[bool]string{true: "sha256:" + digest + "\n"}[c.tagged]; stdout.String() != want || (err == nil) != c.tagged {
				t.Errorf("it ends with %v and prints %q; wanted %q\n%s", err, stdout.String(), want, stderr.String())
			}
			calls := read(t, filepath.Join(dir, "calls"))
			if got := len(compressed.FindAllString(calls, -1)); got != c.pushes || strings.Contains("\n"+calls, "\npush ") {
				t.Errorf("it pushes %d images; wanted %d", got, c.pushes)
			}
			if strings.Contains(calls, "imagetools create --tag ghcr.io/contextosai/packgate:"+version+" ") != c.tagged {
				t.Errorf("it calls\n%s\nwanted the image tagged: %v", calls, c.tagged)
			}
		})
	}
}
