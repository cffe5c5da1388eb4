package openapi

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// The servers of which there is a description: github.com, and the oldest GitHub
// Enterprise Server that is described.
const (
	Cloud  = "api.github.com"
	Server = "ghes-3.17"
)

// The package that holds the descriptions, and the digest of its archive as the
// registry states it.
const (
	name      = "@octokit/openapi"
	version   = "23.0.2"
	integrity = "sha512-pV8M7L9GY23AybNvTmo2nyjmpmnt6+2sRE/tqr0ZLQcPS4lnw7u5eZGNmwRNkBC3D7gZXbFx5AHzLUVRBXGDhg=="
	// maxFile bounds the description, in bytes.
	maxFile = 64 << 20
	// cut is raised when Trim cuts differently.
	cut = 1
)

// Fetch returns the description that a server has of some operations. Descriptions
// are kept in the folder, and fetched by npm where they are not there; log says so.
func Fetch(ctx context.Context, folder, server string, operations []string, log func(string)) ([]byte, error) {
	operations = slices.Sorted(slices.Values(operations))
	key := sha256.Sum256([]byte(strings.Join(operations, "\n")))
	kept := func(server string) string {
		return filepath.Join(folder, fmt.Sprintf("%s-%s-%d-%x.json", server, version, cut, key[:6]))
	}
	if trimmed, err := os.ReadFile(kept(server)); err == nil {
		return trimmed, nil
	}
	log("npm fetches " + name + "@" + version + ", 29 MB, for GitHub's descriptions of its API")
	archive, err := pack(ctx)
	if err != nil {
		return nil, err
	}
	for _, server := range []string{Cloud, Server} {
		description, err := unpack(archive, "package/generated/"+server+".json")
		if err != nil {
			return nil, err
		}
		trimmed, err := Trim(description, operations)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", server, err)
		}
		if err := keep(kept(server), trimmed); err != nil {
			return nil, err
		}
	}
	return os.ReadFile(kept(server))
}

// keep writes a file under its name only once it is whole.
func keep(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	unfinished := fmt.Sprintf("%s.%d", name, os.Getpid())
	if err := os.WriteFile(unfinished, data, 0o644); err != nil {
		return err
	}
	return os.Rename(unfinished, name)
}

// pack has npm download the archive.
func pack(ctx context.Context) ([]byte, error) {
	folder, err := os.MkdirTemp("", "packgate-openapi-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	npm := exec.CommandContext(ctx, "npm", "pack", "--silent", "--ignore-scripts", name+"@"+version)
	npm.Dir = folder
	if said, err := npm.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("npm, which fetches %s: %w\n%s", name, err, bytes.TrimSpace(said))
	}
	found, err := filepath.Glob(filepath.Join(folder, "*.tgz"))
	if err != nil || len(found) != 1 {
		return nil, fmt.Errorf("npm left %d archives of %s, wanted one", len(found), name)
	}
	archive, err := os.ReadFile(found[0])
	if err != nil {
		return nil, err
	}
	sum := sha512.Sum512(archive)
	if got := "sha512-" + base64.StdEncoding.EncodeToString(sum[:]); got != integrity {
		return nil, fmt.Errorf("the archive of %s@%s is %s, wanted %s", name, version, got, integrity)
	}
	return archive, nil
}

// unpack returns the one file that is wanted of the archive.
func unpack(archive []byte, file string) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, fmt.Errorf("unpack %s: %w", name, err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s has no %s", name, file)
		}
		if err != nil {
			return nil, fmt.Errorf("unpack %s: %w", name, err)
		}
		if h.Name == file {
			return io.ReadAll(io.LimitReader(r, maxFile))
		}
	}
}
