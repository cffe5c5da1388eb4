package detect

import (
	"regexp"
	"strings"
	"sync"
)

// expression is a regular expression that is compiled when it is first tried. Most
// texts are told apart by a keyword before it, so that a run needs few of them, and
// a program that looks at no text none. The sources are constants of this package, so
// one that does not compile is a fault in the program, and a test tries all of them.
type expression func() *regexp.Regexp

func compiled(source string) expression {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(source) })
}

// pattern is something that no prefix tells. Its form is tried only where the text
// holds one of the keywords. The first group of the form, where it has one, is
// the secret, and valid decides over it.
type pattern struct {
	kind     string
	keywords []string
	form     expression
	valid    func(secret string) bool
}

// find returns what a pattern finds in a text that holds one of its keywords.
func (p *pattern) find(text string) (found []Match) {
	for _, m := range p.form().FindAllStringSubmatchIndex(text, -1) {
		start, end := m[0], m[1]
		if len(m) > 2 {
			start, end = m[2], m[3]
		}
		if p.valid == nil || p.valid(text[start:end]) {
			found = append(found, Match{Kind: p.kind, Start: start, End: end})
		}
	}
	return found
}

// programs are forms of code.
var programs = []pattern{
	{"a JavaScript function", []string{"function"}, compiled(`\bfunction\b\s*\*?\s*\w*\s*\([^()]*\)\s*\{`), nil},
	{"a JavaScript function", []string{"=>"}, compiled(`(?:\([\w\s,.={}\[\]:]*\)|\b[A-Za-z_$][\w$]*)\s*=>\s*(?:\{|[A-Za-z_$][\w$]*(?:\.[\w$]+)*\s*(?:\(|\[|[<>]=?\s*\w|[!=]==?\s*\w)|[A-Za-z_$][\w$]*\.[\w$]+\s*[+*/-]\s*\w)`), nil},
	{"code in JavaScript", []string{"require(", "eval(", "document.", "window.", "console.log(", "process.env", "module.exports", "new Function("},
		compiled(`\brequire\(\s*['"]|\beval\(\s*\S|\bdocument\.(?:cookie|write|getElement|querySelector)|\bwindow\.(?:location|open)\b|\bconsole\.log\(|\bprocess\.env\b|\bmodule\.exports\b|\bnew Function\(`), nil},
	{"a JavaScript statement", []string{"const ", "let ", "var "}, compiled(`\b(?:const|let|var)\s+[\w${}\[\], ]+\s*=\s*[^=\s][^;\n]*;`), nil},
	{"a script element", []string{"<script", "<SCRIPT", "<Script", "javascript:"}, compiled(`(?i)<script\b|\bjavascript:\s*\w+[(.=]`), nil},
	{"an event handler", []string{"=\"", "='"}, compiled(`(?i)<\w+[^>]*\son\w+\s*=\s*["']`), nil},
	{"a Python function", []string{"def ", "lambda "}, compiled(`\bdef\s+\w+\s*\([^()]*\)\s*(?:->\s*[\w\[\], .]+)?:|\blambda\s+[\w, ]*:\s*\S`), nil},
	{"code in Python", []string{"import ", "exec(", "__import__", "subprocess.", "os."},
		compiled(`(?m)^\s*(?:import (?:os|sys|re|json|subprocess|requests|base64|socket|shutil|urllib|pathlib|pickle|ctypes|numpy|pandas)\b|import [a-z][\w.]* as \w+\s*$|from [a-z][\w.]* import [\w*, ]+$)|\bexec\(\s*\S|\b__import__\(|\bsubprocess\.\w+\(|\bos\.(?:system|popen|environ|exec\w*)\b`), nil},
	{"a Go function", []string{"func "}, compiled(`\bfunc\s*(?:\(\w+ \*?\w+\)\s*)?\w*\s*\([^()]*\)[^{}\n]{0,60}\{`), nil},
	{"a Java method", []string{"public ", "private ", "static ", "class "}, compiled(`\b(?:public|private|protected|static)\s+(?:[\w<>\[\]]+\s+){1,3}\w+\s*\([^()]*\)\s*(?:throws \w+\s*)?\{|\bclass\s+\w+[^{}\n]{0,60}\{`), nil},
	{"a Rust function", []string{"fn "}, compiled(`\bfn\s+\w+\s*(?:<[^>]*>)?\([^()]*\)[^{}\n]{0,60}\{`), nil},
	{"a Ruby method", []string{"def ", "do |"}, compiled(`(?ms)^\s*def\s+\w+[?!]?[^\n:]*$.*^\s*end\b|\bdo \|\w+\|`), nil},
	{"code in PHP", []string{"<?php", "<?="}, compiled(`<\?(?:php\b|=)`), nil},
	{"a shell script", []string{"#!"}, compiled(`(?m)^#!\s*/\S+`), nil},
	{"a shell command", []string{"|", "rm -", "bash -c", "sh -c", "$(", "&&", "sudo ", "chmod ", "wget ", "curl ", "powershell", "Invoke-"},
		compiled(`\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b|\brm\s+-[rRf]{1,3}\s|\b(?:ba|z)?sh\s+-c\s|\$\([a-z]+[^)]*\)|\b(?:cd|mkdir|export|source|sudo|chmod|chown|apt-get|pip|npm)\s+[^&|;]+&&\s*\w|\bsudo\s+[a-z-]+\s+\S*[-/.]|\bchmod\s+(?:[0-7]{3,4}|[ugoa]*\+x)\s|\b(?:curl|wget)\s+(?:-\w+\s+)*["']?https?://|(?i:\bpowershell(?:\.exe)?\s+-|\bInvoke-(?:Expression|WebRequest)\b)`), nil},
	{"a query in SQL", []string{"SELECT", "select ", "INSERT", "insert into", "UPDATE", "update ", "DELETE", "delete from", "DROP", "drop table", "CREATE", "create table"},
		compiled(`\bSELECT\s+[\w.]+(?:\s*,\s*[\w.]+)*\s+FROM\s+[\w."]|(?i:\bselect\s+\*\s+from\s+[\w."]|\bselect\s+[\w.]+(?:\s*,\s*[\w.]+)*\s+from\s+[\w."]+\s+(?:where|join|limit|order\s+by|group\s+by)\b|\binsert\s+into\s+[\w."]+\s*(?:\([^)]*\))?\s*values\s*\(|\bupdate\s+[\w."]+\s+set\s+\w+\s*=|\bdelete\s+from\s+[\w."]+\s+where\s+\w+\s*[=<>]|\bdrop\s+table\s+\w|\bcreate\s+table\s+\w+\s*\()`), nil},
	{"a block of code", []string{"```"}, compiled("(?i)```\\s*(?:js|javascript|ts|typescript|jsx|py|python|bash|sh|shell|zsh|go|golang|java|ruby|rb|rust|php|sql|c|cpp|csharp|perl|lua|powershell)\\b"), nil},
	{"a template program", []string{"{%"}, compiled(`\{%-?\s*(?:if|for|set|macro|include|import|raw|block)\b`), nil},
	{"code in WebAssembly", []string{"AGFzbQEAAAA", "(module"}, compiled(`AGFzbQEAAAA|\(module\s*\((?:func|import|export|memory)\b`), nil},
}

var programSieve = sieveOf(programs)

// Code finds code in a text, at most once for each form of it.
func Code(text string) (found []Match) {
	if len(text) < shortest {
		return nil
	}
	for i := range programSieve.tried(text) {
		p := &programs[i]
		if m := p.form().FindStringIndex(text); m != nil {
			found = append(found, Match{Kind: p.kind, Start: m[0], End: m[1]})
		}
	}
	return apart(found)
}

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

var orderSieve = sieveOf(orders)

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
	lower := strings.ToLower(seen)
	if strings.ContainsAny(seen, "<[:#") || strings.Contains(lower, "override") {
		if m := marks().FindString(seen); m != "" {
			return strings.TrimSpace(m)
		}
	}
	if !orderSieve.any(lower) {
		return ""
	}
	words := spaced(lower)
	if !strings.Contains(words, " ") {
		return ""
	}
	for i := range orderSieve.tried(words) {
		for _, m := range orders[i].form().FindAllStringIndex(words, -1) {
			if !refusals().MatchString(words[max(0, m[0]-60):m[0]]) {
				return words[m[0]:m[1]]
			}
		}
	}
	return ""
}

// spaced returns the words of a text apart by one blank.
func spaced(text string) string { return strings.Join(strings.FieldsFunc(text, separates), " ") }
