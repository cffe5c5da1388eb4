package cli

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/contextosai/packgate/repo/atomicfile"
	"github.com/contextosai/packgate/report/model"
)

// localInput returns the name of a file or folder that an input names, relative to the workspace,
// the current folder. One outside of it is refused.
func localInput(input, name string) (string, error) {
	local := name
	if filepath.IsAbs(name) {
		here, err := os.Getwd()
		if err != nil {
			return "", err
		}
		if local, err = filepath.Rel(here, name); err != nil {
			return "", err
		}
	}
	if !filepath.IsLocal(local) {
		return "", misuse("name it relative to the workspace", "the input %s is %q, which is outside the workspace", input, name)
	}
	return filepath.Clean(local), nil
}

// writeWithin writes files in the workspace; run is given a function for each of them, and calls all of
// them. No link leads a file elsewhere: the workspace is what a pull request made of it.
func writeWithin(files []atomicfile.Edit, run func([]func())) error {
	for _, f := range files {
		if err := outsideGit(f.Name); err != nil {
			return err
		}
	}
	root, err := os.OpenRoot(".")
	if err != nil {
		return err
	}
	return errors.Join(atomicfile.WriteWithin(root, files, run), root.Close())
}

// outsideGit refuses a file in the folder of git, where hooks and the config are run, be it named
// or behind a link.
func outsideGit(name string) error {
	parts := strings.Split(filepath.ToSlash(filepath.Clean(name)), "/")
	for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			parts = append(parts, strings.Split(filepath.ToSlash(real), "/")...)
			break
		}
	}
	if slices.ContainsFunc(parts, func(part string) bool { return strings.EqualFold(part, ".git") }) {
		return misuse("name another folder of the workspace", "%q is in the folder of git, where packgate writes no reports", name)
	}
	return nil
}

// leaveReports writes the report files of the action.
func leaveReports(dir string, r *model.Report) error {
	shared, run := model.Together(r)
	return writeWithin(reportFiles(dir, shared), run)
}

// leaveSARIF writes the report as SARIF where an input names a file for it.
func leaveSARIF(name string, r *model.Report) error {
	if name == "" {
		return nil
	}
	return writeWithin([]atomicfile.Edit{{Name: name, Write: func(f *os.File) error { return writeFormat(f, "sarif", r) }}}, atomicfile.OneByOne)
}

// versionName is the form of a version of a pack: no character of it means anything to a shell.
var versionName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\A[A-Za-z0-9_.:-]{1,255}@(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*)){2}\z`)
})

// plainRoles returns names of roles for an output, in which nothing means anything to a shell. None is
// left out: an empty list would say that no approval is waited for.
func plainRoles(roles []string) []string {
	out := []string{}
	for _, role := range roles {
		out = append(out, strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_.@/-", r) {
				return r
			}
			return '_'
		}, role))
	}
	return out
}
