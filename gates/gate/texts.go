package gate

import (
	"sync"

	"github.com/contextosai/packgate/detect"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// texts is what several rules, and the report, look at in the files of one pack, and
// what was found there. A subject shares it with those that resolve it, whose files
// are the same but for what an overlay sets.
type texts struct {
	*detect.Memo
	limits    pack.Limits
	mutex     sync.Mutex
	snapshots map[*repo.Snapshot]*pack.Document
}

func newTexts(limits pack.Limits) *texts {
	return &texts{Memo: detect.NewMemo(), limits: limits, snapshots: map[*repo.Snapshot]*pack.Document{}}
}

// Detected remembers what the detectors found in the texts of the pack and of the
// files beside it, so that each text is looked at once.
func (s *Subject) Detected() *detect.Memo { return s.texts.Memo }

// Stored returns the document of a stored compile, with no root where it is no JSON.
// It is read when it is first asked for, and once.
func (s *Subject) Stored(snapshot *repo.Snapshot) *pack.Document {
	t := s.texts
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.snapshots[snapshot] == nil {
		t.snapshots[snapshot], _ = pack.Read(snapshot.File, snapshot.Source, t.limits)
	}
	return t.snapshots[snapshot]
}
