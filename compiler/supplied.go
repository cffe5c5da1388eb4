package compiler

// evidenceStage is stage 4: the caller's references, in the caller's order,
// without duplicates.
func (r *run) evidenceStage() (_ any, stop *Stop) {
	r.evidence, stop = supplied(r, "evidence", r.request.Evidence, func(e *Evidence) (string, bool) { return e.Ref, true })
	return r.evidence, stop
}

// memoryStage is stage 5: the caller's promoted recalls, in the caller's order,
// without duplicates. One that is not promoted refuses the compile, because what
// memory has not accepted must not reach a prompt by accident.
func (r *run) memoryStage() (_ any, stop *Stop) {
	r.memory, stop = supplied(r, "memory", r.request.Memory, func(m *Memory) (string, bool) { return m.Ref, m.Promoted })
	return r.memory, stop
}

// supplied returns what the caller supplies, each reference once.
func supplied[T any](r *run, what string, items []T, read func(*T) (ref string, promoted bool)) (list []T, stop *Stop) {
	seen := make(map[string]bool, len(items))
	for i := range items {
		switch ref, promoted := read(&items[i]); {
		case ref == "":
			return nil, refusal("%s %d has no %s_ref", what, i+1, what)
		case !promoted:
			return nil, refusal("%s %q is not promoted", what, ref)
		case seen[ref]:
			r.warn("%s %s was given more than once; the first one counts", what, ref)
		default:
			seen[ref] = true
			list = append(list, items[i])
		}
	}
	return list, nil
}
