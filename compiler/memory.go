package compiler

// memoryStage is stage 5: the caller's promoted recalls, in the caller's order,
// without duplicates. One that is not promoted refuses the compile, because what
// memory has not accepted must not reach a prompt by accident.
func (r *run) memoryStage() (any, *Stop) {
	seen := make(map[string]bool, len(r.request.Memory))
	for i, m := range r.request.Memory {
		switch {
		case m.Ref == "":
			return nil, refusal("memory %d has no memory_ref", i+1)
		case !m.Promoted:
			return nil, refusal("memory %q is not promoted", m.Ref)
		case seen[m.Ref]:
			r.warn("memory %s was given more than once; the first one counts", m.Ref)
			continue
		}
		seen[m.Ref] = true
		r.memory = append(r.memory, m)
	}
	return r.memory, nil
}
