package risk

import (
	"testing"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/test/gatetest"
)

func TestExample(t *testing.T) {
	amount, _ := jsonlogic.Compile(gatetest.Read("x", []byte(`{">": [{"var": "request.context.refund_amount"}, 3000]}`)).Root)
	request := func(context map[string]any) map[string]any {
		return map[string]any{"request": map[string]any{"intent": "support.refund", "context": context}}
	}
	for _, c := range []struct {
		witness map[string]any
		about   []*jsonlogic.Expr
		want    string
	}{
		{request(map[string]any{"refund_amount": 3000.0, "identity_verified": true}), []*jsonlogic.Expr{amount}, ", for example refund_amount 3000"},
		{request(map[string]any{"refund_amount": 3000.0, "identity_verified": true}), nil, ", for example identity_verified true, refund_amount 3000"},
		{map[string]any{"user": map[string]any{"role": "a\"b"}}, []*jsonlogic.Expr{amount}, `, for example user.role "a\"b"`},
		{request(map[string]any{"a": nil, "b": []any{}, "c": map[string]any{}, "d": 1e21, "e": 5.0}), nil,
			", for example a null, b [], c {}, d 1e+21, …"},
		{request(map[string]any{}), nil, ", for example request.context {}"},
		{map[string]any{"request": map[string]any{"intent": "i"}}, nil, ", for example in any request"},
		{nil, nil, ", for example in any request"},
	} {
		if got := example(c.witness, c.about...); got != c.want {
			t.Errorf("%v: got %q, want %q", c.witness, got, c.want)
		}
	}
}

func TestWriteVerb(t *testing.T) {
	for name, want := range map[string]string{
		"issue_refund": "issue", "createOrder": "create", "HTTPDelete": "", "orders.delete": "delete", "sendEmail": "send",
		"SEND": "send", "refund": "refund", "refund_status": "", "refund_lookup": "", "update_status": "update",
		"lookup": "", "get_update": "", "": "", "___": "", "settings": "", "address": "", "bulk-update": "update",
		"set_state": "set", "lookup_and_delete": "", "order_cancel": "cancel",
	} {
		if got := writeVerb(name); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

func TestFold(t *testing.T) {
	for word, want := range map[string]string{
		"Read-Only": "read_only", " external state ": "external_state", "none": "none", "": "",
	} {
		if got := gate.Fold(word); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
}
