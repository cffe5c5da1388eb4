package github

import "strings"

// StartedBy is the key of the line that says who started a pull request which a program opened:
// in the message of one of its commits, and in its body. Whoever it names counts as an author. It
// takes approvals away and gives none, so that nobody gains by writing one.
const StartedBy = "Packgate-Started-By"

// PromotionBranch is what the name of the branch begins with of a pull request that packgate promote
// opens, which has such a line.
const PromotionBranch = "packgate/promote-"

// StarterLine returns the line that names a login.
func StarterLine(login string) string { return StartedBy + ": " + login }

// starters returns the logins that a text names as those who started it, in lower case. A line
// counts wherever it is, and however Markdown or a merge has set it off.
func starters(text string) (logins []string) {
	const around = " \t\r>*_`-#"
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(strings.Trim(line, around+"\n"), ":")
		if !ok || !strings.EqualFold(strings.TrimRight(key, around), StartedBy) {
			continue
		}
		for _, login := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" ,\t@`*", r) }) {
			logins = append(logins, strings.ToLower(login))
		}
	}
	return logins
}
