// Package scaffold makes the files of a new pack repository: the config, an
// environment catalog, a pack with its golden cases and their snapshots, the
// workflows, and the few lines that git, GitHub and pre-commit want to have.
//
// The files stand below files/ as they are read, with a template where a name goes
// in. The pack is the smallest that has every part: one workflow, one decision, a
// tool that reads and one that writes behind an approval gate, one policy bundle, one
// evaluation target. Its snapshots are compiled when the files are made, so that they
// are always those of this version of packgate.
//
// The package does no I/O, and its result depends on its arguments alone.
package scaffold
