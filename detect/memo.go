package detect

import "sync"

// Memo remembers what was found in a text, so that a text which several rules and
// the report look at is looked at once. One that is nil remembers nothing. It is
// meant for one pack with the files beside it, whose texts it keeps alive, and may
// be used by several goroutines at once; what it returns is shared and must not be
// changed.
type Memo struct {
	mutex    sync.Mutex
	secrets  map[string][]Match
	named    map[string]*named
	personal map[aboutText][]Personal
}

// aboutText is a text with what stands around it.
type aboutText struct{ about, text string }

// NewMemo returns a memo that remembers nothing yet.
func NewMemo() *Memo {
	return &Memo{secrets: map[string][]Match{}, named: map[string]*named{}, personal: map[aboutText][]Personal{}}
}

// Secrets returns what [Secrets] does.
func (m *Memo) Secrets(name, text string) []Match {
	if m == nil {
		m = &Memo{}
	}
	var found []Match
	if len(text) >= shortest || !plain(text) {
		found = recall(m, m.secrets, text, secretsIn)
	}
	if len(found) > 0 || name == "" || len(text) > longestValue {
		return found
	}
	return secretNamed(recall(m, m.named, name, namedSecret), text)
}

// PersonalData returns what [PersonalData] does.
func (m *Memo) PersonalData(about, text string) []Personal {
	if m == nil || !MayBePersonal(text) {
		return PersonalData(about, text)
	}
	return recall(m, m.personal, aboutText{about, text}, func(t aboutText) []Personal { return PersonalData(t.about, t.text) })
}

// recall returns what a table of the memo holds for a key, and puts it there where
// it is missing; a table that is nil remembers nothing. The lock is not held while it is found out: two who ask at once
// for the same may both do the work, and come to the same.
func recall[K comparable, V any](m *Memo, table map[K]V, key K, find func(K) V) V {
	if table == nil {
		return find(key)
	}
	m.mutex.Lock()
	value, known := table[key]
	m.mutex.Unlock()
	if known {
		return value
	}
	value = find(key)
	m.mutex.Lock()
	table[key] = value
	m.mutex.Unlock()
	return value
}
