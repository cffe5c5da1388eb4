package openapi

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

const sample = `{
  "openapi": "3.0.3", "info": {"title": "t", "version": "1"},
  "paths": {
    "/a": {
      "get": {"responses": {"200": {"description": "-", "content": {"application/json": {
        "schema": {"$ref": "#/components/schemas/one"}, "examples": {"x": {"$ref": "#/components/examples/x"}}}}}}, "x-github": {}},
      "post": {"responses": {"200": {"$ref": "#/components/responses/none"}}}
    },
    "/b": {"get": {"responses": {}}}
  },
  "components": {
    "schemas": {
      "one": {"type": "object", "example": {"a": 1}, "properties": {"two": {"$ref": "#/components/schemas/two"}, "example": {"type": "string"}}},
      "two": {"oneOf": [{"$ref": "#/components/schemas/one"}], "discriminator": {"propertyName": "k", "mapping": {"v": "#/components/schemas/three"}}},
      "three": {"type": "string"}, "four": {"type": "string"}
    },
    "responses": {}, "examples": {"x": {"value": 1}}
  },
  "x-webhooks": {}
}`

func TestTrim(t *testing.T) {
	trimmed, err := Trim([]byte(sample), []string{"GET /a"})
	if err != nil {
		t.Fatal(err)
	}
	var got, want any
	const wanted = `{
  "openapi": "3.0.3", "info": {"title": "t", "version": "1"},
  "paths": {"/a": {"get": {"responses": {"200": {"description": "-", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/one"}}}}}}}},
  "components": {"schemas": {
    "one": {"type": "object", "properties": {"two": {"$ref": "#/components/schemas/two"}, "example": {"type": "string"}}},
    "two": {"oneOf": [{"$ref": "#/components/schemas/one"}], "discriminator": {"propertyName": "k", "mapping": {"v": "#/components/schemas/three"}}},
    "three": {"type": "string"}}}}`
	if err := json.Unmarshal(trimmed, &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(wanted), &want); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s", trimmed)
	}
}

func TestTrimRefuses(t *testing.T) {
	for operation, want := range map[string]string{
		"GET /c": "does not have GET /c", "PUT /a": "does not have PUT /a", "POST /a": `refers to "#/components/responses/none"`,
	} {
		if _, err := Trim([]byte(sample), []string{operation}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", operation, err)
		}
	}
	if _, err := Trim([]byte(sample), nil); err == nil {
		t.Error("a description of nothing is made")
	}
}
