package detect

import (
	"slices"
	"strings"
)

// program is a form of code, with what the text has to hold for it to be tried.
type program struct {
	kind     string
	keywords []string
	form     *expression
}

var programs = []program{
	{"a JavaScript function", []string{"function"}, &expression{source: `\bfunction\b\s*\*?\s*\w*\s*\([^()]*\)\s*\{`}},
	{"a JavaScript function", []string{"=>"}, &expression{source: `(?:\([\w\s,.={}\[\]:]*\)|\b[A-Za-z_$][\w$]*)\s*=>\s*(?:\{|[A-Za-z_$][\w$]*(?:\.[\w$]+)*\s*(?:\(|\[|[<>]=?\s*\w|[!=]==?\s*\w)|[A-Za-z_$][\w$]*\.[\w$]+\s*[+*/-]\s*\w)`}},
	{"code in JavaScript", []string{"require(", "eval(", "document.", "window.", "console.log(", "process.env", "module.exports", "new Function("},
		&expression{source: `\brequire\(\s*['"]|\beval\(\s*\S|\bdocument\.(?:cookie|write|getElement|querySelector)|\bwindow\.(?:location|open)\b|\bconsole\.log\(|\bprocess\.env\b|\bmodule\.exports\b|\bnew Function\(`}},
	{"a JavaScript statement", []string{"const ", "let ", "var "}, &expression{source: `\b(?:const|let|var)\s+[\w${}\[\], ]+\s*=\s*[^=\s][^;\n]*;`}},
	{"a script element", []string{"<script", "<SCRIPT", "<Script", "javascript:"}, &expression{source: `(?i)<script\b|\bjavascript:\s*\w+[(.=]`}},
	{"an event handler", []string{"=\"", "='"}, &expression{source: `(?i)<\w+[^>]*\son\w+\s*=\s*["']`}},
	{"a Python function", []string{"def ", "lambda "}, &expression{source: `\bdef\s+\w+\s*\([^()]*\)\s*(?:->\s*[\w\[\], .]+)?:|\blambda\s+[\w, ]*:\s*\S`}},
	{"code in Python", []string{"import ", "exec(", "__import__", "subprocess.", "os."},
		&expression{source: `(?m)^\s*(?:import (?:os|sys|re|json|subprocess|requests|base64|socket|shutil|urllib|pathlib|pickle|ctypes|numpy|pandas)\b|import [a-z][\w.]* as \w+\s*$|from [a-z][\w.]* import [\w*, ]+$)|\bexec\(\s*\S|\b__import__\(|\bsubprocess\.\w+\(|\bos\.(?:system|popen|environ|exec\w*)\b`}},
	{"a Go function", []string{"func "}, &expression{source: `\bfunc\s*(?:\(\w+ \*?\w+\)\s*)?\w*\s*\([^()]*\)[^{}\n]{0,60}\{`}},
	{"a Java method", []string{"public ", "private ", "static ", "class "}, &expression{source: `\b(?:public|private|protected|static)\s+(?:[\w<>\[\]]+\s+){1,3}\w+\s*\([^()]*\)\s*(?:throws \w+\s*)?\{|\bclass\s+\w+[^{}\n]{0,60}\{`}},
	{"a Rust function", []string{"fn "}, &expression{source: `\bfn\s+\w+\s*(?:<[^>]*>)?\([^()]*\)[^{}\n]{0,60}\{`}},
	{"a Ruby method", []string{"def ", "do |"}, &expression{source: `(?ms)^\s*def\s+\w+[?!]?[^\n:]*$.*^\s*end\b|\bdo \|\w+\|`}},
	{"code in PHP", []string{"<?php", "<?="}, &expression{source: `<\?(?:php\b|=)`}},
	{"a shell script", []string{"#!"}, &expression{source: `(?m)^#!\s*/\S+`}},
	{"a shell command", []string{"|", "rm -", "bash -c", "sh -c", "$(", "&&", "sudo ", "chmod ", "wget ", "curl ", "powershell", "Invoke-"},
		&expression{source: `\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b|\brm\s+-[rRf]{1,3}\s|\b(?:ba|z)?sh\s+-c\s|\$\([a-z]+[^)]*\)|\b(?:cd|mkdir|export|source|sudo|chmod|chown|apt-get|pip|npm)\s+[^&|;]+&&\s*\w|\bsudo\s+[a-z-]+\s+\S*[-/.]|\bchmod\s+(?:[0-7]{3,4}|[ugoa]*\+x)\s|\b(?:curl|wget)\s+(?:-\w+\s+)*["']?https?://|(?i:\bpowershell(?:\.exe)?\s+-|\bInvoke-(?:Expression|WebRequest)\b)`}},
	{"a query in SQL", []string{"SELECT", "select ", "INSERT", "insert into", "UPDATE", "update ", "DELETE", "delete from", "DROP", "drop table", "CREATE", "create table"},
		&expression{source: `\bSELECT\s+[\w.]+(?:\s*,\s*[\w.]+)*\s+FROM\s+[\w."]|(?i:\bselect\s+\*\s+from\s+[\w."]|\bselect\s+[\w.]+(?:\s*,\s*[\w.]+)*\s+from\s+[\w."]+\s+(?:where|join|limit|order\s+by|group\s+by)\b|\binsert\s+into\s+[\w."]+\s*(?:\([^)]*\))?\s*values\s*\(|\bupdate\s+[\w."]+\s+set\s+\w+\s*=|\bdelete\s+from\s+[\w."]+\s+where\s+\w+\s*[=<>]|\bdrop\s+table\s+\w|\bcreate\s+table\s+\w+\s*\()`}},
	{"a block of code", []string{"```"}, &expression{source: "(?i)```\\s*(?:js|javascript|ts|typescript|jsx|py|python|bash|sh|shell|zsh|go|golang|java|ruby|rb|rust|php|sql|c|cpp|csharp|perl|lua|powershell)\\b"}},
	{"a template program", []string{"{%"}, &expression{source: `\{%-?\s*(?:if|for|set|macro|include|import|raw|block)\b`}},
	{"code in WebAssembly", []string{"AGFzbQEAAAA", "(module"}, &expression{source: `AGFzbQEAAAA|\(module\s*\((?:func|import|export|memory)\b`}},
}

// Code finds code in a text, at most once for each form of it.
func Code(text string) (found []Match) {
	if len(text) < shortest {
		return nil
	}
	for i := range programs {
		p := &programs[i]
		if !slices.ContainsFunc(p.keywords, func(k string) bool { return strings.Contains(text, k) }) {
			continue
		}
		if m := p.form.regexp().FindStringIndex(text); m != nil {
			found = append(found, Match{Kind: p.kind, Start: m[0], End: m[1]})
		}
	}
	return apart(found)
}
