//go:build playground

package playground

import _ "embed"

//go:embed dist/playground.wasm.gz
var program []byte

//go:embed dist/wasm_exec.js
var starter string
