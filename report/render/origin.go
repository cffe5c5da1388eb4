package render

import (
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

// What is said of a report that is posted by another run than the one that made it.

// failedRun says why nothing of a report can be merged, whatever its packs say; "" for no reason.
func failedRun(r *model.Report) string {
	switch {
	case r.Result == model.Broken:
		return "packgate could not finish"
	case r.Doubted():
		return "the pull request's own run " + ended(r.Origin) + ", and its report says that it passed"
	}
	return ""
}

// ended says how the run ended that a report is of.
func ended(o *model.Origin) string {
	if o.Conclusion == "" {
		return "did not succeed"
	}
	return "ended with " + pack.Clip(o.Conclusion, maxConclusion)
}

// maxConclusion bounds the word for how a run ended.
const maxConclusion = 40

// failedTodo says what to do where something failed that is no fault of a pack, "" where nobody knows.
func failedTodo(r *model.Report) string {
	switch {
	case r.Result != model.Broken && r.Doubted():
		return "look at the run: another of its jobs failed, or it was stopped, or the report is not the one from the check"
	case len(r.Errors) > 0:
		return r.Errors[0].Hint
	}
	return publishTodo(published(r))
}

// notesOf returns the sentences about the run, that on where the report comes from first.
func notesOf(r *model.Report) []string {
	o := r.Origin
	if o == nil {
		return r.Notices
	}
	words := "this is the report of the pull request's own run, which the pull request can change; the run " + ended(o)
	if r.Unheeded() {
		words += ", although its report does not pass, so its status blocks nothing"
	}
	return append([]string{words}, r.Notices...)
}
