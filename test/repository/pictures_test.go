package repository_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/test/pictures"
)

// The pictures of pages in docs/ show the pages as packgate writes them now.
func TestPictures(t *testing.T) {
	found, err := filepath.Glob("docs/pictures/review-*.png")
	if err != nil || len(found) < 30 {
		t.Fatalf("there are %d pictures: %v", len(found), err)
	}
	for _, name := range found {
		page, kind := pageOf(name)
		if !slices.Contains(pictures.Kinds, kind) {
			t.Errorf("%s: ends with none of %q", name, pictures.Kinds)
		}
		png, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		src, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if pictures.Shows(png) != pictures.Digest(string(src)) {
			t.Errorf("%s is no picture of %s as it is now: run `make pictures`, and look at it", name, page)
		}
	}
}

// pageOf returns the page that a picture is of, and in which kind.
func pageOf(picture string) (page, kind string) {
	name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(picture), "review-"), ".png")
	i := strings.LastIndexByte(name, '-')
	return filepath.Join("test", "review", "testdata", name[:i]+".md"), name[i+1:]
}

// What is folded, or only a target of a link, is not seen; everything else is.
func TestSeen(t *testing.T) {
	page := func(fold, link, text, commit string) string {
		return "### " + text + " [`a`](<https://x/" + link + ">)\n<details><summary>2 errors</summary>\n" + fold + "<details><summary>more</summary>" + fold + "</details>\n</details>\n<sub>base " + commit + "</sub>\n"
	}
	a := pictures.Digest(page("one", "1", "t", "c"))
	if b := pictures.Digest(page("two", "2", "t", "d")); a != b {
		t.Errorf("a page is another where only its folds and links are: %s", pictures.Seen(page("two", "2", "t", "d")))
	}
	if b := pictures.Digest(page("one", "1", "u", "c")); a == b {
		t.Error("a page is the same where its headline is not")
	}
}
