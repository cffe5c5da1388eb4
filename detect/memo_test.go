package detect

import (
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// A memo says what the detectors say, whoever asks, in whatever order, and however
// often; a nil one as well.
func TestMemo(t *testing.T) {
	token := "gh" + "p_" + chars("memo", digitChars+lowerChars+upperChars, 36)
	texts := []string{
		"", "short", "see " + token, token, "reset_password", "S3cr" + "et!!", "card 4111 1111 1111 1111", "call +49 30 901820", "jo@acme" + ".io",
		"pass\u200Bword=" + "Zq8vT3nLx6", "\uFDFA", strings.Repeat("x", longestValue+1), "Пароль " + token,
	}
	names := []string{"", "client_secret", "password", "token_ref", "phone", "card"}
	memo := NewMemo()
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 2 {
				for _, text := range texts {
					for _, name := range names {
						for _, m := range []*Memo{memo, nil} {
							if got, want := m.Secrets(name, text), Secrets(name, text); !reflect.DeepEqual(got, want) {
								t.Errorf("secrets of %q, %q: %v, want %v", name, text, got, want)
							}
							if got, want := m.PersonalData(name, text), PersonalData(name, text); !reflect.DeepEqual(got, want) {
								t.Errorf("personal data of %q, %q: %v, want %v", name, text, got, want)
							}
							if got, want := m.Order(text), Order(text); got != want {
								t.Errorf("the order of %q: %q, want %q", text, got, want)
							}
						}
					}
				}
			}
		})
	}
	group.Wait()
}

// What was found once is not looked for again.
func TestMemoRemembers(t *testing.T) {
	memo, calls := NewMemo(), 0
	find := func(string) []Match { calls++; return nil }
	for range 3 {
		recall(memo, memo.secrets, "text", find)
	}
	if calls != 1 {
		t.Errorf("looked %d times, want once", calls)
	}
}

// Texts that take the same places, of several memos at a time, are told apart, and long ones are
// not kept.
func TestCleared(t *testing.T) {
	var c cleared
	memo, all := NewMemo(), map[aboutText]bool{}
	for i := range 3 * mostCleared {
		of := aboutText{strings.Repeat("a", i%7), chars(strconv.Itoa(i), lowerChars, 1+i%80)}
		if c.has(memo, of) && !all[of] {
			t.Fatalf("%q is known before it was looked at", of)
		}
		c.add(memo, of)
		all[of] = true
		if short := len(of.about)+len(of.text) <= longestClear; c.has(memo, of) != short || c.has(nil, of) || c.has(&Memo{}, of) {
			t.Fatalf("%q is known: %v, want %v", of, c.has(memo, of), short)
		}
		if c.has(memo, aboutText{of.text, of.about}) && !all[aboutText{of.text, of.about}] {
			t.Fatalf("%q is taken for what is around it", of)
		}
	}
	if c.has(memo, aboutText{}) {
		t.Error("a text that nobody has looked at is known")
	}
}
