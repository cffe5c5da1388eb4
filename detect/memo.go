package detect

import (
	"hash/maphash"
	"strings"
	"sync"
	"sync/atomic"
)

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

// aboutText is a text with what is around it.
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
	if of := (aboutText{text: text}); (len(text) >= shortest || !plain(text)) && !noSecret.has(m, of) {
		if found = recall(m, m.secrets, text, secretsIn); len(found) == 0 {
			noSecret.add(m, of)
		}
	}
	of := aboutText{about: name}
	if len(found) > 0 || name == "" || len(text) > longestValue || noKind.has(m, of) {
		return found
	}
	kind := recall(m, m.named, name, namedSecret)
	if kind == nil {
		noKind.add(m, of)
	}
	return secretNamed(kind, text)
}

// PersonalData returns what [PersonalData] does.
func (m *Memo) PersonalData(about, text string) []Personal {
	if m == nil || !MayBePersonal(text) {
		return PersonalData(about, text)
	}
	of := aboutText{about, text}
	if noPerson.has(m, of) {
		return nil
	}
	found := recall(m, m.personal, of, func(t aboutText) []Personal { return PersonalData(t.about, t.text) })
	if len(found) == 0 {
		noPerson.add(m, of)
	}
	return found
}

// Order returns what [Order] does.
func (m *Memo) Order(text string) string {
	of := aboutText{text: text}
	if noOrder.has(m, of) {
		return ""
	}
	order := Order(text)
	if order == "" {
		noOrder.add(m, of)
	}
	return order
}

// The short texts in which a memo of the process found nothing, and the names that tell of no
// secret: packs share most of theirs.
var noSecret, noKind, noPerson, noOrder cleared

const (
	mostCleared  = 4096 // texts
	longestClear = 64   // bytes of a text with what is around it
)

// cleared are texts with nothing to be found in. Each has one place, which it leaves to the next
// one that has the same.
type cleared struct {
	places [mostCleared]atomic.Pointer[aboutText]
}

var clearedBy = maphash.MakeSeed()

func (c *cleared) place(of aboutText) *atomic.Pointer[aboutText] {
	at := uint64(0)
	for _, text := range [2]string{of.about, of.text} {
		if text != "" {
			at += maphash.String(clearedBy, text)
		}
	}
	return &c.places[at%mostCleared]
}

// has reports whether a text is one of them, which is not known to a memo that remembers nothing.
func (c *cleared) has(m *Memo, of aboutText) bool {
	if m == nil || m.secrets == nil || len(of.about)+len(of.text) > longestClear {
		return false
	}
	known := c.place(of).Load()
	return known != nil && *known == of
}

// add makes a text one of them. What it is a part of is not kept alive.
func (c *cleared) add(m *Memo, of aboutText) {
	if m != nil && m.secrets != nil && len(of.about)+len(of.text) <= longestClear {
		c.place(of).Store(&aboutText{strings.Clone(of.about), strings.Clone(of.text)})
	}
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
