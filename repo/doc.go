// Package repo knows the files of a pack repository: where packs are, what
// stands beside them, and what the config and the environment catalogs say. It
// reads files and hands on documents and typed values; it judges nothing.
//
// All reading goes through one root folder, so that no path and no symbolic
// link leads out of the repository.
package repo
