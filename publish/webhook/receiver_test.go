package webhook

import (
	"crypto/hmac"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// received checks what a receiver got. The documentation shows it as the way to do that, and a test
// compares the two.
func received(secret []byte, header http.Header, body []byte, now time.Time) error {
	id, stamp := header.Get("Webhook-Id"), header.Get("Webhook-Timestamp")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return errors.New("no time of sending")
	}
	at := time.Unix(seconds, 0)
	if age := now.Sub(at); age > 5*time.Minute || age < -5*time.Minute {
		return errors.New("sent more than five minutes ago, or in the future")
	}
	want := Sign(secret, id, at, body) // "v1," + base64(HMAC-SHA-256(secret, id + "." + stamp + "." + body))
	for _, got := range strings.Fields(header.Get("Webhook-Signature")) {
		if hmac.Equal([]byte(got), []byte(want)) { // takes as long whatever is wrong
			return nil
		}
	}
	return errors.New("not signed with the secret")
}
