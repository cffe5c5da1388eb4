package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/contextosai/packgate/diffing"
)

const classesIntro = `# Version classes

Every change between two versions of a pack has a class; the class of the pack is the highest of them:
none < patch < minor < major < reject. *Patch* is metadata only, *minor* is constrained behaviour, *major* is
expanded or changed behaviour, and *reject* is unsafe or ambiguous and has to be redesigned.

Rows marked ★ are open in the public text: the report says that they need a human class, the stricter one is
taken, and the config may set another one with a reason (` + "`classes: [{change: ID, class: …, reason: …}]`" + `), never one
in the place of reject.

Where the class reads *proof*, what the two packs permit as a whole is compared first, over all requests: the same is
patch, less is minor, more is major, each with a request that shows it. The class behind it is for what cannot be proved.

| Layer | Change | Class | Why | ID |
| --- | --- | --- | --- | --- |
`

func writeClasses(b *bytes.Buffer) {
	b.WriteString(classesIntro)
	for _, row := range diffing.Table() {
		class := row.Class.String()
		if row.Human {
			class += "★"
		}
		if row.Proved {
			class = "*proof*, else " + class
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | `%s` |\n", row.Layer, cell(row.What), class, cell(row.Reason), row.ID)
	}
}

func cell(s string) string { return strings.NewReplacer("|", `\|`, "*", `\*`).Replace(s) }
