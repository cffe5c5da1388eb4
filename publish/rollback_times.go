package publish

import (
	"slices"
	"time"

	"github.com/Masterminds/semver/v3"

	"github.com/contextosai/packgate/publish/statement"
)

// RollbackTimes are the times to roll back of a pack. A time to roll back is how long an environment
// ran what it was moved back from, by its signed records: from the first of the records in a row that
// name it, to the record of the rollback. A rollback is a move by packgate rollback, --stop included,
// or one by a pin or a pins file to a lower version or to an earlier bundle of the same version.
// docs/report.md has the same definition.
type RollbackTimes struct {
	Took    map[string][]time.Duration // by environment, in the order of the records
	Unknown string                     // why the records do not tell, "" where they do
}

// unsure says that records may be missing, of the pack's history or behind its end.
const unsure = "the history of the pack is not whole"

// rollbackTimes returns the times of a pack of which an audit found something. Where a record may
// be missing nothing is known, for that may be one that moved an environment.
func (s *survey) rollbackTimes(found []AuditFinding) RollbackTimes {
	if slices.ContainsFunc(found, func(f AuditFinding) bool { return f.Kind == ReasonHistory || f.Kind == ReasonTooMany }) {
		return RollbackTimes{Unknown: unsure}
	}
	out := RollbackTimes{Took: map[string][]time.Duration{}}
	for _, h := range s.holdings {
		for _, p := range h.pins {
			if len(s.chain.records) == 0 {
				return RollbackTimes{Unknown: "the pack has no signed history"}
			}
			if _, known := out.Took[p.Environment]; !known {
				out.Took[p.Environment] = rollbacks(s.moves(p.Environment))
			}
		}
	}
	for environment, took := range out.Took {
		if len(took) == 0 {
			delete(out.Took, environment)
		} else if slices.Min(took) < 0 {
			return RollbackTimes{Unknown: "the signed times are not in the order of the records"}
		}
	}
	return out
}

// rollbacks returns, for each move of an environment that is a rollback, the time since the
// environment was moved to what it left then.
func rollbacks(moves []move) (took []time.Duration) {
	var now *move
	var since time.Time
	for _, m := range moves {
		if now != nil && m.isRollback(now) {
			took = append(took, m.Time.Sub(since))
		}
		if now == nil || now.what() != m.what() {
			since = m.Time
		}
		now = &m
		if m.Stopped {
			now = nil
		}
	}
	return took
}

// isRollback reports whether a move is back from what ran: by packgate rollback, which may stop
// the environment, or by a pin or a pins file to a lower version or an earlier bundle of it.
func (m *move) isRollback(now *move) bool {
	switch {
	case m.By == statement.ByRollback:
		return m.Stopped || m.what() != now.what()
	case m.Stopped:
		return false
	}
	to, from := versionOf(m.to.version.Pack), versionOf(now.to.version.Pack)
	lower, err := semver.StrictNewVersion(to)
	higher, other := semver.StrictNewVersion(from)
	if err != nil || other != nil {
		return false
	}
	if lower.Equal(higher) && m.Runs != nil && now.Runs != nil {
		return revisionOf(m.Runs.Pack) < revisionOf(now.Runs.Pack)
	}
	return lower.LessThan(higher)
}
