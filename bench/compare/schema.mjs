// Validates pack files against a JSON Schema.
//
//   node schema.mjs SCHEMA PACK...
//
// Prints a line for each fault, and exits with 1 where there is one.
import { readFileSync } from "node:fs";
import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

const [schema, ...packs] = process.argv.slice(2);
const ajv = new Ajv2020({ allErrors: true, strict: false });
addFormats(ajv);
const validate = ajv.compile(JSON.parse(readFileSync(schema, "utf8")));
for (const file of packs) {
  if (!validate(JSON.parse(readFileSync(file, "utf8")))) {
    for (const e of validate.errors) console.log(`${file}: schema: ${e.instancePath || "/"} ${e.message}`);
    process.exitCode = 1;
  }
}
