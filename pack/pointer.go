package pack

import "bytes"

// What is said of a file whose content is in Git LFS and was not checked out.
const (
	PointerMessage = "this is a Git LFS pointer, and not the file that it stands for"
	PointerHint    = "set `lfs: true` on actions/checkout, or run git lfs pull"
)

// mostPointer is how many bytes a Git LFS pointer has at most.
const mostPointer = 1024

// IsPointer reports whether content is a Git LFS pointer: what git has in the place of a
// file that is kept in Git LFS. It says nothing of the file, and is never judged as one.
func IsPointer(content []byte) bool {
	return len(content) < mostPointer && bytes.HasPrefix(content, []byte("version https://git-lfs.github.com/spec/"))
}
