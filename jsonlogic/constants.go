package jsonlogic

// Bounds of the constant parts of one expression: the steps of evaluating them, and
// how large a value may be, in items and in pieces of text.
const (
	maxConstantSteps = 100_000
	maxConstantSize  = 100_000
)

// finish goes through an expression that was just compiled. It gives each operation
// its key, and evaluates the parts that read nothing, once and for all. It reports
// whether the expression reads nothing.
func (c *compiler) finish(n *node) bool {
	if n.constant {
		return true
	}
	reads := n.op == opVar || n.op == opMissing || n.op == opMissingSome
	for i, arg := range n.args {
		arg.pure = c.finish(arg)
		// The body of an iterator reads items, which are constant where the list is.
		reads = reads || !arg.pure && !(n.op.iterates() && i == 1)
	}
	n.identify()
	if reads {
		for _, arg := range n.args {
			if arg.pure {
				c.fold(arg)
			}
		}
	}
	return !reads
}

// fold evaluates a part that reads nothing. What takes too many steps or is too
// large is unknown.
func (c *compiler) fold(n *node) {
	if n.constant {
		return
	}
	v := c.constants.eval(n, nil)
	if c.constants.spent() {
		v = c.constants.exhausted(n)
	}
	size := maxConstantSize
	if !small(v, &size) {
		v = n.undecided(-1, "the constant has more than %d items", maxConstantSize)
	}
	n.constant, n.value = true, v
}

// small says whether a value has no more parts than so many, and takes them off.
func small(v any, parts *int) bool {
	*parts--
	switch t := v.(type) {
	case string:
		*parts -= len(t) / bytesPerStep
	case []any:
		for i := 0; i < len(t) && *parts >= 0; i++ {
			small(t[i], parts)
		}
	case map[string]any:
		for _, member := range t {
			if *parts < 0 || !small(member, parts) {
				break
			}
		}
	}
	return *parts >= 0
}
