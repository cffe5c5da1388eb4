package cache

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Refused is the error for a folder or file that another user could have written, or
// that leads elsewhere. Why completes the sentence that begins with its name.
type Refused struct {
	Name string // of the file or folder
	Why  string
	Hint string // what to do about it
}

// Error returns the sentence.
func (r *Refused) Error() string { return fmt.Sprintf("%q %s", r.Name, r.Why) }

// openFolder opens the folder of the entries, which it makes where it is missing.
// Nothing outside of it is reached from then on, whatever links are in it.
func openFolder(name string) (*os.Root, error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return nil, err
	}
	if err := os.Mkdir(name, 0o700); err != nil && !os.IsExist(err) {
		return nil, err
	}
	seen, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !seen.IsDir() {
		return nil, &Refused{name, "is no folder", "name a folder of your own, without a link"}
	}
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	info, err := root.Stat(".")
	switch {
	case err != nil:
	case !os.SameFile(seen, info):
		err = &Refused{name, "was replaced while it was opened", "name a folder that nobody else can move"}
	default:
		err = owned(name, info, 0o022)
	}
	if err != nil {
		root.Close() // the error that matters is the first one
		return nil, err
	}
	return root, nil
}

// owned refuses what belongs to another user, or has one of the permissions. Where the
// system knows no such thing, the folder of the user's own settings has to do.
func owned(name string, info fs.FileInfo, without fs.FileMode) error {
	mine, knows := isMine(info)
	switch {
	case !knows:
		return nil
	case !mine:
		return &Refused{name, "belongs to another user", "name a folder of your own"}
	case info.Mode().Perm()&without != 0:
		return &Refused{name, fmt.Sprintf("has the permissions %#o, which let other users in", info.Mode().Perm()), fmt.Sprintf("take them away: chmod %#o", info.Mode().Perm()&0o700)}
	}
	return nil
}
