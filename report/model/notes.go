package model

// Notes are what a version of a pack brings, for those who use it: each note is one sentence, with the
// exact condition where one is proved.
type Notes struct {
	Pack    string `json:"pack,omitempty"` // id@version
	Base    string `json:"base,omitempty"` // that it is compared with; absent for a first version
	Class   string `json:"class,omitempty"`
	Effect  string `json:"effect"`
	Items   []Note `json:"items"`
	Omitted int    `json:"omitted,omitempty"` // notes beyond those that are listed
}

// Note is one thing that a version brings.
type Note struct {
	Kind string `json:"kind"`
	Text string `json:"text"`
}

// The kinds of notes, in the order in which they are listed.
const (
	NoteMore      = "more"       // agents can do more
	NoteLess      = "less"       // agents can do less
	NoteNotProved = "not-proved" // what agents can do is not proved
	NoteErrors    = "errors"     // requests end in an error, or no longer do
	NotePrompt    = "prompt"     // a text that agents or people read is another one
	NoteOther     = "other"      // how many changes there are, layer by layer
)
