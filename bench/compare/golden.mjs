// Evaluates the rules of packs for their golden cases, and compares the rules that
// decide, the gates that they require and the decisions that they deny with what
// each case expects.
//
//   node golden.mjs PACK...
//
// Prints a line for each difference, and exits with 1 where there is one.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import jsonLogic from "json-logic-js";

const read = (file) => JSON.parse(readFileSync(file, "utf8"));

// outcomes returns what the rules of a pack come to in a case.
function outcomes(pack, data) {
  const found = { rules: [], gates: [], denied: [] };
  for (const bundle of pack.policy_layer.policy_bundles) {
    for (const rule of bundle.policy_dsl.rules) {
      if (rule.applies_to?.intent && rule.applies_to.intent !== data.intent) continue;
      const outcome = jsonLogic.apply(rule.if, data) ? rule.then : rule.else;
      if (!outcome) continue;
      found.rules.push(rule.rule_id);
      if (outcome.requires_approval_gate) found.gates.push(outcome.requires_approval_gate);
      if (outcome.allow === false) found.denied.push(rule.decision_binding);
    }
  }
  return found;
}

const sorted = (list) => JSON.stringify([...new Set(list ?? [])].sort());

for (const file of process.argv.slice(2)) {
  const pack = read(file);
  const folder = join(dirname(file), "golden");
  for (const name of readdirSync(folder).filter((n) => n.endsWith(".case.json"))) {
    const one = read(join(folder, name));
    const found = outcomes(pack, { ...one.run_context, request: one.invoke.input });
    for (const part of ["rules", "gates", "denied"]) {
      if (sorted(found[part]) === sorted(one.expect[part])) continue;
      console.log(`${join(folder, name)}: golden: ${part} ${sorted(found[part])}, expected ${sorted(one.expect[part])}`);
      process.exitCode = 1;
    }
  }
}
