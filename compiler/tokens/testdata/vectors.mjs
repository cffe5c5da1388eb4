// Writes vectors.json: texts with the number of tokens that two other
// implementations count, which have to agree. In a folder of its own:
//
//   npm install js-tiktoken@1.0.21 gpt-tokenizer@4.0.0
//   node vectors.mjs > vectors.json
//
// Two characters are left out because JavaScript's \s differs from that of the
// reference implementation on them: U+0085 and U+FEFF.
import { getEncoding } from "js-tiktoken";
import { encode as cl100k } from "gpt-tokenizer/encoding/cl100k_base";
import { encode as o200k } from "gpt-tokenizer/encoding/o200k_base";

const fragments = [
  "The quick brown fox", " jumps over", " the lazy dog.", "I'll", "we've", "DON'T", "it's", "O'Neill's", "Ÿ's",
  " ", "  ", "     ", "\t", "\n", "\r\n", "\n\n\n", " \n", "\u00a0", "\u3000", "\u2028", "\u200b",
  "0", "12", "123", "1234567890", "3.14", "-1e21", "½", "٣٤", "१२३", "ⅷ",
  "!", "...", "?!", "—", "\"", "'", "''", "\\", "/", "//", "<|endoftext|>", "<|endofprompt|>", "!!!\n", "/*\n */", "});\n\n", "!/\n/",
  "naïve", "Straße", "ÄÖÜ", "e\u0301", "Ω", "ёлка", "МОСКВА", "שלום", "مرحبا بالعالم", "नमस्ते", "ภาษาไทย", "中文字符", "，。", "日本語テキスト",
  "カタカナ", "한국어", "😀", "👩‍👩‍👧", "🇮🇳", "👍🏽", "𝔘𝔫𝔦", "ǅ", "ʰ", "ﬁ", "İi", "ſ", "K", "\u0301", "\u0000", "\u001b[0m", "\u007f",
  "camelCase", "HTTPServer", "snake_case", "kebab-case", "SCREAMING_CASE", "iPhone", "aAaA", "Aaaa", "AAAA", "aaaa",
  "support.refund.execute", "adp_payments.issue_refund", "kg:order:ord_881#snapshot_kg_2026_05_03_T0930",
  "{\"amount_inr\": {\"max\": 50000}}", "R_REFUND_REQUIRES_IDV", "INR 4200.", "Wenn es regnet, wird man naß.", "func main() {\n\tfmt.Println(x)\n}\n",
  "SELECT * FROM t WHERE a >= 7;", "https://example.com/a?b=c&d=%20#e", "user@example.com", "2026-05-03T09:30:00Z", "Donaudampfschifffahrtsgesellschaftskapitän",
];

// A small generator of its own keeps the texts the same.
let state = 42;
const random = (n) => (state = (Math.imul(state, 1103515245) + 12345) >>> 0, (state >>> 8) % n);

const texts = ["", ...fragments];
for (let i = 0; i < 240; i++) {
  let text = "";
  for (let n = 2 + random(12); n > 0; n--) text += fragments[random(fragments.length)];
  texts.push(text);
}
for (const c of ["a", "A", "aA", " ", "\n", "!", "=", "7", "漢", "\u0301", "😀", "qzxj"]) texts.push(c.repeat(90));

const references = { cl100k_base: getEncoding("cl100k_base"), o200k_base: getEncoding("o200k_base") };
const others = { cl100k_base: cl100k, o200k_base: o200k };
const rows = texts.map((text) => {
  const row = { text };
  for (const name of ["cl100k_base", "o200k_base"]) {
    row[name] = references[name].encode(text, [], []).length;
    const other = others[name](text, { allowedSpecial: new Set(), disallowedSpecial: new Set() }).length;
    if (other !== row[name]) throw new Error(`${name} of ${JSON.stringify(text)}: ${row[name]} and ${other}`);
  }
  return "  " + JSON.stringify(row);
});
console.log("[\n" + rows.join(",\n") + "\n]");
