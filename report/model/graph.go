package model

// The binding graph says what in a pack leads to what (Context Pack contract,
// binding graph): a rule governs a decision, a decision may authorise a tool,
// permissions let it through and put gates before it, rules and decisions wait
// for evidence. A reference that leads nowhere is a broken edge, and what it
// names stands in the graph as a missing node, since that is what somebody meant.

// Graph is the binding graph of a pack.
type Graph struct {
	Nodes []GraphNode `json:"nodes"`
	Edges []GraphEdge `json:"edges"`
	// NodesLeftOut and EdgesLeftOut are how many there are besides.
	NodesLeftOut int `json:"nodes_left_out,omitempty"`
	EdgesLeftOut int `json:"edges_left_out,omitempty"`
}

// GraphNode is one part of a pack. Detail is its approval mode, a rule's intent, or
// an approver's role. Line is where it stands in the pack file, absent for what is
// missing.
type GraphNode struct {
	ID      string `json:"id"`   // of the node in this graph
	Kind    string `json:"kind"` // rule, decision, tool, permission, gate or evidence
	Label   string `json:"label"`
	Detail  string `json:"detail,omitempty"`
	Line    int    `json:"line,omitempty"`
	Missing bool   `json:"missing,omitempty"`
}

// GraphEdge leads from one node to another, both by their id.
type GraphEdge struct {
	From   string `json:"from"`
	To     string `json:"to"`
	Kind   string `json:"kind"` // binds, authorises, permits, forbids, prohibits, gates or requires
	Broken bool   `json:"broken,omitempty"`
}

// The kinds of nodes, in the order in which they lead to one another.
const (
	RuleNode       = "rule"
	DecisionNode   = "decision"
	ToolNode       = "tool"
	PermissionNode = "permission"
	GateNode       = "gate"
	EvidenceNode   = "evidence"
)
