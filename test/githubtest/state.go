package githubtest

// State is what a stand-in holds. Lists are in the order in which things came.
type State struct {
	Pulls     []Pull
	Comments  []Comment
	Issues    []Issue
	CheckRuns []CheckRun
	Reviews   []Review
	// ReviewComments are those at lines of files.
	ReviewComments []ReviewComment
	Files          []File
	// Commits holds, by SHA and by path, what a file says at a commit.
	Commits map[string]map[string]string
	// Branches holds the newest commit of each branch that is asked for by its name, and
	// Protected says that nobody may create another one.
	Branches  map[string]string
	Protected bool
	// Messages holds those of commits, by SHA; "A commit" where there is none.
	Messages map[string]string
	// Wrote holds who wrote a commit and who committed it, by SHA; "" for an e-mail address that is
	// of no account. It is the author of the pull request where there is none.
	Wrote map[string]Writers
	// Truncated makes lists of a commit's files end before their end.
	Truncated bool
	// Runs are the workflow runs that are known, an entry for each attempt.
	Runs []Run
	// Artifacts are those of all runs.
	Artifacts []Artifact
	// Changed holds, by path, the commits that changed a file, newest first.
	Changed map[string][]string
	// Parted holds, by "base...head", the commit from which the history of a commit parted
	// from that of another one.
	Parted map[string]string
	// Teams holds the members of each team that the token may see, by org/team.
	Teams map[string][]string
	// Claims are those of identity tokens, beside the audience.
	Claims map[string]any
	// Leaked is true once the token was sent to another host than the API's.
	Leaked bool
}

// Writers are the logins of who wrote a commit, and of who committed it.
type Writers struct{ Author, Committer string }

// Pull is a pull request.
type Pull struct {
	Number       int64
	Author       string
	Head, Base   string // SHAs
	Owner        string // of the head's repository
	Branch       string
	Closed       bool
	Merged       string   // the commit it was merged as; it is closed then
	Into         string   // the branch it is for; main where empty
	Title        string   // "A change" where empty
	Body         string   // null where empty
	Commits      []string // that it has beside its head, oldest first
	ChangedFiles int
	Labels       []string
}

// Comment is a comment on a pull request.
type Comment struct {
	ID     int64
	Pull   int64
	Author string
	Body   string
}

// CheckRun is a check run with all annotations that were added to it.
type CheckRun struct {
	ID                                          int64
	Name, Head, ExternalID, Conclusion, Details string
	Title, Summary                              string
	Annotations                                 []Annotation
}

// Annotation is an annotation of a check run, as it was sent.
type Annotation struct {
	Path        string `json:"path"`
	StartLine   int    `json:"start_line"`
	EndLine     int    `json:"end_line"`
	StartColumn int    `json:"start_column"`
	EndColumn   int    `json:"end_column"`
	Level       string `json:"annotation_level"`
	Message     string `json:"message"`
	Title       string `json:"title"`
}

// Review is a review of a pull request.
type Review struct {
	Pull                       int64
	Author, State, SHA, Status string // Status is the author's association
}

// ReviewComment is a comment of a review at lines of a file, as it was sent.
type ReviewComment struct {
	ID        int64  `json:"-"`
	Pull      int64  `json:"-"`
	Author    string `json:"-"`
	Path      string `json:"path"`
	Body      string `json:"body"`
	StartLine int    `json:"start_line"` // 0 for one line
	Line      int    `json:"line"`
	Side      string `json:"side"`
}

// File is a file that a pull request changes.
type File struct {
	Pull                          int64
	Path, Previous, Status, Patch string
}

// Run is an attempt at a workflow run.
type Run struct {
	ID, Attempt int64
	Head        string // SHA
	Conclusion  string // "" for null
}

// Artifact is an artifact of a workflow run.
type Artifact struct {
	ID, Run int64
	Name    string
	Archive []byte // zip
	Expired bool
	Size    int64 // that GitHub tells; the real one where zero
}

// Head and Base are the commits of the pull request that New begins with.
const (
	Head = "c0ffee0000000000000000000000000000000001"
	Base = "ba5e000000000000000000000000000000000002"
)

func newState() State {
	return State{
		Pulls:    []Pull{{Number: 7, Author: "mona", Head: Head, Base: Base, Owner: "mona", Branch: "refunds", ChangedFiles: 1}},
		Commits:  map[string]map[string]string{Head: {}, Base: {}},
		Changed:  map[string][]string{},
		Branches: map[string]string{"main": Base},
		Messages: map[string]string{},
		Wrote:    map[string]Writers{},
		Parted:   map[string]string{},
		Teams:    map[string][]string{},
		Claims:   map[string]any{},
	}
}
