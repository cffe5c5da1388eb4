package doctor

import (
	"slices"

	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/repo"
)

// checkReviews looks whether a step that gates proposals sees who approves them, where its
// config names somebody who is to.
func (d *doctoring) checkReviews(s *step, c *repo.Config) {
	if s == nil || len(c.Reviews.All()) == 0 || s.keeps() && !s.signs() {
		return
	}
	s.job.reviewed = true
	w := s.job.workflow
	if _, proposes := w.event(github.EventPullRequest); !proposes || s.comments() {
		return
	}
	d.needs(s.job, s.job.grants(), need{advice, "pull-requests", "read", "see who has approved"})
	event, ok := w.event(github.EventReview)
	if !ok {
		d.say(advice, "no-review", w.place(), "add pull_request_review to the events", "the config names who has to approve, and the gate does not run when somebody does")
		return
	}
	if types := event.Get("types"); types != nil {
		for _, wanted := range []string{"submitted", "dismissed"} {
			if !slices.Contains(textsOf(types), wanted) {
				d.say(advice, "no-review", types.NameLocation(), "leave out types, or add "+wanted, "the gate does not run when a review is %s, and so ignores it", wanted)
			}
		}
	}
}
