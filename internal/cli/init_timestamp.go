package cli

import (
	"path"
	"strings"

	"github.com/contextosai/packgate/internal/scaffold"
	"github.com/contextosai/packgate/repo"
)

// chooseTimestamp says which workflow that signs timestamps is to be made: the one that the config
// names, or that of init where it is asked for. One that is there is left.
func (i *initialising) chooseTimestamp() error {
	config, err := i.config()
	if err != nil {
		return err
	}
	f := config.Publish.Freshness
	switch {
	case f.Node != nil:
		times, err := f.Times()
		if err != nil {
			return err
		}
		i.made.Timestamp, i.made.Refresh = timestampFile(f, config.Publish.Identity), times.Refresh
	case i.options.freshness:
		i.made.Timestamp = scaffold.TimestampFile
	}
	if i.made.Timestamp == "" {
		return nil
	}
	files, err := openIfThere(i.root)
	if err != nil {
		return err
	}
	if files == nil { // nothing is there
		return nil
	}
	defer files.Close() // only read from
	there, err := files.Exists(i.made.Timestamp)
	switch {
	case err != nil:
		return err
	case there:
		i.made.Timestamp = ""
	case f.Node == nil:
		i.say("%s signs nothing before publish.freshness in the config names it", path.Base(i.made.Timestamp))
	}
	return nil
}

// timestampFile returns the file of the workflow that a config names; "" for one that is not of the
// repository that publishes.
func timestampFile(f repo.Freshness, publisher repo.Identity) string {
	repository, name, found := strings.Cut(f.WorkflowURI(), "/.github/workflows/")
	file, _, _ := strings.Cut(name, "@")
	if own := publisher.RepositoryURI(); !found || own != "" && own != repository {
		return ""
	}
	return ".github/workflows/" + file
}

// config returns the config of the pack repository, the default one where there is none.
func (i *initialising) config() (*repo.Config, error) {
	files, err := openIfThere(i.dir)
	if err != nil || files == nil {
		return repo.DefaultConfig(), err
	}
	defer files.Close() // only read from
	return files.Config("")
}
