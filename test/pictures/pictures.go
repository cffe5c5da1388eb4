// Package pictures ties each picture of a page in docs/pictures to the page that it shows, so
// that a picture of an older page is found.
package pictures

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"regexp"
	"strings"
)

// Kinds are the ends of the names of pictures: on a screen, in the dark, and on a phone.
var Kinds = []string{"light", "dark", "phone"}

var (
	folded = regexp.MustCompile(`(?s)(<details><summary>.*?</summary>).*?</details>`)
	target = regexp.MustCompile(`\]\(<[^>]*>\)`)
	footer = regexp.MustCompile(`(?s)<sub>base .*?</sub>`)
)

// Seen returns what a picture shows of a page of Markdown: nothing that is folded, no target of a
// link, and not the last line, which names commits.
func Seen(page string) string {
	for { // a fold within a fold
		less := folded.ReplaceAllString(page, "$1")
		if less == page {
			break
		}
		page = less
	}
	return footer.ReplaceAllString(target.ReplaceAllString(page, "]"), "")
}

const (
	keyword = "Page"
	header  = 8 + 25 // the signature of a PNG and its first chunk, IHDR
)

// Digest returns the SHA-256 of what a picture shows of a page, in hexadecimal digits.
func Digest(page string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(Seen(page)))) }

// Mark returns a PNG with the digest of its page in a chunk tEXt (PNG, third edition, 11.3.3.2).
func Mark(png []byte, page string) []byte {
	body := []byte("tEXt" + keyword + "\x00" + Digest(page))
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(body)-4))
	chunk = append(chunk, body...)
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(body))
	return bytes.Join([][]byte{png[:header], chunk, png[header:]}, nil)
}

// Shows returns the digest of the page that a PNG shows, and nothing where none is in it.
func Shows(png []byte) string {
	_, rest, ok := strings.Cut(string(png), "tEXt"+keyword+"\x00")
	if !ok || len(rest) < 2*sha256.Size {
		return ""
	}
	return rest[:2*sha256.Size]
}
