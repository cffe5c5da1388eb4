package compiler

// evidenceStage is stage 4: the caller's references, in the caller's order,
// without duplicates.
func (r *run) evidenceStage() (any, *Stop) {
	seen := make(map[string]bool, len(r.request.Evidence))
	for i, e := range r.request.Evidence {
		switch {
		case e.Ref == "":
			return nil, refusal("evidence %d has no evidence_ref", i+1)
		case seen[e.Ref]:
			r.warn("evidence %s was given more than once; the first one counts", e.Ref)
			continue
		}
		seen[e.Ref] = true
		r.evidence = append(r.evidence, e)
	}
	return r.evidence, nil
}
