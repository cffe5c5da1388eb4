// Reads cases {"rule", "data"}, one a line (without data: that of the
// line before), and writes them with the answer of
// the reference implementation.
import { createInterface } from "node:readline";
import jsonLogic from "json-logic-js";

// special names a value, or the part of it, that JSON would lose or change.
function special(value) {
  if (value === null || typeof value === "string" || typeof value === "boolean") return undefined;
  if (typeof value === "number") return Number.isFinite(value) ? undefined : String(value);
  if (typeof value !== "object") return typeof value;
  if (Array.isArray(value)) return first(value);
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype) return "an object of JavaScript";
  return first(Object.values(value));
}

function first(values) {
  for (const value of values) {
    const found = special(value);
    if (found !== undefined) return found;
  }
  return undefined;
}

function answer(rule, data) {
  let result;
  try {
    result = jsonLogic.apply(rule, data);
  } catch (error) {
    return { special: error.name };
  }
  const truthy = jsonLogic.truthy(result);
  const odd = special(result);
  return odd === undefined ? { result, truthy } : { special: odd, truthy };
}

let data;
for await (const line of createInterface({ input: process.stdin })) {
  const one = JSON.parse(line);
  if ("data" in one) data = one.data;
  console.log(JSON.stringify({ ...one, ...answer(one.rule, data) }));
}
