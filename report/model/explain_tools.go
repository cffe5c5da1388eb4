package model

// DroppedWhy is a block that did not fit its bucket. Of the blocks of a bucket
// the one of the lowest priority is dropped first, of equal ones the latest, until
// the others fit.
type DroppedWhy struct {
	Block  string `json:"block"`
	Bucket string `json:"bucket"`
	Budget int    `json:"budget"` // tokens that the bucket has
	Used   int    `json:"used"`   // tokens of the blocks that stayed
	// Ref is what the block is about: a reference, a rule or a tool.
	Ref string `json:"ref,omitempty"`
	// Priority and Tokens are those of evidence and memory. Other blocks have no
	// priority of their own: of them the latest is dropped first.
	Priority *int `json:"priority,omitempty"`
	Tokens   *int `json:"tokens,omitempty"`
}

// ConditionWhy is a condition, its truth for the request, and what settles it.
type ConditionWhy struct {
	Words string `json:"words"`
	Truth string `json:"truth"` // true, false or unknown
	// Grounds are the comparisons on which the truth rests. More says that there
	// are others, or other values, which are not listed.
	Grounds []Ground  `json:"grounds,omitempty"`
	More    bool      `json:"more,omitempty"`
	Cause   *CauseWhy `json:"cause,omitempty"` // why it is unknown
	Place   *Place    `json:"place"`
}

// Ground is one comparison in a condition, and the values that it read.
type Ground struct {
	Words  string    `json:"words"`
	Truth  string    `json:"truth"`
	Values []Reading `json:"values,omitempty"`
	Place  *Place    `json:"place"`
}

// Reading is a variable and its value in the request; null also where the request
// has no such value.
type Reading struct {
	Variable string `json:"variable"`
	Value    any    `json:"value"`
}

// CauseWhy says what could not be decided.
type CauseWhy struct {
	Operator string `json:"operator,omitempty"`
	Variable string `json:"variable,omitempty"`
	Reason   string `json:"reason"` // in the grammar of messages, with operator and variable
	Place    *Place `json:"place,omitempty"`
}

// ToolWhy is why one capability is in the tool manifest or not.
type ToolWhy struct {
	Tool     string `json:"tool"` // adapter.capability
	Surfaced bool   `json:"surfaced"`
	// Mode is the adapter's approval mode, which counts for the ceiling and for who
	// may authorise; one that is missing or unknown counts as destructive.
	// Effective is the mode in the manifest, absent where it is not surfaced.
	Mode        string          `json:"approval_mode"`
	Effective   string          `json:"effective_mode,omitempty"`
	Permissions []PermissionWhy `json:"permissions,omitempty"`
	// AuthorisedBy are the allowed decisions that may authorise it.
	AuthorisedBy []string      `json:"authorised_by,omitempty"`
	Obstacles    []ObstacleWhy `json:"obstacles,omitempty"` // all reasons for which it is left out
	Bounds       []BoundWhy    `json:"bounds,omitempty"`    // by argument
	Place        *Place        `json:"place"`
}

// PermissionWhy is a permission that names a capability.
type PermissionWhy struct {
	Permission string `json:"permission"`
	Allow      bool   `json:"allow"`
	Gate       string `json:"gate,omitempty"`
	Place      *Place `json:"place"`
}

// ObstacleWhy is one reason for which a capability is left out. Place is absent
// where it is that the pack says nothing.
type ObstacleWhy struct {
	Reason string `json:"reason"`
	Place  *Place `json:"place,omitempty"`
}

// BoundWhy is what holds for one argument, and who says so.
type BoundWhy struct {
	Argument string   `json:"argument"`
	Bound    any      `json:"bound"` // as in the manifest
	From     []Source `json:"from"`
}

// Source is a part of the pack that says something. Kind is permission, then or
// else; Name is the permission's or the rule's.
type Source struct {
	Kind  string `json:"kind"`
	Name  string `json:"name"`
	Place *Place `json:"place"`
}

// GateWhy is why one approval gate is active or not.
type GateWhy struct {
	Gate   string `json:"gate"`
	Active bool   `json:"active"`
	// RequiredBy are the rules whose outcomes hold and require it.
	RequiredBy []RuleAt `json:"required_by,omitempty"`
	// NamedBy are the permissions of tools in the manifest and the outcomes of
	// applicable rules that name it. Only then its condition counts.
	NamedBy   []Source      `json:"named_by,omitempty"`
	Condition *ConditionWhy `json:"condition,omitempty"`
	Place     *Place        `json:"place"`
}
