// Context Packs for Spectral: their JSON Schema, and the references that packgate reports as
// REF001 to REF004.
import { readFileSync } from "node:fs";
import { schema } from "@stoplight/spectral-functions";

const pack = JSON.parse(readFileSync(process.env.PACK_SCHEMA, "utf8"));

const list = (v) => (Array.isArray(v) ? v : []);
const rules = (p) => list(p.policy_layer?.policy_bundles).flatMap((b) => list(b.policy_dsl?.rules));

// names says which names are not declared: of each use its message.
const undeclared = (uses) => (p) => uses(p).filter(({ name, declared }) => name !== undefined && !declared.includes(name)).map(({ message }) => ({ message }));

const bindings = undeclared((p) => {
  const declared = list(p.decision_layer?.decision_specs).map((d) => d.decision_key);
  return rules(p).map((r) => ({ name: r.decision_binding, declared, message: `REF001: rule ${r.rule_id} is bound to the decision ${r.decision_binding}, which does not exist` }));
});

const gates = undeclared((p) => {
  const declared = list(p.policy_layer?.approval_gates).map((g) => g.gate_id);
  return rules(p).flatMap((r) => [r.then, r.else].map((o) => ({ name: o?.requires_approval_gate, declared, message: `REF002: rule ${r.rule_id} requires the gate ${o?.requires_approval_gate}, which does not exist` })));
});

const adapters = undeclared((p) => {
  const declared = list(p.tooling_layer?.adapter_registry).map((a) => a.adapter_id);
  return list(p.tooling_layer?.permissions).map((one) => ({ name: one.adapter_id, declared, message: `REF003: permission ${one.permission_id} names the adapter ${one.adapter_id}, which does not exist` }));
});

const capabilities = undeclared((p) =>
  list(p.tooling_layer?.permissions).map((one) => {
    const adapter = list(p.tooling_layer?.adapter_registry).find((a) => a.adapter_id === one.adapter_id);
    return { name: adapter && one.capability, declared: list(adapter?.capabilities), message: `REF004: permission ${one.permission_id} names the capability ${one.capability}, which its adapter does not have` };
  }),
);

const rule = (run, options) => ({ given: "$", severity: "error", then: { function: run, functionOptions: options } });

export default {
  rules: {
    schema: rule(schema, { schema: pack, allErrors: true }),
    bindings: rule(bindings),
    gates: rule(gates),
    adapters: rule(adapters),
    capabilities: rule(capabilities),
  },
};
