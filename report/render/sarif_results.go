package render

import (
	"bufio"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"io"

	"github.com/contextosai/packgate/report/model"
)

// noResults ends a log without any results, which are the last member of its last run, and
// resultIndent is before each line of one.
const (
	noResults    = "[]\n    }\n  ]\n}\n"
	resultIndent = "        "
)

// writeResults writes a log with its results, one by one: all of them together may be much larger
// than anything else.
func writeResults(w io.Writer, around []byte, ranks []*resultRank, most int) error {
	before, found := bytes.CutSuffix(around, []byte(noResults))
	if !found {
		return errors.New("the log does not end with its results") // it always does
	}
	if _, err := w.Write(append(before, '[')); err != nil {
		return err
	}
	end, separator := noResults[1:], "\n"+resultIndent
	for _, rank := range ranks {
		err := rank.each(most, func(src []byte) error {
			_, err := w.Write(append([]byte(separator), src...))
			end, separator = "\n      "+noResults[1:], ",\n"+resultIndent
			return err
		})
		if err != nil {
			return err
		}
		most -= min(most, rank.n)
	}
	_, err := io.WriteString(w, end)
	return err
}

// resultRank are results of one weight, as they are written, but compressed.
type resultRank struct {
	n      int
	packed bytes.Buffer
	to     *flate.Writer // nil before the first one
}

// add puts a result behind the others.
func (r *resultRank) add(result sarifResult) error {
	src, err := model.Indented(result, resultIndent)
	if err != nil {
		return err
	}
	if r.to == nil {
		if r.to, err = flate.NewWriter(&r.packed, flate.BestSpeed); err != nil {
			return err
		}
	}
	src = bytes.TrimSuffix(src, []byte("\n"))
	r.n++
	_, err = r.to.Write(append(binary.AppendUvarint(nil, uint64(len(src))), src...))
	return err
}

// each hands out the first results, and ends the rank.
func (r *resultRank) each(most int, do func(src []byte) error) error {
	if r.to == nil {
		return nil
	}
	if err := r.to.Close(); err != nil {
		return err
	}
	from := bufio.NewReader(flate.NewReader(&r.packed))
	for range min(most, r.n) {
		length, err := binary.ReadUvarint(from)
		if err != nil {
			return err
		}
		src := make([]byte, length)
		if _, err := io.ReadFull(from, src); err != nil {
			return err
		}
		if err := do(src); err != nil {
			return err
		}
	}
	return nil
}
