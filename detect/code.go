package detect

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

// Code finds code in a text, at most once for each form of it.
func Code(text string) (found []Match) {
	if len(text) < shortest {
		return nil
	}
	for _, p := range programs {
		if !p.tried(text) {
			continue
		}
		if m := p.form().FindStringIndex(text); m != nil {
			found = append(found, Match{Kind: p.kind, Start: m[0], End: m[1]})
		}
	}
	return apart(found)
}
