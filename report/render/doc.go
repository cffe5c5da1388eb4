// Package render writes the model of the report: for a terminal, as Markdown (pull
// request comment and job summary), HTML, SARIF, JUnit and OpenMetrics. All of them
// say the same. Everything that comes from a pack is escaped where it leaves: see
// escape.go.
package render
