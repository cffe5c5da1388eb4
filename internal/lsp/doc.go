// Package lsp is a language server (Language Server Protocol 3.17) for pack
// repositories: what the gates find, as it is typed, with the repairs that the
// findings carry; what a rule means and a name stands for; where a name is declared;
// and which names there are.
//
// The gates see the repository as the editor has it: the text of the documents that
// are open, and the files of the folder for everything else. A document that is no
// JSON at the moment is read leniently for what needs names alone.
package lsp
