// Writes cases {"rule", "data"}, one a line, without the data where it is that of
// the line before: every operator in its usual forms,
// every pair of values under the comparisons, rules as policies are written, and
// well-formed rules that nobody would write over data that nobody would send.
// Arguments, all of them optional: the seed, how many rules as they are written,
// how many that nobody would write.
const [seed = 20250817, typed = 700, adversarial = 1500] = process.argv.slice(2).map(Number);
const counts = { typed, adversarial, pairsKept: 0.35 };

let state = seed;
function random() {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}
const below = (n) => Math.floor(random() * n);
const pick = (list) => list[below(list.length)];
const chance = (p) => random() < p;
const times = (n, make) => Array.from({ length: n }, (_, i) => make(i));
let before;
function write(rule, data) {
  const text = JSON.stringify(data);
  console.log(JSON.stringify(text === before ? { rule } : { rule, data }));
  before = text;
}
const v = (path, ...rest) => ({ var: rest.length ? [path, ...rest] : path });

// --- the usual forms of every operator -----------------------------------

const person = {
  name: "Ada", age: 36, tags: ["a", "b"], score: 2.5, none: null, empty: "", zero: 0, yes: true, no: false,
  address: { city: "Bern", zip: "3011", lines: ["x", "y"] },
  items: [{ id: 1, qty: 2, on: true }, { id: 2, qty: 0, on: false }, { id: 3, qty: 5, on: true, note: null }],
  numbers: [1, 2, 3, 4, 5], words: ["one", "two", "", "four"], nested: [[1, 2], [3], []], mixed: [1, "1", null, true, "x"],
  nothing: [], object: {}, big: 1e308, tiny: 1e-7, huge: 1e21, long: 123456789012345680000, text: "jsonlogic", wide: "a😀b", accent: "é\u0301",
};

const shapes = [
  // variables and defaults
  v("name"), { var: ["name"] }, v("address.city"), v("address.street"), v("address.street", "unknown"), v("none", 5),
  v("none.deeper", 5), v("gone.deeper.still", { "+": [1, 2] }), v("tags.0"), v("tags.1"), v("tags.2"), v("tags.2", "z"),
  v("tags.length"), v("name.length"), v("name.0"), v("name.9", "?"), v("wide.length"), v("wide.0"), v("wide.3"), v("wide.1"),
  v("nested.0.1"), v("items.2.note"), v("items.2.note", 1), v("tags.01"), v("tags.-1"), v("age.x", 1), v("yes.x"), v("object"),
  v("constructor"), v("address.toString"), v("tags.map"), v("name.trim", "d"), v("age.toFixed"), v("__proto__"), v("address.map"),
  v("tags.constructor.name"), v("object.hasOwnProperty"), v("a.constructor", 1), v("address..city"), v("gone", v("name")),
  v("gone", v("gone2")), v("items.0"), v("numbers"), v("gone", []), v("empty", "d"), v("zero", 7),
  // connectives and choices give values, not booleans
  { and: [true, true] }, { and: [1, 3] }, { and: [3, 0, 5] }, { and: ["", 5] }, { and: [[], 5] }, { and: [[0], 5] }, { and: [v("object"), 5] },
  { and: [v("none"), 1] }, { and: [v("gone")] }, { and: v("name") }, { or: [false, 0, ""] }, { or: [0, "a"] }, { or: [[], v("object")] },
  { or: [v("gone"), v("name")] }, { or: v("zero") }, { "!": true }, { "!": [false] }, { "!": [[]] }, { "!": ["0"] }, { "!": v("object") }, { "!": v("gone") },
  { "!!": [[]] }, { "!!": ["0"] }, { "!!": v("nothing") }, { "!!": [[0]] }, { "!!": 0 }, { "!!": v("tags") },
  { if: [true, "a", "b"] }, { if: [false, "a", "b"] }, { if: [false, "a"] }, { if: [[], "a", "b"] }, { if: ["0", "a", "b"] },
  { if: [0, "a", 0, "b", "c"] }, { if: [0, "a", 1, "b", "c"] }, { if: [0, "a", 0, "b"] }, { "?:": [v("yes"), 1, 2] }, { "?:": [v("gone"), 1, 2] },
  { if: [{ ">": [v("gone"), 1] }, "a", "b"] }, { if: [{ ">": [v("gone"), 1] }, 1, 0] }, { if: [{ ">": [v("gone"), 1] }, 0, ""] },
  { and: [{ ">": [v("gone"), 1] }, false] }, { and: [false, { ">": [v("gone"), 1] }] }, { or: [{ ">": [v("gone"), 1] }, true] },
  { "!": { and: [{ "+": [v("gone")] }, 0] } }, { "==": [{ or: [{ ">": [v("gone"), 1] }, 5] }, 5] }, { and: [{ map: [v("mixed"), { "+": v("") }] }, "yes"] },
  // numbers
  { "+": [1, 2, 3] }, { "+": 4 }, { "+": "4" }, { "+": [v("age"), v("score")] }, { "-": [5, 3] }, { "-": 5 }, { "-": [v("zero")] }, { "*": [2, 3, 4] },
  { "/": [7, 2] }, { "/": [1, 0] }, { "/": [v("zero"), v("zero")] }, { "%": [101, 2] }, { "%": [-5, 3] }, { "%": [5, -3] }, { "%": [5.5, 2] }, { "%": [1, 0] },
  { "*": [v("big"), 10] }, { "+": [v("big"), v("big")] }, { "-": [{ "-": v("big") }, v("big")] }, { "*": [v("big"), 10, 0] }, { "/": [1, v("tiny")] },
  { "+": [0.1, 0.2] }, { "+": [v("none"), 1] }, { "+": [v("empty"), 1] }, { "*": [v("yes"), 2] }, { min: [3, 1, 2] }, { max: [3, 1, 2] }, { min: 4 },
  { max: [-1, -3] }, { max: [1, v("none")] }, { min: [v("gone"), 5] }, { max: ["7", 3] }, { "%": [-4, 2] }, { "*": [-1, 0] },
  // order
  { ">": [2, 1] }, { ">": [1, 1] }, { ">=": [1, 1] }, { "<": [1, 2, 3] }, { "<": [1, 1, 3] }, { "<": [1, 4, 3] }, { "<=": [1, 1, 3] }, { "<=": [1, 4, 3] },
  { "<=": [0, v("gone"), 9] }, { "<": [5, 4, v("none")] }, { ">": ["2", 1] }, { ">": ["b", "a"] }, { "<": [v("gone"), 3000] }, { ">=": [v("none"), 0] },
  { ">": [v("gone", 5), 3] }, { "<": [v("score"), v("age")] },
  // search
  { in: ["b", v("tags")] }, { in: ["c", v("tags")] }, { in: ["A", v("name")] }, { in: ["z", v("name")] }, { in: ["", v("name")] }, { in: ["", v("empty")] },
  { in: [1, v("name")] }, { in: [null, ["a", null]] }, { in: [v("gone"), ["a", null]] }, { in: [v("gone"), ["a"]] }, { in: [v("gone"), "abc"] }, { in: [1, ["1"]] }, { in: ["1", [1]] },
  { in: [5, [[1, 10]]] }, { in: [0, ["abc"]] }, { in: ["a", v("gone")] }, { in: ["a", v("none")] }, { in: ["x", v("object")] }, { in: [1, v("age")] }, { in: [true, v("mixed")] },
  { in: [v("nested.0"), v("nested")] }, { in: [[1, 2], v("nested")] }, { in: [[], v("nested")] }, { in: [v("nothing"), v("nested")] }, { in: [v("object"), v("items")] },
  { in: [3, times(30, (i) => i)] }, { in: ["3", times(30, (i) => i)] }, { in: [v("gone"), times(30, (i) => i)] }, { in: [v("tags"), times(30, (i) => i)] },
  { in: [2, [{ "+": [1, 1] }, v("gone")]] }, { in: [7, [{ "+": [v("gone")] }, 7]] }, { in: [8, [{ "+": [v("gone")] }, 7]] },
  // texts
  { cat: "ice" }, { cat: ["a", 1, true, null] }, { cat: [1e21, " ", 1e-7, " ", 0.000001, " ", v("long")] }, { cat: [v("score"), v("gone"), "!"] },
  { cat: [v("tags")] }, { cat: [v("object"), "x"] }, { cat: [1.5e300, "/", -2.5e-9, "/", -0.5, "/", 100, "/", 5e-324] },
  { substr: [v("text"), 4] }, { substr: [v("text"), -5] }, { substr: [v("text"), 0, 1] }, { substr: [v("text"), -1, 1] }, { substr: [v("text"), 4, 5] },
  { substr: [v("text"), -5, 5] }, { substr: [v("text"), -5, -2] }, { substr: [v("text"), 1, -5] }, { substr: [v("text"), 20] }, { substr: [v("text"), -20] },
  { substr: [v("text"), 3, -20] }, { substr: [v("text"), 1.9] }, { substr: [v("text"), -1.9] }, { substr: [v("text"), 1, 2.9] }, { substr: [v("text"), 1, -0.5] },
  { substr: [v("text"), 0, 0] }, { substr: [v("wide"), 0, 3] }, { substr: [v("wide"), 3] }, { substr: [v("wide"), 0, 2] }, { substr: [v("wide"), 2] }, { substr: [v("wide"), 2, 0] },
  { substr: [v("accent"), 1] }, { substr: [v("age"), 1] }, { substr: [v("gone"), 1] }, { substr: [v("text"), "1"] }, { substr: ["", 0, -1] }, { substr: [v("text"), 1e300] },
  // lists
  { merge: [] }, { merge: [[1], [2, 3]] }, { merge: [1, [2], null] }, { merge: v("tags") }, { merge: [v("gone"), v("tags"), [[1]]] }, { merge: [{ "+": [v("none")] }, 1] },
  { map: [v("numbers"), { "*": [v(""), 2] }] }, { map: [v("items"), v("qty")] }, { map: [v("gone"), v("")] }, { map: [v("mixed"), { "+": [v(""), 1] }] },
  { map: [[1, 2, 3], { ">": [v(""), 1] }] }, { map: [v("items"), v("age", "not outside")] }, { map: [v("name"), v("")] }, { map: [v("nothing"), 1] }, { map: [v("nested"), v("0")] },
  { filter: [v("items"), v("on")] }, { filter: [v("numbers"), { ">": [v(""), 2] }] }, { filter: [v("mixed"), { ">": [v(""), 0] }] }, { filter: [v("gone"), true] }, { filter: [v("numbers"), false] },
  { reduce: [v("numbers"), { "+": [v("current"), v("accumulator")] }, 0] }, { reduce: [v("gone"), { "+": [v("current"), v("accumulator")] }, 7] },
  { reduce: [v("numbers"), { max: [v("current"), v("accumulator")] }, v("age")] }, { reduce: [v("items"), { "+": [v("current.qty"), v("accumulator")] }, 0] },
  { reduce: [v("words"), { cat: [v("accumulator"), v("current"), "."] }, ""] }, { reduce: [v("numbers"), v(""), null] }, { reduce: [[], v(""), "i"] },
  { reduce: [v("mixed"), { "+": [v("current"), v("accumulator")] }, 0] }, { reduce: [v("numbers"), v("age"), 0] }, { reduce: [v("numbers"), { "===": [v(""), v("")] }, 0] },
  { reduce: [v("numbers"), { merge: [v("accumulator"), { "*": [v("current"), v("current")] }] }, []] }, { reduce: [v("numbers"), v("toString"), 0] },
  { all: [v("numbers"), { ">": [v(""), 0] }] }, { all: [v("numbers"), { ">": [v(""), 1] }] }, { all: [v("nothing"), true] }, { all: [v("gone"), true] }, { all: [v("mixed"), { ">": [v(""), 3] }] },
  { none: [v("numbers"), { ">": [v(""), 5] }] }, { none: [v("nothing"), true] }, { none: [v("gone"), true] }, { none: [v("items"), { "==": [v("id"), 2] }] }, { none: [v("mixed"), { ">": [v(""), 0] }] },
  { some: [v("items"), { "==": [v("id"), 2] }] }, { some: [v("nothing"), true] }, { some: [v("gone"), true] }, { some: [v("mixed"), { ">": [v(""), 0] }] }, { some: [v("items"), { ">": [v("age"), 1] }] },
  { some: [v("object"), true] }, { none: [v("name"), true] }, { all: [v("tags"), { in: [v(""), ["a", "b", "c"]] }] }, { some: [v("tags"), { "===": [v(""), "b"] }] },
  // keys
  { missing: ["name", "gone"] }, { missing: "gone" }, { missing: ["name"] }, { missing: [["name", "gone"]] }, { missing: ["none", "empty", "zero", "no", "nothing"] },
  { missing: ["address.city", "address.street", "none.x"] }, { missing: { merge: ["name", { if: [v("yes"), ["gone", "age"], []] }] } }, { missing: { if: [v("gone"), ["a"], ["b"]] } },
  { missing: { merge: [] } }, { missing: [1, "tags.0"] }, { missing: ["address.toString"] }, { missing: { missing: ["gone", "name"] } },
  { missing_some: [1, ["name", "gone"]] }, { missing_some: [2, ["name", "gone"]] }, { missing_some: [1, ["gone", "also"]] }, { missing_some: [0, ["gone"]] }, { missing_some: [1, []] },
  { missing_some: ["1", ["name", "gone"]] }, { missing_some: [v("zero"), ["gone"]] }, { missing_some: [1, { merge: ["name", ["gone"]] }] }, { missing_some: [3, ["name", "gone", "age", "none"]] },
  { if: [{ merge: [{ missing: ["name", "x"] }, { missing_some: [1, ["age", "y"]] }] }, "incomplete", "complete"] }, { and: [{ missing: ["gone"] }, false] }, { "!": { missing: ["name"] } },
  // literals
  true, false, null, 0, 17, "apple", "", [], [1, "a", null], [v("name"), { "+": [1, 2] }, [v("age")]], [{ "+": [v("gone")] }, 1],
  // identity
  { "===": [v("tags"), v("tags")] }, { "===": [v("tags"), ["a", "b"]] }, { "!==": [v("address"), v("address")] }, { "===": [v("nothing"), []] }, { "===": [v("nothing"), v("nothing")] },
  { "===": [v("object"), v("object")] }, { "==": [v("tags"), v("tags")] }, { "==": [v("nothing"), false] }, { "!=": [v("object"), null] }, { "==": [v("tags"), v("gone")] },
  { "===": [{ filter: [v("nested"), true] }, v("nested")] }, { "===": [{ if: [true, v("nested.0")] }, v("nested.0")] },
];
for (const rule of shapes) write(rule, person);
for (const rule of [v("1"), { var: 1 }, { var: [1] }, v("length"), { missing: [0, 7] }, { map: [[1], v("")] }]) {
  for (const data of [["apple", "pear"], "text", null, 5, true, {}]) write(rule, data);
}

// --- every pair of values under the comparisons ---------------------------

const values = [null, true, false, 0, 1, -1, 2.5, 3000, "", "0", "1", "42", " 12 ", "abc", "true", [], [0], [1, 2], ["1"], ["abc", null], {}, { x: 1 }];
for (const operator of ["==", "!=", "===", "!==", "<", ">=", "in", "+", "%", "max", "cat", "merge"]) {
  for (const a of [...values, undefined]) {
    for (const b of [...values, undefined]) {
      if (!chance(counts.pairsKept)) continue;
      write({ [operator]: [v("a"), v("b")] }, { a, b });
    }
  }
}

const sizes = [0, 1, -1, 2, 7.5, -3000, 0.1, 1e-7, 1e308, -1e308, 5e-324, 9007199254740991];
for (const operator of ["+", "-", "*", "/", "%", "min", "max", ">", "<="]) {
  for (const a of sizes) {
    for (const b of sizes) if (chance(counts.pairsKept)) write({ [operator]: [v("a"), v("b")] }, { a, b });
  }
}
for (const a of sizes) write({ cat: [{ "-": v("a") }, ",", { "+": v("a") }, ",", v("a")] }, { a });

// --- rules as policies are written ----------------------------------------

const numberPaths = ["request.context.amount", "request.context.count", "user.tenure_days", "user.limits.daily"];
const stringPaths = ["request.intent", "request.context.country", "user.role", "request.locale"];
const booleanPaths = ["user.verified", "request.context.repeat"];
const listPaths = ["user.scopes", "request.context.tags"];
const strings = ["refund", "CH", "DE", "agent", "admin", "en-US", "", "3000"];
const numbers = [0, 1, 3, 50, 3000, 3000.5, -20];

function typedCondition(depth) {
  const deep = depth > 0;
  switch (below(deep ? 14 : 9)) {
    case 0: case 1: return { [pick(["<", "<=", ">", ">="])]: [v(pick(numberPaths)), pick(numbers)] };
    case 2: return { [pick(["==", "!=", "===", "!=="])]: [v(pick(stringPaths)), pick(strings)] };
    case 3: return { in: [v(pick(stringPaths)), times(1 + below(4), () => pick(strings))] };
    case 4: return { in: [pick(strings), v(pick(listPaths))] };
    case 5: return { [pick(["==", "!="])]: [v(pick(booleanPaths)), pick([true, false, null])] };
    case 6: return { [pick(["<", "<="])]: [pick(numbers), v(pick(numberPaths)), pick(numbers)] };
    case 7: return pick([{ "!": { missing: [pick(stringPaths), pick(numberPaths)] } }, { missing_some: [1, [pick(stringPaths), pick(booleanPaths)]] }, v(pick(booleanPaths))]);
    case 8: return { [pick(["some", "all", "none"])]: [v(pick(listPaths)), { "==": [v(""), pick(strings)] }] };
    case 9: case 10: return { [pick(["and", "or"])]: times(2 + below(2), () => typedCondition(depth - 1)) };
    case 11: return { "!": typedCondition(depth - 1) };
    case 12: return { if: [typedCondition(depth - 1), typedCondition(depth - 1), typedCondition(depth - 1)] };
    default: return { ">": [{ [pick(["+", "-", "*", "min", "max"])]: [v(pick(numberPaths)), v(pick(numberPaths))] }, pick(numbers)] };
  }
}

function set(data, path, value) {
  const names = path.split(".");
  const last = names.pop();
  let at = data;
  for (const name of names) at = at[name] ??= {};
  at[last] = value;
}

function typedData() {
  const data = {};
  for (const path of numberPaths) if (!chance(0.25)) set(data, path, pick(numbers));
  for (const path of stringPaths) if (!chance(0.25)) set(data, path, pick(strings));
  for (const path of booleanPaths) if (!chance(0.25)) set(data, path, pick([true, false, null]));
  for (const path of listPaths) if (!chance(0.25)) set(data, path, times(below(4), () => pick(strings)));
  return data;
}

for (let i = 0; i < counts.typed; i++) write(typedCondition(2), typedData());

// --- rules that nobody would write ----------------------------------------

const paths = ["a", "b", "c", "d.e", "d.f.g", "list", "list.0", "list.1.x", "list.length", "text", "text.1", "gone", "a.b", "a.length", "b.0", "d.constructor", "list.concat", 0];
const scopedPaths = [...paths, "", "", "", "x", "current", "accumulator", "current.x"];
const odd = [...values, 1e21, 1e-7, 1e308, "a😀b", "ß", [[1], [2]], [null], [{ x: 1 }, { x: "1" }, { y: 2 }, 3], { x: { y: [1] } }];

const variable = (scoped) => {
  const path = pick(scoped ? scopedPaths : paths);
  return chance(0.2) ? { var: [path, pick([0, "d", null, true])] } : { var: path };
};
const literal = () => pick([null, true, false, 0, 1, 2, -3, 0.5, 3000, "", "a", "1", "abc", "x", [], [1, "a"], [[]]]);
const keys = () => times(1 + below(3), () => pick(paths.filter((p) => p !== "")));

function expression(depth, scoped) {
  if (depth === 0 || chance(0.15)) return chance(0.6) ? variable(scoped) : literal();
  const sub = () => expression(depth - 1, scoped);
  const body = () => expression(depth - 1, true);
  const many = (least, most) => times(least + below(most - least + 1), sub);
  switch (below(16)) {
    case 0: return { [pick(["and", "or"])]: many(1, 4) };
    case 1: return { [pick(["if", "?:"])]: many(2, 5) };
    case 2: return { [pick(["!", "!!"])]: [sub()] };
    case 3: case 4: return { [pick(["==", "!=", "===", "!=="])]: many(2, 2) };
    case 5: return { [pick([">", ">="])]: many(2, 2) };
    case 6: return { [pick(["<", "<="])]: many(2, 3) };
    case 7: return { [pick(["+", "min", "max"])]: many(1, 3) };
    case 8: return pick([{ "-": many(1, 2) }, { "*": many(2, 3) }, { [pick(["/", "%"])]: many(2, 2) }]);
    case 9: return { in: many(2, 2) };
    case 10: return { cat: many(1, 3) };
    case 11: return { substr: [chance(0.6) ? v("text") : sub(), ...times(1 + below(2), () => (chance(0.7) ? below(9) - 4 : sub()))] };
    case 12: return { merge: many(0, 3) };
    case 13: return { [pick(["map", "filter", "all", "none", "some"])]: [chance(0.7) ? v("list") : sub(), body()] };
    case 14: return { reduce: [chance(0.7) ? v("list") : sub(), body(), sub()] };
    default: return pick([{ missing: keys() }, { missing: { if: [sub(), keys(), keys()] } }, { missing_some: [below(3), keys()] }, many(0, 3)]);
  }
}

function oddData() {
  const data = {};
  for (const name of ["a", "b", "c", "text", "list"]) if (!chance(0.2)) data[name] = pick(odd);
  if (chance(0.6)) data.text = pick(["abc", "a😀b", "jsonlogic", ""]);
  if (chance(0.7)) data.list = pick([[1, 2, 3], ["a", "b"], [{ x: 1 }, { x: 2 }], [], [null, 0, "a"], [[1], []], [{ x: "1" }, { x: null }, {}]]);
  if (chance(0.8)) data.d = pick([{ e: 1 }, { e: "x", f: { g: 3000 } }, { f: null }, [], "text", 5]);
  return chance(0.04) ? pick(odd) : data;
}

for (let i = 0; i < counts.adversarial; i++) write(expression(1 + below(3), false), oddData());
