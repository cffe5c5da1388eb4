package export

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"reflect"
	"strings"
	"unicode/utf8"
)

// lines returns events as JSON Lines.
func lines(events []Event) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for i := range events {
		if err := e.Encode(&events[i]); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// table returns events as CSV (RFC 4180) with a header. The columns are the members of an
// event, in their order.
func table(events []Event) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.UseCRLF = true
	form := reflect.TypeFor[Event]()
	row := make([]string, form.NumField())
	for i := range row {
		row[i], _, _ = strings.Cut(form.Field(i).Tag.Get("json"), ",")
	}
	if err := w.Write(row); err != nil {
		return nil, err
	}
	for i := range events {
		members := reflect.ValueOf(&events[i]).Elem()
		for j := range row {
			row[j] = cell(members.Field(j).String())
		}
		if err := w.Write(row); err != nil {
			return nil, err
		}
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

// cell returns a text as a cell that no spreadsheet takes for a formula: one that begins as a
// formula may is prefixed (OWASP, CSV Injection).
func cell(text string) string {
	if first, _ := utf8.DecodeRuneInString(text); text != "" && strings.ContainsRune("=+-@\t\r\n＝＋－＠", first) {
		return "'" + text
	}
	return text
}
