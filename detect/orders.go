package detect

import (
	"slices"
	"strings"
	"unicode"
)

// order is a way to tell a model to leave what it was told. The form is tried on
// the text in lower case, words apart by one blank, where it holds a keyword.
type order struct {
	keywords []string
	form     *expression
}

const told = `(?:(?:of )?(?:all|any|every|each|the|your|my|our|these|those|this|that|of) ){0,4}`

var orders = []order{
	{[]string{"ignor", "disregard", "forget", "overlook", "bypass", "overrid", "discard", "drop", "skip", "neglect", "void"}, &expression{source: `\b(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?|overlook|bypass|override|overriding|discard|drop|skip|neglect|void) ` + told +
		`(?:previous|prior|above|earlier|preceding|former|foregoing|existing|original|initial|system|safety|other|past|last|developer) ` +
		`(?:and \w+ )?(?:system |safety )?(?:instruction|prompt|rule|message|context|direction|directive|guideline|command|polic(?:y|ies)|constraint|guardrail|restriction|conversation|text|input|training)`}},
	{[]string{"ignor", "disregard", "forget", "overrid", "bypass"}, &expression{source: `\b(?:ignore|disregard|forget|override|bypass) (?:all |any |the |your |of |these |my )*(?:instruction|prompt|guideline|guardrail|programming|directive)s?\b`}},
	{[]string{"ignor", "disregard", "forget"}, &expression{source: `\b(?:ignore|disregard|forget) (?:everything|all|anything|what)(?: of)?(?: that)?(?: (?:is|was|were|has been|you were|you have been|you are|you re))? (?:above|before|told|said|written|instructed|stated)\b`}},
	{[]string{"follow", "obey", "adhere", "comply", "listen"}, &expression{source: `\b(?:do not|don t|never|stop|no longer) (?:follow|obey|adhere to|comply with|listen to)(?:ing)? ` + told + `(?:previous |prior |above |earlier |system |safety |original )?(?:instruction|prompt|rule|guideline|polic|guardrail|restriction)`}},
	{[]string{"you are now", "you are no longer"}, &expression{source: `\byou are (?:now|no longer) (?:an? |the |in |bound |to |restricted|my |acting |dan\b|free|unrestricted|jailbroken)`}},
	{[]string{"act", "behave", "respond", "pretend", "role"}, &expression{source: `\b(?:act|behave|respond|pretend|roleplay|role play) (?:as|like|to be|as if you (?:are|were|have)) (?:an? |the |you |if )*(?:unrestricted|unfiltered|uncensored|jailbroken|dan\b|no restrictions|without restrictions|evil|root|developer mode|system administrator)`}},
	{[]string{"mode"}, &expression{source: `\b(?:enter|enable|activate|switch to|turn on) (?:the )?(?:developer|debug|god|dan|jailbreak|unrestricted|admin|sudo|maintenance) mode\b`}},
	{[]string{"prompt", "instruction", "message"}, &expression{source: `\b(?:reveal|print|show|output|repeat|leak|display|disclose|expose|dump) (?:me )?(?:the |your |all |of |its )*(?:system|hidden|initial|original|developer|secret) (?:prompt|instruction|message)`}},
	{[]string{"instruction", "prompt"}, &expression{source: `\b(?:new|updated|revised|real|actual|true) (?:system )?(?:instructions?|prompt) (?:follow|are|is|begin|start|from now)\b`}},
	{[]string{"from now on"}, &expression{source: `\bfrom now on (?:you|ignore|disregard|always (?:approve|allow|comply|obey)|respond|answer|act|your)\b`}},
	{[]string{"ignorier"}, &expression{source: `\bignorier(?:e|en) (?:\w+ ){0,3}(?:vorherigen|bisherigen|obigen|vorangegangenen|früheren) (?:anweisung|instruktion|regel|vorgabe|nachricht)`}},
	{[]string{"ignor"}, &expression{source: `\bignor(?:a|e|ez|ar|en) (?:\p{L}+ ){0,4}(?:instrucciones|instructions|instruções|istruzioni|reglas|règles|regras|regole|consignes|indicaciones)(?: \p{L}+)? (?:anteriores|precedentes|précédentes|previas|precedenti|ci dessus)\b`}},
	{[]string{"ignora "}, &expression{source: `\bignora (?:\p{L}+ ){0,3}(?:precedenti|anteriores) (?:istruzioni|instrucciones|instruções)`}},
}

// marks are what separates the parts of a prompt: text that holds them claims to
// be the system, or another speaker.
var marks = &expression{source: `(?i)<\|\s*(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id|begin_of_text)[^|]*\|>|\[/?INST\]|<<\s*/?SYS\s*>>|</?(?:system|system_prompt|instructions?|assistant)>|^\s*#{2,}\s*(?:system|new instructions?|instruction)\s*:?\s*$|\n\s*(?:system|assistant|developer)\s*:|^\s*(?-i:SYSTEM|DEVELOPER)\s*:|^\s*(?:system|developer|assistant)\s*(?:prompt|message|override)\s*:|\bnew (?:system )?(?:instructions?|prompt)\s*:|\bsystem override\b`}

// refusals are words before an order that turn it round: "never ignore previous
// instructions" is no order to ignore them.
var refusals = &expression{source: `\b(?:never|not|don t|doesn t|cannot|can t|won t|must not|refuse|reject|block|deny|decline|detect|flag|report|escalate|prevent|attempts? to|ask(?:s|ed|ing)? (?:\w+ ){0,3}to|tries to|trying to|requests? to|told to|tells? (?:\w+ ){0,3}to|says?|like|such as|without|resist)\b(?: \w+){0,3} ?$`}

// Order returns what in a text tells a model to leave what it was told, or "".
// What speaks of such orders, to refuse them, is none.
func Order(text string) string {
	if len(text) < 12 {
		return ""
	}
	seen := Plain(text)
	if strings.ContainsAny(seen, "<[:#") || strings.Contains(strings.ToLower(seen), "override") {
		if m := marks.regexp().FindString(seen); m != "" {
			return strings.TrimSpace(m)
		}
	}
	words := normal(seen)
	if !strings.Contains(words, " ") {
		return ""
	}
	for i := range orders {
		if !slices.ContainsFunc(orders[i].keywords, func(k string) bool { return strings.Contains(words, k) }) {
			continue
		}
		for _, m := range orders[i].form.regexp().FindAllStringIndex(words, -1) {
			if !refusals.regexp().MatchString(words[max(0, m[0]-60):m[0]]) {
				return words[m[0]:m[1]]
			}
		}
	}
	return ""
}

// normal returns the words of a text in lower case, apart by one blank.
func normal(text string) string {
	var b strings.Builder
	gap := false
	for _, r := range text {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			gap = b.Len() > 0
			continue
		}
		if gap {
			b.WriteByte(' ')
			gap = false
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
