package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"github.com/rogpeppe/go-internal/lockedfile"
)

const (
	lockFile  = ".packgate.lock"
	ingestDir = "ingest" // holds files until they are whole. oras keeps its own in a folder of this name, so other tools know to pass it over.
	maxIndex  = 32 << 20
)

// layout is the repository of one pack as an OCI image layout (OCI image specification
// 1.1, "Image Layout"): a folder of its own, with oci-layout, index.json and
// blobs/sha256.
//
// Every file appears whole, by renaming, and index.json is changed under a lock, so a
// process that is killed at any point leaves a layout that can be read, and two that
// write at once lose nothing. What a killed process leaves behind is at most a file in
// the ingest folder, or a blob that nothing names.
type layout struct {
	dir  string
	name string // for messages
}

func (l *layout) resolve(_ context.Context, tag string) (string, error) {
	index, err := l.index()
	if err != nil {
		return "", err
	}
	if i := slices.IndexFunc(index.Manifests, tagged(tag)); i >= 0 {
		return index.Manifests[i].Digest.String(), nil
	}
	return "", l.notFound(tag)
}

func (l *layout) notFound(what string) error {
	return &fault.Error{Kind: ErrNotFound, Message: fmt.Sprintf("%s has no %q", l.name, what)}
}

func (l *layout) manifest(_ context.Context, want string) ([]byte, error) {
	index, err := l.index()
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(index.Manifests, of(digest.Digest(want))) {
		return nil, l.notFound(want)
	}
	return l.read(want, MaxManifest)
}

func (l *layout) blob(_ context.Context, d ocispec.Descriptor) ([]byte, error) {
	return l.read(d.Digest.String(), MaxContent)
}

func (l *layout) blobFile(d string) string {
	return filepath.Join(l.dir, filepath.FromSlash(ocispec.ImageBlobsDir), "sha256", digest.Digest(d).Encoded())
}

// read returns a blob that has the digest it is named by.
func (l *layout) read(d string, limit int64) ([]byte, error) {
	content, err := readFile(l.blobFile(d), limit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, l.notFound(d)
	}
	if err != nil {
		return nil, l.storage("read", err)
	}
	return content, verify(content, d, l.name)
}

// storage returns the error of a folder that cannot be worked with.
func (l *layout) storage(what string, err error) error {
	var own *fault.Error
	if errors.As(err, &own) {
		return err
	}
	return &fault.Error{Kind: ErrStorage, Message: fmt.Sprintf("cannot %s %s", what, l.name),
		Hint: "check the folder, its owner and the free space", Cause: err}
}

// readFile reads a regular file of at most so many bytes. What is none, such as a pipe or a device,
// might never end or act on being read, and is refused without being waited for.
func readFile(name string, limit int64) ([]byte, error) {
	if err := regular(os.Stat(name)); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := regular(f.Stat()); err != nil { // it may be another one by now
		return nil, err
	}
	return readAll(f, limit, filepath.Base(name))
}

func regular(info fs.FileInfo, err error) error {
	if err == nil && !info.Mode().IsRegular() {
		return &fault.Error{Kind: ErrStorage, Message: fmt.Sprintf("%q is not a regular file: %s", info.Name(), info.Mode()),
			Hint: "restore the folder from a copy, and check who can write to it"}
	}
	return err
}

func (l *layout) pushBlob(_ context.Context, d ocispec.Descriptor, content []byte) error {
	if _, err := l.read(d.Digest.String(), MaxContent); err == nil {
		return nil
	} else if !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrContent) {
		return err
	}
	return l.write(l.blobFile(d.Digest.String()), content)
}

func (l *layout) pushManifest(ctx context.Context, content []byte) error {
	d := descriptorOf(ocispec.MediaTypeImageManifest, content)
	if err := l.pushBlob(ctx, d, content); err != nil {
		return err
	}
	var m ocispec.Manifest
	if err := json.Unmarshal(content, &m); err != nil {
		return &fault.Error{Kind: ErrForeign, Message: "cannot read a manifest", Cause: err}
	}
	d.ArtifactType, d.Annotations = m.ArtifactType, m.Annotations
	return l.change(func(index *ocispec.Index) bool {
		if slices.ContainsFunc(index.Manifests, of(d.Digest)) {
			return false
		}
		index.Manifests = append(index.Manifests, d)
		return true
	})
}

// tag adds an entry with the tag beside the one without. A manifest keeps the latter,
// so that it stays when its tag goes elsewhere.
func (l *layout) tag(_ context.Context, content []byte, tag string) error {
	var m ocispec.Manifest
	if err := json.Unmarshal(content, &m); err != nil {
		return &fault.Error{Kind: ErrForeign, Message: "cannot read a manifest", Cause: err}
	}
	d := descriptorOf(ocispec.MediaTypeImageManifest, content)
	d.ArtifactType, d.Annotations = m.ArtifactType, map[string]string{ocispec.AnnotationRefName: tag}
	return l.change(func(index *ocispec.Index) bool {
		if i := slices.IndexFunc(index.Manifests, tagged(tag)); i >= 0 {
			if index.Manifests[i].Digest == d.Digest {
				return false
			}
			index.Manifests = slices.Delete(index.Manifests, i, i+1)
		}
		index.Manifests = append(index.Manifests, d)
		return true
	})
}

func (l *layout) tags(context.Context) ([]string, error) {
	index, err := l.index()
	if err != nil {
		return nil, err
	}
	var tags []string
	for _, d := range index.Manifests {
		if tag := d.Annotations[ocispec.AnnotationRefName]; tag != "" {
			tags = append(tags, tag)
		}
	}
	return tags, nil
}

func (l *layout) referrers(ctx context.Context, subject ocispec.Descriptor) ([]ocispec.Descriptor, error) {
	index, err := l.index()
	if err != nil {
		return nil, err
	}
	var found []ocispec.Descriptor
	for _, d := range index.Manifests {
		// Packs and records refer to nothing, and there are many of them.
		if d.MediaType != ocispec.MediaTypeImageManifest || d.ArtifactType == PackType || d.ArtifactType == RecordType || checkDigest(d.Digest.String()) != nil {
			continue
		}
		content, err := l.read(d.Digest.String(), MaxManifest)
		if err != nil {
			return nil, err
		}
		var m ocispec.Manifest
		if json.Unmarshal(content, &m) == nil && m.Subject != nil && m.Subject.Digest == subject.Digest {
			found = append(found, d)
		}
	}
	return found, ctx.Err()
}

func of(d digest.Digest) func(ocispec.Descriptor) bool {
	return func(e ocispec.Descriptor) bool { return e.Digest == d }
}

func tagged(tag string) func(ocispec.Descriptor) bool {
	return func(e ocispec.Descriptor) bool { return e.Annotations[ocispec.AnnotationRefName] == tag }
}

// index reads index.json. A layout that is not there is empty.
func (l *layout) index() (ocispec.Index, error) {
	empty := ocispec.Index{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageIndex, Manifests: []ocispec.Descriptor{}}
	content, err := readFile(filepath.Join(l.dir, ocispec.ImageIndexFile), maxIndex)
	if errors.Is(err, fs.ErrNotExist) {
		return empty, nil
	}
	if err != nil {
		return empty, l.storage("read", err)
	}
	var index ocispec.Index
	if err := json.Unmarshal(content, &index); err != nil || index.SchemaVersion != 2 {
		return empty, &fault.Error{Kind: ErrContent, Message: fmt.Sprintf("%s has an %s that is not an index of a layout", l.name, ocispec.ImageIndexFile), Cause: err,
			Hint: "restore the folder from a copy"}
	}
	return index, nil
}

// change rewrites index.json under the lock, where f says that it changed something.
func (l *layout) change(f func(*ocispec.Index) bool) error {
	if err := os.MkdirAll(l.dir, 0o755); err != nil {
		return l.storage("write", err)
	}
	unlock, err := lockedfile.MutexAt(filepath.Join(l.dir, lockFile)).Lock()
	if err != nil {
		return l.storage("lock", err)
	}
	defer unlock()
	index, err := l.index()
	if err != nil {
		return err
	}
	// A folder with oci-layout is a layout to every tool, so that file comes after the
	// first index.json, and before an index.json that names anything.
	marker := filepath.Join(l.dir, ocispec.ImageLayoutFile)
	if _, err := os.Stat(marker); errors.Is(err, fs.ErrNotExist) {
		if err := l.writeIndex(index); err != nil {
			return err
		}
		if err := l.write(marker, fmt.Appendf(nil, `{"imageLayoutVersion":%q}`+"\n", ocispec.ImageLayoutVersion)); err != nil {
			return err
		}
	}
	if !f(&index) {
		return nil
	}
	return l.writeIndex(index)
}

func (l *layout) writeIndex(index ocispec.Index) error {
	content, err := json.MarshalIndent(index, "", "  ")
	if err != nil {
		return l.storage("write", err)
	}
	return l.write(filepath.Join(l.dir, ocispec.ImageIndexFile), append(content, '\n'))
}

// write puts a file in its place whole, and on the disk before it is named.
func (l *layout) write(name string, content []byte) error {
	if err := writeFile(filepath.Join(l.dir, ingestDir), name, content); err != nil {
		return l.storage("write", err)
	}
	return nil
}

func writeFile(ingest, name string, content []byte) error {
	for _, dir := range []string{ingest, filepath.Dir(name)} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	f, err := os.CreateTemp(ingest, "packgate-*")
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		os.Remove(f.Name()) // the error that matters is the first one
		return err
	}
	return syncDir(filepath.Dir(name))
}

// syncDir makes a renaming last. Some systems cannot open a folder for that; there the
// renaming is as lasting as the system makes it.
func syncDir(name string) error {
	dir, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer dir.Close()
	if err := dir.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrInvalid) {
		return err
	}
	return nil
}

// layoutPacks returns the names of the layouts in a folder, which need not exist.
func layoutPacks(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, (&layout{name: folder}).storage("list", err)
	}
	var packs []string
	for _, e := range entries {
		if checkPack(e.Name()) != nil {
			continue
		}
		_, err := os.Stat(filepath.Join(folder, e.Name(), ocispec.ImageIndexFile))
		switch {
		case err == nil:
			packs = append(packs, e.Name())
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
			return nil, (&layout{name: folder}).storage("list", err)
		}
	}
	return packs, nil
}
