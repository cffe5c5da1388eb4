// Verifies a Sigstore bundle with sigstore-js, which shares no code with sigstore-go:
// the signature, the certificate and its timestamp, the log's entry, the signed time,
// and who signed. The statement's subjects are compared with the file here, because the
// library leaves that to its callers.
// usage: node verify.mjs BUNDLE TRUSTED_ROOT FILE ISSUER WORKFLOW PREDICATE_TYPE
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

// The packages lie where npm put them, and not beside this file.
const need = createRequire(process.env.SIGSTORE_JS + "/");
const { bundleFromJSON } = need("@sigstore/bundle");
const { TrustedRoot } = need("@sigstore/protobuf-specs");
const { toSignedEntity, toTrustMaterial, Verifier } = need("@sigstore/verify");

const [bundleFile, rootFile, file, issuer, workflow, predicateType] = process.argv.slice(2);
const json = (name) => JSON.parse(readFileSync(name, "utf8"));

const bundle = bundleFromJSON(json(bundleFile));
const material = toTrustMaterial(TrustedRoot.fromJSON(json(rootFile)));
const verifier = new Verifier(material, { ctlogThreshold: 1, tlogThreshold: 1, timestampThreshold: 1 });
verifier.verify(toSignedEntity(bundle), {
  subjectAlternativeName: workflow,
  extensions: { issuer },
});

const statement = JSON.parse(bundle.content.dsseEnvelope.payload.toString("utf8"));
const digest = createHash("sha256").update(readFileSync(file)).digest("hex");
if (statement.predicateType !== predicateType) {
  throw new Error(`the predicate is of type ${statement.predicateType}`);
}
if (!statement.subject.some((s) => s.digest.sha256 === digest)) {
  throw new Error(`no subject has the digest ${digest}`);
}
console.log("verified");
