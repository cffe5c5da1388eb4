package model

import (
	"slices"
	"strings"
)

// Row is what a list of packs says of one: what a page of several packs shows of it, and what a
// verdict over all of them is made of. A row is small, so that there can be any number of them.
type Row struct {
	Brief
	// Initial says that the base has no version of the pack.
	Initial bool `json:"initial,omitempty"`
	// Base is the version that it is compared with, as id@version, and Step the class of the changes
	// of the pack itself.
	Base      string `json:"base,omitempty"`
	Step      string `json:"step,omitempty"`
	MovedFrom string `json:"moved_from,omitempty"`
	// Effect is what the change does to agents, in the words of the page; "" where nothing is compared.
	Effect string `json:"effect,omitempty"`
	// EffectIn is the only environment in which it does, and Together says that it does so only
	// together with other packs.
	EffectIn string `json:"effect_in,omitempty"`
	Together bool   `json:"together,omitempty"`
	// Powers counts what agents can do more; Dangerous says that some of it is above everything else.
	Powers    int  `json:"powers,omitempty"`
	Dangerous bool `json:"dangerous,omitempty"`
	// VersionOnly says that nothing is wrong but the version.
	VersionOnly bool     `json:"version_only,omitempty"`
	Todo        Todo     `json:"todo"`
	Trigger     *Trigger `json:"trigger,omitempty"` // the first one
	// ChangedFiles counts the files beside the pack that changed, and ChangedFile is the first of them.
	ChangedFiles int    `json:"changed_files,omitempty"`
	ChangedFile  string `json:"changed_file,omitempty"`
}

// Todo counts what the author of a pack has to do.
type Todo struct {
	Errors   int  `json:"errors,omitempty"`   // to fix, each once
	Cases    int  `json:"cases,omitempty"`    // golden cases to check
	Findings int  `json:"findings,omitempty"` // that count, of whatever kind
	Evidence bool `json:"evidence,omitempty"` // evidence is to be put back
	Evaluate bool `json:"evaluate,omitempty"` // the evaluation is to be run again
}

// apart returns the row without what it shares with its pack: the texts of a pack are parts of
// larger ones, which would be kept too.
func (r Row) apart() Row {
	for _, text := range []*string{&r.Pack, &r.Path, &r.Kind, &r.In, &r.Class, &r.Required, &r.Base, &r.Step, &r.MovedFrom, &r.EffectIn, &r.ChangedFile} {
		*text = strings.Clone(*text)
	}
	r.Roles = slices.Clone(r.Roles)
	if t := r.Trigger; t != nil {
		r.Trigger = &Trigger{Kind: strings.Clone(t.Kind), What: strings.Clone(t.What), File: strings.Clone(t.File), Path: strings.Clone(t.Path)}
	}
	return r
}
