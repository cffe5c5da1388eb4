// An editor made of Microsoft's own client library. It starts the program that it is
// given, opens a pack that is wrong, fixes it with what is offered, and asks for what is
// known of names. What it saw is printed as one JSON object; what it expected and did not
// see ends it with an error.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';

const [modules, program, repository] = process.argv.slice(2);
const require = createRequire(join(modules, 'package.json'));
const p = require('vscode-languageserver-protocol/node');
const { TextDocument } = require('vscode-languageserver-textdocument');

const server = spawn(program, ['lsp', '--stdio'], { cwd: repository, stdio: ['pipe', 'pipe', 'inherit'] });
const ended = new Promise((done) => server.on('exit', done));
const connection = p.createProtocolConnection(new p.StreamMessageReader(server.stdout), new p.StreamMessageWriter(server.stdin));
connection.onRequest(p.RegistrationRequest.type, () => {});

const shown = new Map();
let arrived = () => {};
connection.onNotification(p.PublishDiagnosticsNotification.type, (d) => { shown.set(d.uri, d); arrived(); });
connection.listen();

async function until(what, holds) {
  const late = Date.now() + 120_000;
  while (!holds()) {
    if (Date.now() > late) throw new Error(`waited in vain: ${what}: ${JSON.stringify([...shown])}`);
    await new Promise((next) => { arrived = next; setTimeout(next, 1000); });
  }
}

const out = {};
const init = await connection.sendRequest(p.InitializeRequest.type, {
  processId: process.pid, rootUri: pathToFileURL(repository).href, workspaceFolders: null,
  capabilities: {
    general: { positionEncodings: ['utf-16'] },
    workspace: { workspaceEdit: { documentChanges: true }, didChangeWatchedFiles: { dynamicRegistration: true } },
    textDocument: { publishDiagnostics: { relatedInformation: true, codeDescriptionSupport: true }, hover: { contentFormat: ['markdown'] }, codeAction: { codeActionLiteralSupport: { codeActionKind: { valueSet: ['quickfix', 'source'] } } } },
  },
});
out.server = init.serverInfo.name;
await connection.sendNotification(p.InitializedNotification.type, {});

const file = join(repository, 'packs', 'support', 'pack.json');
const uri = pathToFileURL(file).href;
const bad = readFileSync(file, 'utf8').replaceAll('\n', '\r\n')
  .replace('"Acme Support"', '"Acme 🦀 Support"')
  .replace('"pii_write_back_allowed": false', '"pii_write_back_allowed": true');
let doc = TextDocument.create(uri, 'json', 1, bad);
await connection.sendNotification(p.DidOpenTextDocumentNotification.type, { textDocument: { uri, languageId: 'json', version: 1, text: bad } });
const has = (code) => (shown.get(uri)?.diagnostics ?? []).find((d) => d.code === code);
await until('the finding', () => has('SEC008'));
const finding = has('SEC008');
out.found = doc.getText(finding.range);
out.page = finding.codeDescription.href;

const actions = await connection.sendRequest(p.CodeActionRequest.type, { textDocument: { uri }, range: finding.range, context: { diagnostics: [finding] } });
out.actions = actions.map((a) => a.kind);
const edits = actions[0].edit.documentChanges[0].edits;
await connection.sendNotification(p.DidChangeTextDocumentNotification.type, {
  textDocument: { uri, version: 2 }, contentChanges: edits.map((e) => ({ range: e.range, text: e.newText })),
});
doc = TextDocument.create(uri, 'json', 2, TextDocument.applyEdits(doc, edits));
await until('no finding', () => shown.get(uri)?.version === 2 && !has('SEC008'));
out.fixed = doc.getText() === bad.replace('"pii_write_back_allowed": true', '"pii_write_back_allowed": false');
out.left = shown.get(uri).diagnostics.map((d) => d.code);

const at = doc.positionAt(doc.getText().indexOf('"support.refund.execute"', doc.getText().indexOf('"decision_binding"')) + 3);
const hover = await connection.sendRequest(p.HoverRequest.type, { textDocument: { uri }, position: at });
out.hover = hover.contents.value.split('\n')[0].replace(/\(.*/, '');
const places = await connection.sendRequest(p.DefinitionRequest.type, { textDocument: { uri }, position: at });
out.definition = places.map((l) => l.uri === uri && doc.getText(l.range));
const items = await connection.sendRequest(p.CompletionRequest.type, { textDocument: { uri }, position: at });
out.completion = items.map((i) => i.label);

await connection.sendRequest(p.ShutdownRequest.type);
await connection.sendNotification(p.ExitNotification.type);
out.exit = await ended;
console.log(JSON.stringify(out));
process.exit(0);
