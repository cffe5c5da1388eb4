package e2e

import (
	"bytes"
	"cmp"
	"fmt"
	picture "image"
	"image/color"
	"image/png"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/contextosai/packgate/test/pictures"
)

// The pictures of pages in docs/ are taken where PICTURES is set (`make pictures`): each that is
// there is taken anew. test/repository holds them against the pages.
func TestPictures(t *testing.T) {
	if os.Getenv("PICTURES") == "" {
		t.Skip("PICTURES is not set")
	}
	folder := filepath.Join("..", "docs", "pictures")
	for _, kind := range pictures.Kinds {
		found, err := filepath.Glob(filepath.Join(folder, "review-*-"+kind+".png"))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v", kind, err)
		}
		pages, files := map[string]string{}, map[string]string{}
		for _, file := range found {
			name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "review-"), "-"+kind+".png")
			src, err := os.ReadFile(filepath.Join("..", "test", "review", "testdata", name+".md"))
			if err != nil {
				t.Fatal(err)
			}
			pages[name], files[name] = string(src), file
		}
		for name, shot := range taken(t, pages, kind) {
			if err := os.WriteFile(files[name], pictures.Mark(shot, pages[name]), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// taken returns a PNG of each page, by its name.
func taken(t *testing.T, pages map[string]string, kind string) map[string][]byte {
	t.Helper()
	theme, width := "light", int64(wideComment)
	if kind == "dark" {
		theme = kind
	}
	if kind == "phone" {
		width = narrowComment
	}
	file := filepath.Join(t.TempDir(), kind+".html")
	write(t, file, asShown(t, pages, theme))
	b := startBrowser(t)
	b.run(t, chromedp.EmulateViewport(width, 900), chromedp.Navigate((&url.URL{Scheme: "file", Path: file}).String()), chromedp.WaitVisible("article"))
	list := map[string][]byte{}
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		var shot []byte
		b.run(t, chromedp.Screenshot(fmt.Sprintf("article[title=%q]", name), &shot, chromedp.ByQuery))
		list[name] = smaller(t, shot)
	}
	return list
}

// smaller returns a picture with the 256 colours that it has most of; the others become the
// nearest of them.
func smaller(t *testing.T, shot []byte) []byte {
	t.Helper()
	full, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		t.Fatal(err)
	}
	count := map[color.Color]int{}
	area := full.Bounds()
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			count[full.At(x, y)]++
		}
	}
	most := slices.SortedFunc(maps.Keys(count), func(a, b color.Color) int {
		return cmp.Or(count[b]-count[a], strings.Compare(fmt.Sprint(a), fmt.Sprint(b)))
	})
	palette := color.Palette(most[:min(len(most), 256)])
	index := map[color.Color]uint8{}
	for _, c := range most {
		index[c] = uint8(palette.Index(c))
	}
	small := picture.NewPaletted(area, palette)
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			small.SetColorIndex(x, y, index[full.At(x, y)])
		}
	}
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, small); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
