package render

import (
	"embed"
	"fmt"
	"path"
	"strings"
	"sync"

	"github.com/contextosai/packgate/report/template"
)

//go:embed html/*.tmpl
var htmlTemplates embed.FS

var loadHTML = sync.OnceValues(func() (*template.Set, error) {
	texts, err := htmlTexts()
	if err != nil {
		return nil, err
	}
	return template.Parse(texts, template.Options{Escape: htmlText, Funcs: map[string]template.Func{
		"address": func(args []any) (any, error) { return htmlAddress(fmt.Sprint(args...)), nil },
		"parts":   func(args []any) (any, error) { return nameParts(fmt.Sprint(args...)), nil },
	}})
})

// htmlTexts returns the templates by their names.
func htmlTexts() (map[string]string, error) {
	all, err := htmlTemplates.ReadDir("html")
	if err != nil {
		return nil, err
	}
	texts := map[string]string{}
	for _, file := range all {
		text, err := htmlTemplates.ReadFile(path.Join("html", file.Name()))
		if err != nil {
			return nil, err
		}
		texts[file.Name()] = string(text)
	}
	return texts, nil
}

// activeHTML are the characters that mean something between tags or in a value within
// quotes. A plus is one for readers that take a page for UTF-7, and U+0000 is no text.
var activeHTML = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;", "+", "&#43;", "\x00", "\uFFFD")

// htmlText escapes text for a place between tags, or for the value of an attribute within
// quotes.
func htmlText(s string) string { return activeHTML.Replace(s) }

// htmlAddress returns an address to link to, in the characters of RFC 3986: a place in the
// page, a page beside it, or a page of the web. All else links to the beginning of the page.
func htmlAddress(s string) string {
	if isPageName(s) {
		return s
	}
	if !strings.HasPrefix(s, "#") && !strings.HasPrefix(s, "https://") && !strings.HasPrefix(s, "http://") {
		return "#"
	}
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		switch {
		case isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'z' || strings.IndexByte("-._~!#$&*+,/:;=?@[]", c) >= 0,
			c == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]):
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02x", c)
		}
	}
	return b.String()
}

func isHex(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }
