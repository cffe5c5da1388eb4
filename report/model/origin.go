package model

// Origin is the run of a pull request that another run posts the report of. The pull request
// decides what such a run does, and so what its report says.
type Origin struct {
	// Conclusion is how the run ended, as GitHub says it: success, failure, cancelled and others;
	// "" where that is not known.
	Conclusion string `json:"conclusion"`
}

// runSucceeded is the one conclusion that agrees with a report that passes.
const runSucceeded = "success"

// Doubted reports whether the report looks like a pass although the run that it is taken from did
// not succeed. Then nothing in it is shown as a pass.
func (r *Report) Doubted() bool {
	return r.Origin != nil && r.Origin.Conclusion != runSucceeded && (r.ExitCode == 0 || r.Result == Passed || !r.blocks())
}

// Unheeded reports whether the report does not pass and the run that it is taken from succeeded,
// so its status blocks nothing.
func (r *Report) Unheeded() bool {
	return r.Origin != nil && r.Origin.Conclusion == runSucceeded && r.ExitCode != 0
}

// blocks reports whether there is anything in the report by which it cannot pass.
func (r *Report) blocks() bool {
	for _, p := range r.Packs.Briefs() {
		if p.Result != Passed {
			return true
		}
	}
	return r.Left().Blocked > 0 || r.Result == Broken || len(r.Reviews.Missing()) > 0
}
