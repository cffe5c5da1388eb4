package finding

// restKey is the key of the finding that stands for those which are not listed. No
// rule has another one at the path "", that of a whole document, with this key.
const restKey = "… more"

// AsRest returns a finding that stands for those of its rule which are not listed.
// It has the path of a whole document, so that no waiver of a part of it covers it,
// and the same fingerprint however many there are.
func AsRest(f Finding) Finding {
	f.Key, f.Location.Path, f.Location.Pointer = restKey, "", ""
	return f
}

// IsRest reports whether the finding stands for those of its rule which are not
// listed.
func (f Finding) IsRest() bool { return f.Key == restKey && f.Location.Path == "" }

// cut returns the rules of which not all findings are listed.
func cut(list []Finding) map[string]bool {
	rules := map[string]bool{}
	for i := range list {
		if list[i].IsRest() {
			rules[list[i].Rule] = true
		}
	}
	return rules
}
