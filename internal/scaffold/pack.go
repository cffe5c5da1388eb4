package scaffold

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/repo"
)

// packFiles returns the config and, where a pack is asked for, its environment catalog,
// the pack and what stands beside it, named from the folder of the pack repository.
func (v *values) packFiles() ([]File, error) {
	config, err := v.fill("config.yaml")
	if err != nil {
		return nil, err
	}
	list := []File{{Name: repo.ConfigName, Content: config, Shared: true, whole: true}}
	if v.PackID == "" {
		return list, nil
	}
	catalog, err := v.fill("environment.json.tmpl")
	if err != nil {
		return nil, err
	}
	list = append(list, File{Name: "environments/prod.json", Content: catalog})
	to := path.Dir(PackFile(v.PackID))
	err = fs.WalkDir(files, packFolder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := v.fill(strings.TrimPrefix(name, "files/"))
		within := strings.TrimSuffix(strings.TrimPrefix(name, packFolder+"/"), ".tmpl")
		list = append(list, File{Name: path.Join(to, within), Content: content})
		return err
	})
	if err != nil {
		return nil, err
	}
	snapshots, err := compiled(list, PackFile(v.PackID))
	return append(list, snapshots...), err
}

// compiled returns the snapshots of the golden cases of a pack, compiled as they are
// where the files stand in a repository.
func compiled(list []File, packFile string) ([]File, error) {
	tree, err := treeOf(list)
	if err != nil {
		return nil, err
	}
	in := repo.FilesOf(tree, "", "")
	config, err := in.Config("")
	if err != nil {
		return nil, err
	}
	environments, err := in.Environments(config)
	if err != nil {
		return nil, err
	}
	unit, err := in.Unit(packFile, config)
	if err != nil {
		return nil, err
	}
	var snapshots []File
	for _, r := range golden.Run(unit, environments, config) {
		if r.Status == golden.Fail || r.Detail == nil {
			return nil, fmt.Errorf("the golden case %q of the first pack does not hold: this is a fault of packgate", r.Case)
		}
		if r.Compiled != nil {
			snapshots = append(snapshots, File{Name: r.SnapshotName, Content: r.Compiled})
		}
	}
	return snapshots, nil
}

// treeOf returns files as a file system: an archive in memory is the one that the
// standard library has for this.
func treeOf(list []File) (fs.FS, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range list {
		to, err := w.CreateHeader(&zip.FileHeader{Name: f.Name, Method: zip.Store})
		if err == nil {
			_, err = to.Write(f.Content)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
}
