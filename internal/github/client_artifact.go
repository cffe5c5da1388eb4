package github

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/url"
	"slices"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/google/go-github/v62/github"
)

// ArtifactFile is a file that an artifact may consist of, and the most bytes that it may have.
type ArtifactFile struct {
	Name  string
	Limit int64
}

// Artifact downloads the artifact of a workflow run that goes by a name, and
// returns the one file in it. The artifact of a fork's run was made by a stranger:
// anything but one regular file, of one of the wanted names and not larger than that
// one may be, is an error of kind ErrArtifact. What the file says is as untrusted as before.
func (c *Client) Artifact(ctx context.Context, run int64, name string, wanted []ArtifactFile) ([]byte, error) {
	limit := int64(0)
	for _, f := range wanted {
		limit = max(limit, f.Limit)
	}
	id, err := c.findArtifact(ctx, run, name, limit)
	if err != nil {
		return nil, err
	}
	archive, err := c.download(ctx, id)
	if err != nil {
		return nil, err
	}
	return onlyFile(archive, wanted)
}

func refused(format string, args ...any) error {
	return &fault.Error{Kind: ErrArtifact, Message: fmt.Sprintf(format, args...)}
}

// findArtifact returns the id of the one artifact of a run that goes by a name.
func (c *Client) findArtifact(ctx context.Context, run int64, name string, limit int64) (int64, error) {
	address := fmt.Sprintf("repos/%s/%s/actions/runs/%d/artifacts?per_page=%d&name=%s", c.owner, c.repo, run, pageSize, url.QueryEscape(name))
	var list github.ArtifactList
	if err := c.get(ctx, "list the artifacts", address, &list); err != nil {
		return 0, err
	}
	var found []*github.Artifact
	for _, a := range list.Artifacts {
		if a.GetName() == name {
			found = append(found, a)
		}
	}
	switch {
	case len(found) == 0:
		return 0, &fault.Error{Kind: ErrNotFound, Message: fmt.Sprintf("run %d has no artifact %q", run, name),
			Hint: "upload the report in the first workflow with actions/upload-artifact"}
	case len(found) > 1:
		return 0, refused("run %d has %d artifacts %q, wanted one", run, len(found), name)
	case found[0].GetExpired():
		return 0, &fault.Error{Kind: ErrNotFound, Message: fmt.Sprintf("artifact %q of run %d has expired", name, run)}
	case found[0].GetSizeInBytes() > limit:
		return 0, refused("artifact %q has %d bytes, wanted at most %d", name, found[0].GetSizeInBytes(), limit)
	}
	return found[0].GetID(), nil
}

// download gets the archive. GitHub redirects to a store of another host, which
// does not get to see the token.
func (c *Client) download(ctx context.Context, id int64) ([]byte, error) {
	var archive bytes.Buffer
	err := c.get(ctx, "download the artifact", fmt.Sprintf("repos/%s/%s/actions/artifacts/%d/zip", c.owner, c.repo, id), &archive)
	return archive.Bytes(), err
}

// onlyFile unpacks an archive that must hold one regular file and nothing else.
func onlyFile(archive []byte, wanted []ArtifactFile) ([]byte, error) {
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil, refused("the artifact is not an archive that can be read: %s", err)
	}
	if len(r.File) != 1 {
		return nil, refused("the artifact contains %d files, wanted only %q", len(r.File), wanted[0].Name)
	}
	f := r.File[0]
	i := slices.IndexFunc(wanted, func(w ArtifactFile) bool { return w.Name == f.Name })
	if i < 0 {
		return nil, refused("the artifact contains %q, wanted %q", clip(f.Name, 80), wanted[0].Name)
	}
	name, limit := wanted[i].Name, wanted[i].Limit
	switch {
	case !f.Mode().IsRegular():
		return nil, refused("%q in the artifact is %s, wanted a regular file", name, f.Mode().Type())
	case f.UncompressedSize64 > uint64(limit):
		return nil, refused("%q in the artifact has %d bytes, wanted at most %d", name, f.UncompressedSize64, limit)
	}
	content, err := f.Open()
	if err != nil {
		return nil, refused("%q in the artifact cannot be unpacked: %s", name, err)
	}
	defer content.Close() // in memory
	// The size above is what the archive claims.
	data, err := io.ReadAll(io.LimitReader(content, limit+1))
	if err != nil {
		return nil, refused("%q in the artifact cannot be unpacked: %s", name, err)
	}
	if int64(len(data)) > limit {
		return nil, refused("%q in the artifact has more than %d bytes", name, limit)
	}
	return data, nil
}
