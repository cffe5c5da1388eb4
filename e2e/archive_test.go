package e2e

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path"
	"testing"
)

// image is what an image archive holds: the settings and every file of all
// layers, by its path from the root.
type image struct {
	config imageConfig
	files  map[string]imageFile
}

// imageConfig is the part of the image's settings that a docker action is about.
type imageConfig struct {
	User       string
	WorkingDir string
	Entrypoint []string
	Cmd        []string
	Labels     map[string]string
}

// imageFile is one entry of a layer that is not a folder.
type imageFile struct {
	mode os.FileMode
	data []byte
}

// readImage reads an archive in the form of `docker image save`.
func readImage(t *testing.T, file string) image {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	archive := readTar(t, f)

	var manifest []struct {
		Config string
		Layers []string
	}
	decode(t, archive["manifest.json"].data, &manifest)
	if len(manifest) != 1 {
		t.Fatalf("the archive holds %d images; wanted one", len(manifest))
	}
	var config struct{ Config imageConfig }
	decode(t, archive[manifest[0].Config].data, &config)

	files := map[string]imageFile{}
	for _, layer := range manifest[0].Layers {
		entry := follow(archive, layer)
		for name, f := range readTar(t, unzipped(t, entry.data)) {
			files[name] = f
		}
	}
	return image{config: config.Config, files: files}
}

// follow resolves a layer that the archive stores as a link to another entry,
// which is how some engines store the same layer twice.
func follow(archive map[string]imageFile, name string) imageFile {
	entry := archive[name]
	if entry.mode&os.ModeSymlink != 0 {
		return archive[path.Join(path.Dir(name), string(entry.data))]
	}
	return entry
}

// readTar reads every entry that is not a folder. The data of a symbolic link is
// what it points at.
func readTar(t *testing.T, r io.Reader) map[string]imageFile {
	t.Helper()
	files := map[string]imageFile{}
	for tr := tar.NewReader(r); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatalf("reading a tar archive: %v", err)
		}
		if h.Typeflag == tar.TypeDir {
			continue
		}
		data, err := io.ReadAll(tr)
		if err != nil {
			t.Fatalf("reading %s: %v", h.Name, err)
		}
		if h.Typeflag == tar.TypeSymlink {
			data = []byte(h.Linkname)
		}
		files[path.Clean(h.Name)] = imageFile{mode: h.FileInfo().Mode(), data: data}
	}
}

// unzipped reads a layer that may or may not be compressed: engines differ.
func unzipped(t *testing.T, data []byte) io.Reader {
	t.Helper()
	r := bufio.NewReader(bytes.NewReader(data))
	if magic, err := r.Peek(2); err != nil || !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return r
	}
	z, err := gzip.NewReader(r)
	if err != nil {
		t.Fatalf("reading a compressed layer: %v", err)
	}
	return z
}

func decode(t *testing.T, data []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("reading JSON: %v\n%s", err, data)
	}
}
