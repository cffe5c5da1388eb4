package model

import (
	"regexp"
	"sync"
)

// Site is the address of the documentation: the pages under docs/ as a site.
const Site = "https://contextosai.github.io/packgate"

// ruleID matches the ids of rules, whether this version knows the rule or not.
var ruleID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Z]{3}[0-9]{3}$`) })

// RuleURL returns the address of the page of a rule; "" for a text that is no id of a rule,
// so that what a report says leads nowhere else.
func RuleURL(id string) string {
	if !ruleID().MatchString(id) {
		return ""
	}
	return Site + "/rules/" + id
}
