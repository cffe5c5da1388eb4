package policy

import (
	"reflect"
	"testing"
)

func TestOverlay(t *testing.T) {
	under := map[string]any{"user": map[string]any{"role": "a", "id": "u"}, "x": 1.0}
	over := map[string]any{"user": map[string]any{"role": "b"}, "x": map[string]any{"y": nil}}
	got := Overlay(under, over)
	want := map[string]any{"user": map[string]any{"role": "b", "id": "u"}, "x": map[string]any{"y": nil}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if under["user"].(map[string]any)["role"] != "a" {
		t.Error("the request below was changed")
	}
	if got := Overlay(nil, nil); got == nil || len(got) != 0 {
		t.Errorf("nothing over nothing is %v", got)
	}
}
