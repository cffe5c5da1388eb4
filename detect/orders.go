package detect

import "strings"

const told = `(?:(?:of )?(?:all|any|every|each|the|your|my|our|these|those|this|that|of) ){0,4}`

// orders are ways to tell a model to leave what it was told. The forms are tried on
// the text in lower case, words apart by one blank.
var orders = []pattern{
	{"an order", []string{"ignor", "disregard", "forget", "overlook", "bypass", "overrid", "discard", "drop", "skip", "neglect", "void"}, compiled(`\b(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?|overlook|bypass|override|overriding|discard|drop|skip|neglect|void) ` + told +
		`(?:previous|prior|above|earlier|preceding|former|foregoing|existing|original|initial|system|safety|other|past|last|developer) ` +
		`(?:and \w+ )?(?:system |safety )?(?:instruction|prompt|rule|message|context|direction|directive|guideline|command|polic(?:y|ies)|constraint|guardrail|restriction|conversation|text|input|training)`), nil},
	{"an order", []string{"ignor", "disregard", "forget", "overrid", "bypass"}, compiled(`\b(?:ignore|disregard|forget|override|bypass) (?:all |any |the |your |of |these |my )*(?:instruction|prompt|guideline|guardrail|programming|directive)s?\b`), nil},
	{"an order", []string{"ignor", "disregard", "forget"}, compiled(`\b(?:ignore|disregard|forget) (?:everything|all|anything|what)(?: of)?(?: that)?(?: (?:is|was|were|has been|you were|you have been|you are|you re))? (?:above|before|told|said|written|instructed|stated)\b`), nil},
	{"an order", []string{"follow", "obey", "adhere", "comply", "listen"}, compiled(`\b(?:do not|don t|never|stop|no longer) (?:follow|obey|adhere to|comply with|listen to)(?:ing)? ` + told + `(?:previous |prior |above |earlier |system |safety |original )?(?:instruction|prompt|rule|guideline|polic|guardrail|restriction)`), nil},
	{"an order", []string{"you are now", "you are no longer"}, compiled(`\byou are (?:now|no longer) (?:an? |the |in |bound |to |restricted|my |acting |dan\b|free|unrestricted|jailbroken)`), nil},
	{"an order", []string{"act", "behave", "respond", "pretend", "role"}, compiled(`\b(?:act|behave|respond|pretend|roleplay|role play) (?:as|like|to be|as if you (?:are|were|have)) (?:an? |the |you |if )*(?:unrestricted|unfiltered|uncensored|jailbroken|dan\b|no restrictions|without restrictions|evil|root|developer mode|system administrator)`), nil},
	{"an order", []string{"mode"}, compiled(`\b(?:enter|enable|activate|switch to|turn on) (?:the )?(?:developer|debug|god|dan|jailbreak|unrestricted|admin|sudo|maintenance) mode\b`), nil},
	{"an order", []string{"prompt", "instruction", "message"}, compiled(`\b(?:reveal|print|show|output|repeat|leak|display|disclose|expose|dump) (?:me )?(?:the |your |all |of |its )*(?:system|hidden|initial|original|developer|secret) (?:prompt|instruction|message)`), nil},
	{"an order", []string{"instruction", "prompt"}, compiled(`\b(?:new|updated|revised|real|actual|true) (?:system )?(?:instructions?|prompt) (?:follow|are|is|begin|start|from now)\b`), nil},
	{"an order", []string{"from now on"}, compiled(`\bfrom now on (?:you|ignore|disregard|always (?:approve|allow|comply|obey)|respond|answer|act|your)\b`), nil},
	{"an order", []string{"ignorier"}, compiled(`\bignorier(?:e|en) (?:\w+ ){0,3}(?:vorherigen|bisherigen|obigen|vorangegangenen|früheren) (?:anweisung|instruktion|regel|vorgabe|nachricht)`), nil},
	{"an order", []string{"ignor"}, compiled(`\bignor(?:a|e|ez|ar|en) (?:\p{L}+ ){0,4}(?:instrucciones|instructions|instruções|istruzioni|reglas|règles|regras|regole|consignes|indicaciones)(?: \p{L}+)? (?:anteriores|precedentes|précédentes|previas|precedenti|ci dessus)\b`), nil},
	{"an order", []string{"ignora "}, compiled(`\bignora (?:\p{L}+ ){0,3}(?:precedenti|anteriores) (?:istruzioni|instrucciones|instruções)`), nil},
}

// marks are what separates the parts of a prompt: text that holds them claims to
// be the system, or another speaker.
var marks = compiled(`(?i)<\|\s*(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id|begin_of_text)[^|]*\|>|\[/?INST\]|<<\s*/?SYS\s*>>|</?(?:system|system_prompt|instructions?|assistant)>|^\s*#{2,}\s*(?:system|new instructions?|instruction)\s*:?\s*$|\n\s*(?:system|assistant|developer)\s*:|^\s*(?-i:SYSTEM|DEVELOPER)\s*:|^\s*(?:system|developer|assistant)\s*(?:prompt|message|override)\s*:|\bnew (?:system )?(?:instructions?|prompt)\s*:|\bsystem override\b`)

// refusals are words before an order that turn it round: "never ignore previous
// instructions" is no order to ignore them.
var refusals = compiled(`\b(?:never|not|don t|doesn t|cannot|can t|won t|must not|refuse|reject|block|deny|decline|detect|flag|report|escalate|prevent|attempts? to|ask(?:s|ed|ing)? (?:\w+ ){0,3}to|tries to|trying to|requests? to|told to|tells? (?:\w+ ){0,3}to|says?|like|such as|without|resist)\b(?: \w+){0,3} ?$`)

// Order returns what in a text tells a model to leave what it was told, or "".
// What speaks of such orders, to refuse them, is none.
func Order(text string) string {
	if len(text) < 12 {
		return ""
	}
	seen := Plain(text)
	if strings.ContainsAny(seen, "<[:#") || strings.Contains(strings.ToLower(seen), "override") {
		if m := marks().FindString(seen); m != "" {
			return strings.TrimSpace(m)
		}
	}
	words := normal(seen)
	if !strings.Contains(words, " ") {
		return ""
	}
	for _, o := range orders {
		if !o.tried(words) {
			continue
		}
		for _, m := range o.form().FindAllStringIndex(words, -1) {
			if !refusals().MatchString(words[max(0, m[0]-60):m[0]]) {
				return words[m[0]:m[1]]
			}
		}
	}
	return ""
}

// normal returns the words of a text in lower case, apart by one blank.
func normal(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(text), separates), " ")
}
