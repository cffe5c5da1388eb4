package gate

import (
	"fmt"
	"path"
	"sync"

	"github.com/contextosai/packgate/repo"
)

// Evaluator knows who has to have signed scorecards.
type Evaluator interface {
	// Signed returns why a bundle is not the evaluator's signature of the content; nil where
	// it is.
	Signed(content, bundle []byte) error
}

// signatures is what became of the signatures of scorecards. A subject shares it with those
// that resolve it.
type signatures struct {
	mutex sync.Mutex
	known map[*repo.Scorecard]string
}

// Unsigned says why a scorecard counts as none: the config names an evaluator, who has not
// signed it as far as can be told. It returns "" for one that counts.
func (s *Subject) Unsigned(card *repo.Scorecard) string {
	if !s.Config.Evaluator.Workflow.OK {
		return ""
	}
	s.signed.mutex.Lock()
	defer s.signed.mutex.Unlock()
	why, known := s.signed.known[card]
	if !known {
		why = s.unsigned(card)
		s.signed.known[card] = why
	}
	return why
}

func (s *Subject) unsigned(card *repo.Scorecard) string {
	switch signature := card.Signature; {
	case signature == nil:
		return fmt.Sprintf("nobody signed it: there is no %s beside it", path.Base(repo.SignatureName(card.Name)))
	case signature.Unread != "":
		return fmt.Sprintf("its signature %s cannot be read: %s", signature.File, signature.Unread)
	case s.Evaluator == nil:
		return fmt.Sprintf("its signature %s is not checked here", signature.File)
	default:
		if err := s.Evaluator.Signed(card.Document.Source, signature.Source); err != nil {
			return fmt.Sprintf("its signature %s is not the evaluator's: %v", signature.File, err)
		}
	}
	return ""
}
