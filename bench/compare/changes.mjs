// Compares packs with their state in a git revision.
//
//   node changes.mjs REVISION
//
// The current folder is the repository. Prints a line for each value that differs.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { create } from "jsondiffpatch";

const [revision] = process.argv.slice(2);
const git = (...args) => execFileSync("git", args, { encoding: "utf8", maxBuffer: 1 << 28 });
// Lists are compared by the ids of their objects, as packs have them.
const ids = ["bundle_id", "rule_id", "gate_id", "adapter_id", "permission_id", "decision_key", "intent", "metric"];
const differ = create({
  objectHash: (o, index) => o[ids.find((id) => id in o && (id !== "adapter_id" || !("permission_id" in o)))] ?? `$${index}`,
});

// print walks a delta of jsondiffpatch: a list is a value that was added, changed
// or removed, an object leads further down.
function print(file, path, delta) {
  if (Array.isArray(delta)) {
    const kind = delta.length === 1 ? "added" : delta.length === 2 ? "changed" : delta[2] === 3 ? "moved" : "removed";
    console.log(`${file}: ${kind} ${path}`);
    return;
  }
  for (const [name, inner] of Object.entries(delta)) {
    if (name !== "_t") print(file, `${path}/${name}`, inner);
  }
}

for (const file of git("diff", "--name-only", revision, "--", "packs/*/pack.json").split("\n").filter(Boolean)) {
  const delta = differ.diff(JSON.parse(git("show", `${revision}:${file}`)), JSON.parse(readFileSync(file, "utf8")));
  if (delta) print(file, "", delta);
}
