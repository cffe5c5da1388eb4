// Package e2e holds the tests that need more than Go: they use real programs and
// other people's implementations where the product's own tests use stand-ins.
//
//   - The image test builds the Dockerfile with a real engine and runs the image
//     as GitHub's runner runs a docker action: the runner's mounts, environment,
//     file commands and working directory, on a repository with a base, a head and
//     the merge commit that GitHub checks out.
//   - The reader test compares the product's JSON reader with another one.
//   - The JsonLogic test compares the evaluator with json-logic-js, the reference
//     implementation, on rules that a generator makes. It needs node; npm fetches
//     the reference.
//   - The HTML test opens the HTML report in Chromium: findings, filter, keyboard,
//     console, network, and what axe finds. It needs chromium and npm.
//   - The comment test measures the pages of a reviewer as GitHub shows them, in Chromium
//     with GitHub's style sheet: how high they are, and that nothing is wider than a phone.
//   - The language server test talks to packgate lsp with Microsoft's client library, on
//     which VS Code is built. It needs node; npm fetches the library.
//   - The SARIF test holds SARIF logs against the schema of OASIS.
//   - The GitHub tests hold every request of the client, and every answer of the
//     stand-in that other tests use, against GitHub's own description of its API, and
//     what is asked by GraphQL against its schema, with the reference implementation.
//   - The workflow test runs the workflows of the example repository, word for word,
//     with act, for pull requests, a fork and pushes. Act is a Go module at the
//     version in act/tools.mod.
//   - The secrets test compares the detectors of the security gate with gitleaks.
//
// It is a module of its own so that nothing of it reaches the product's go.mod.
// Nothing here is skipped: a machine that cannot run a test fails it, with what
// is missing.
package e2e
