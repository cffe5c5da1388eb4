package model_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/test/reporttest"
)

// limited is a file that takes only some bytes, and stops being readable.
type limited struct {
	*os.File
	most int64
	gone bool
}

func (l *limited) WriteAt(src []byte, at int64) (int, error) {
	if at+int64(len(src)) > l.most {
		return 0, errors.New("full")
	}
	return l.File.WriteAt(src, at)
}

func (l *limited) ReadAt(into []byte, at int64) (int, error) {
	if l.gone {
		return 0, io.ErrUnexpectedEOF
	}
	return l.File.ReadAt(into, at)
}

// Packs are the same whether they are in memory, in a file, or in both because the file was full, and
// however often one is put in the place of another.
func TestRoom(t *testing.T) {
	const n = 200
	fill := func(room *model.Room) model.Packs {
		packs := model.Packs{Room: room}
		for i := range n {
			packs.Add(reporttest.Other(reporttest.Failing(), fmt.Sprint("p", i)))
		}
		packs.Set(n-1, reporttest.Other(reporttest.Clean(model.Passed), "last"))
		packs.Set(100, reporttest.Other(reporttest.Clean(model.Passed), "other"))
		return packs
	}
	want := fill(nil)
	for name, most := range map[string]int64{"enough": 1 << 30, "some": 20_000, "none": 0, "no file": -1} {
		f, err := os.Create(filepath.Join(t.TempDir(), "room"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		opened := 0
		got := fill(&model.Room{Open: func() (model.RoomFile, error) {
			if opened++; most < 0 {
				return nil, errors.New("no file")
			}
			return &limited{File: f, most: most}, nil
		}})
		info, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		if opened != 1 || (info.Size() > 0) != (most > 0) || info.Size() > max(0, most) {
			t.Errorf("%s: the file was opened %d times and has %d bytes", name, opened, info.Size())
		}
		a, err := got.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if b, err := want.MarshalJSON(); err != nil || string(a) != string(b) {
			t.Errorf("%s: the packs are others", name)
		}
	}
}

// A pack that cannot be read back is an error of what is written, and no part of it is left out.
func TestRoomIsLost(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "room"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	file := &limited{File: f, most: 1 << 30}
	r := reporttest.Run(model.Passed)
	r.Packs.Room = &model.Room{Open: func() (model.RoomFile, error) { return file, nil }}
	for i := range 100 {
		r.Packs.Add(reporttest.Other(reporttest.Failing(), fmt.Sprint("p", i)))
	}
	written := func() (err error) {
		defer model.Lost(&err)
		return model.JSON(io.Discard, r)
	}
	if err := written(); err != nil {
		t.Fatal(err)
	}
	file.gone = true
	if err := written(); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error %v", err)
	}
}

// A report that is read fills the room as one that is made does, however it is stored, and is the same
// report. A room that loses a pack while the report is read is an error.
func TestReadIntoRoom(t *testing.T) {
	var many []model.Pack
	for i := range 100 {
		many = append(many, reporttest.Other(reporttest.Failing(), fmt.Sprint("p", i)))
	}
	want := reporttest.JsonOf(t, shard("", many...))
	for name, src := range map[string]string{"framed": reporttest.JsonOf(t, shard("1/2", many...)), "whole": want} {
		for how, read := range map[string]func(*model.Room) (*model.Report, error){
			"a file": func(room *model.Room) (*model.Report, error) {
				s := stored(src, model.Tool{})
				s.Room = room
				return s.Read()
			},
			"a pipe": func(room *model.Room) (*model.Report, error) { return room.Read(strings.NewReader(src)) },
		} {
			f, err := os.Create(filepath.Join(t.TempDir(), "room"))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			file := &limited{File: f, most: 1 << 30}
			room := func() *model.Room { return &model.Room{Open: func() (model.RoomFile, error) { return file, nil }} }
			r, err := read(room())
			if err != nil {
				t.Fatalf("%s, %s: %v", name, how, err)
			}
			if info, err := f.Stat(); err != nil || info.Size() == 0 {
				t.Errorf("%s, %s: nothing was put into the room: %v", name, how, err)
			}
			r.Shard = "" // only that of a shard has a frame
			if got := reporttest.JsonOf(t, r); got != want {
				t.Errorf("%s, %s: the report is another one", name, how)
			}
			file.gone = true
			if _, err := read(room()); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%s, %s: error %v", name, how, err)
			}
		}
	}
}
