package render

import (
	"fmt"
	"net/url"
	"regexp"
	"strconv"
)

// Marker is what packgate writes, as an HTML comment that nobody sees, at the start
// of its comments, to find them again. Whoever looks for one has to look at the
// author too: anybody can write it.
type Marker struct {
	Key     string // tells apart the comments of several workflows or configs
	Head    string // SHA of the commit that the comment is about
	Run     int64  // number of the workflow run, which grows
	Attempt int    // of the run, from 1
}

// MarkerPrefix is what every marker begins with.
const MarkerPrefix = "<!-- packgate:comment v1 "

// String returns the marker in one line. Whatever the key holds, it ends the HTML
// comment nowhere but at the end.
func (m Marker) String() string {
	return fmt.Sprintf("%skey=%s head=%s run=%d attempt=%d -->", MarkerPrefix, url.QueryEscape(m.Key), url.QueryEscape(m.Head), m.Run, m.Attempt)
}

var markerLine = regexp.MustCompile(`^` + MarkerPrefix + `key=(\S*) head=(\S*) run=([0-9]+) attempt=([0-9]+) -->(?:\r?\n|$)`)

// ParseMarker reads the marker at the very start of a comment's body; ok is false
// where there is none.
func ParseMarker(body string) (m Marker, ok bool) {
	found := markerLine.FindStringSubmatch(body)
	if found == nil {
		return Marker{}, false
	}
	var errs [4]error
	m.Key, errs[0] = url.QueryUnescape(found[1])
	m.Head, errs[1] = url.QueryUnescape(found[2])
	m.Run, errs[2] = strconv.ParseInt(found[3], 10, 64)
	m.Attempt, errs[3] = strconv.Atoi(found[4])
	if errs != [4]error{} {
		return Marker{}, false
	}
	return m, true
}
