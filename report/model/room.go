package model

import (
	"fmt"
	"io"
)

// Room is where sealed packs are put that need not be in memory. One file takes all of them, behind one
// another; what cannot be put there stays in memory.
type Room struct {
	// Open opens the file when it is first needed. Nobody else may have it.
	Open func() (RoomFile, error)
	file RoomFile
	size int64
	full bool // or there is no file
}

// RoomFile is the file of a Room.
type RoomFile interface {
	io.ReaderAt
	io.WriterAt
}

// put puts a sealed pack into the room; nil where there is no room.
func (r *Room) put(sealed []byte) *spilled {
	if r == nil || r.full {
		return nil
	}
	if r.file == nil {
		file, err := r.Open()
		if r.full = err != nil; r.full {
			return nil
		}
		r.file = file
	}
	if _, err := r.file.WriteAt(sealed, r.size); err != nil {
		r.full = true // what was put there before is there still
		return nil
	}
	at := r.size
	r.size += int64(len(sealed))
	return &spilled{r.file, at, len(sealed)}
}

// spilled is a sealed pack in a room.
type spilled struct {
	in    io.ReaderAt
	at    int64
	bytes int
}

// open returns the pack.
func (s *spilled) open() (*Pack, error) {
	sealed := make([]byte, s.bytes)
	if n, err := s.in.ReadAt(sealed, s.at); n < len(sealed) {
		return nil, fmt.Errorf("read what was put into a temporary file: %w", err)
	}
	return unseal(sealed)
}
