package cli

import (
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/repo"
)

// config reads the config of the baseline; the default one where it has none.
// One that has to be there may still be what the change brings.
func (b *baseline) config(name string, required bool) (*repo.Config, error) {
	src, ok, err := b.read(name, maxConfig)
	if err != nil {
		return nil, err
	}
	if ok {
		c, err := repo.ParseConfig(name, src)
		return c, ofSide("the base", err)
	}
	if required {
		_, err := os.Stat(filepath.FromSlash(name))
		if leadsNowhere(err) {
			return nil, &repo.Problem{Location: finding.Location{File: name}, Message: "there is no such config, neither in the base nor in the change", Hint: "name it relative to the workspace"}
		}
		if err != nil {
			return nil, err
		}
	}
	return repo.DefaultConfig(), nil
}

// configPath returns the name of a config relative to the workspace, which is
// the current folder.
func configPath(named string) (string, error) {
	if named == "" {
		return repo.ConfigName, nil
	}
	name := named
	if filepath.IsAbs(name) {
		here, err := os.Getwd()
		if err != nil {
			return "", err
		}
		if name, err = filepath.Rel(here, name); err != nil {
			return "", err
		}
	}
	if !filepath.IsLocal(name) {
		return "", &usageError{message: fmt.Sprintf("the config %q is outside of the workspace", named), hint: "name it relative to the workspace"}
	}
	return path.Clean(filepath.ToSlash(name)), nil
}

// maxConfig bounds the config of a base, in bytes.
const maxConfig = 1 << 20
