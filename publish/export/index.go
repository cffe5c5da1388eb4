package export

import (
	"bytes"
	"encoding/json"
	"path"
	"strings"
)

// Format names the form of a folder. Another one is not read.
const Format = "packgate.audit-export/v1"

// The files of a folder that are there once.
const (
	IndexFile     = "index.json"
	EventsFile    = "events.jsonl"
	TableFile     = "events.csv"
	StatusFile    = "status/status.json"
	StatusBundle  = "status/status.sigstore.json"
	TimestampFile = "status/timestamp.sigstore.json"
)

// The folders of files that are named by the digest of their bytes, and how their names end.
var folders = map[string]string{"statements": ".sigstore.json", "records": ".sigstore.json", "reports": ".json", "configs": ".yaml"}

// Index is what is said of a folder as a whole. It is not signed: what it says is derived from
// the other files again where the folder is verified, but for when it was written and what was
// not to be had.
type Index struct {
	Format    string `json:"format"`
	Registry  string `json:"registry"`
	Publisher string `json:"publisher"` // the identity whose statements it holds
	Exported  string `json:"exported"`  // when, by the clock of who exported
	// Packs are the pack_ids that were asked for, sorted.
	Packs []string `json:"packs"`
	// Files holds the digest of every other file, by its name.
	Files map[string]string `json:"files"`
	// NotChecked says what could not be had or was left out.
	NotChecked []string `json:"not_checked"`
}

func (i *Index) bytes() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(i)
	return b.Bytes(), err
}

// nameOf returns the name of a file in one of the folders.
func nameOf(folder string, content []byte) string {
	return path.Join(folder, strings.TrimPrefix(digestOf(content), "sha256:")+folders[folder])
}

// nameAt returns the name that a file of that digest has in a folder.
func nameAt(folder, digest string) string {
	return path.Join(folder, strings.TrimPrefix(digest, "sha256:")+folders[folder])
}

// in returns the folder that a file is in, "" for none of those of which the files are named
// by their digests.
func in(name string) string {
	folder := path.Dir(name)
	if _, ok := folders[folder]; ok {
		return folder
	}
	return ""
}
