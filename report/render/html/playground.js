"use strict";
(function () {
  const benches = Array.from(document.querySelectorAll(".playground")).filter((p) => p.querySelector(".source"));
  if (!window.WebAssembly || !window.DecompressionStream) return;

  // What could not be seen, or would turn the text around it, is shown by its number.
  const visible = (text) => String(text).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}]/gu, (c) => "\\u{" + c.codePointAt(0).toString(16) + "}");

  // el makes an element; whatever is said in it is text.
  function el(tag, attributes, ...children) {
    const e = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === true) e.setAttribute(name, "");
      else if (value !== false && value !== undefined) e.setAttribute(name, value);
    }
    for (const c of children.flat()) if (c !== "") e.append(c instanceof Node ? c : visible(c));
    return e;
  }

  let program;
  // start runs the program of the page, once.
  function start() {
    program = program || (async () => {
      const packed = atob(document.getElementById("playground-wasm").textContent);
      const bytes = Uint8Array.from(packed, (c) => c.charCodeAt(0));
      const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
      const go = new Go();
      const made = await WebAssembly.instantiate(await new Response(stream).arrayBuffer(), go.importObject);
      go.run(made.instance);
      return window.packgatePlayground;
    })();
    return program;
  }

  function answer(json) {
    const a = JSON.parse(json);
    if (a.error) throw new Error(a.error);
    return a;
  }

  const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
  const written = (v) => (typeof v === "string" && v !== "" ? v : v === "" ? '"" (an empty text)' : JSON.stringify(v));

  // knob makes the controls of one value of the request.
  function knob(k, id, changed) {
    const options = [el("option", { value: "unset" }, "not set")].concat(
      k.choices.map((v, i) => el("option", { value: i }, written(v))), [el("option", { value: "other" }, "another value…")]);
    const select = el("select", { id: id }, options);
    const kind = k.type === "number" ? { type: "number", step: "any" } : { type: "text", autocomplete: "off", spellcheck: "false" };
    const input = el("input", Object.assign({ "aria-label": k.name + ", another value", hidden: true }, kind));
    const asText = k.type === "text";
    const show = () => { input.hidden = select.value !== "other"; };
    select.addEventListener("change", () => {
      const at = k.choices[select.value];
      show();
      if (select.value === "other") input.focus();
      else input.value = at === undefined ? "" : typeof at === "string" && asText ? at : JSON.stringify(at);
      changed();
    });
    input.addEventListener("input", changed);
    return {
      at: el("p", { class: "knob" }, el("label", { for: id }, k.name), select, input,
        k.read_by ? el("span", { class: "quiet" }, "read by " + k.read_by.join(", ")) : ""),
      set(state) {
        const i = k.choices.findIndex((v) => same(v, state.value));
        select.value = state.unset ? "unset" : i >= 0 ? String(i) : "other";
        input.value = state.unset ? "" : typeof state.value === "string" && asText ? state.value : JSON.stringify(state.value);
        show();
      },
      // get returns how the knob stands, null where its text is no value.
      get() {
        if (select.value === "unset") return { unset: true, value: null };
        if (select.value !== "other") return { value: k.choices[select.value] };
        try {
          const value = asText ? input.value : JSON.parse(input.value);
          if (k.type === "number" && !Number.isFinite(value)) throw new Error();
          input.removeAttribute("aria-invalid");
          return { value: value };
        } catch {
          input.setAttribute("aria-invalid", "true");
          return null;
        }
      },
    };
  }

  const outcomes = { compiled: ["good", "✓", "compiled"], refused: ["bad", "✗", "refused"], policy_eval_error: ["bad", "✗", "policy evaluation error"] };

  // card says how the compile of a version ended; said is the hash of the report.
  function card(title, c, said) {
    const [tone, mark, word] = outcomes[c.outcome] || ["warn", "!", "not compiled"];
    const badge = el("span", { class: "badge " + tone }, el("span", { "aria-hidden": "true" }, mark), " " + word);
    const lines = [el("p", {}, el("strong", {}, title), " ", el("span", { class: "quiet" }, c.ref), " ", badge)];
    if (c.hash) lines.push(el("p", {}, el("code", { class: "hash" }, c.hash), said ? el("span", { class: "quiet" }, c.hash === said ? " as in the report" : " not as in the report") : ""));
    if (c.reason) lines.push(el("p", {}, (c.stage ? "stage " + c.stage + ": " : "") + c.reason));
    return el("li", { class: "card " + tone }, lines);
  }

  function table(group, both, onlyDifferent) {
    const rows = group.rows.filter((r) => !onlyDifferent || r.differs);
    if (rows.length === 0) return "";
    const cell = (label, ...inside) => el("td", { "data-label": label }, el("div", {}, inside));
    const side = (label, text, differs) => cell(label, differs ? el("mark", {}, text || "nothing") : text || "–");
    const head = both ? [group.title, "Base", "Head"] : [group.title, "Outcome"];
    return el("table", {}, el("thead", {}, el("tr", {}, head.map((h) => el("th", { scope: "col" }, h)))),
      el("tbody", {}, rows.map((r) => el("tr", r.differs ? { class: "warn" } : {},
        cell(head[0], r.name, r.differs ? el("span", { class: "badge warn" }, "differs") : ""),
        both ? side("Base", r.base, r.differs) : "", side(head[head.length - 1], r.head, r.differs)))));
  }

  const titles = { session: "Who asks, and for what", request: "The request", budget: "Token budgets" };

  function bench(place, playground, number) {
    const about = answer(playground.open(place.querySelector(".source").textContent));
    const id = "y" + number;
    const both = Boolean(about.base);
    const cases = el("select", { id: id + "-case" }, about.cases.map((c, i) => el("option", { value: i }, c.name + (c.overlay ? " (overlay " + c.overlay + ")" : ""))));
    const goals = el("select", { id: id + "-goal" }, el("option", { value: "" }, "choose what it is to show"), about.goals.map((g, i) => el("option", { value: i }, g.name)));
    const only = el("input", { type: "checkbox", id: id + "-only" });
    const reset = el("button", { type: "button" }, "As in the case");
    const status = el("p", { role: "status", "aria-live": "polite", class: "status" });
    const out = el("div", { class: "outcome" });
    const knobs = about.knobs.map((k, i) => knob(k, id + "-k" + i, compile));

    function start() {
      about.cases[cases.value].knobs.forEach((s) => knobs[s.knob].set(s));
      goals.value = "";
      compile();
    }

    function compile() {
      const c = about.cases[cases.value];
      const states = knobs.map((k) => k.get());
      const wrong = states.indexOf(null);
      if (wrong >= 0) {
        status.textContent = visible(about.knobs[wrong].name + " is no " + (about.knobs[wrong].type === "number" ? "number" : "JSON value"));
        return;
      }
      const change = [];
      states.forEach((s, i) => {
        const was = c.knobs[i];
        if (Boolean(s.unset) !== Boolean(was.unset) || !s.unset && !same(s.value, was.value)) change.push(Object.assign({ knob: i }, s));
      });
      let a;
      try {
        a = answer(playground.compile(about.handle, JSON.stringify({ case: Number(cases.value), change: change })));
      } catch (e) {
        status.textContent = visible(e.message);
        return;
      }
      const plain = change.length === 0;
      const differing = a.groups.reduce((n, g) => n + g.rows.filter((r) => r.differs).length, 0);
      out.replaceChildren(
        el("ul", { class: "cards versions" }, both ? card("Base", a.base, plain && c.base_hash) : "", card(both ? "Head" : "The pack", a.head, plain && c.hash)),
        ...a.groups.map((g) => table(g, both, only.checked)).filter((t) => t !== ""));
      status.textContent = (plain ? "The request is that of the case. " : change.length + " changed from the case. ") +
        (!both ? "" : a.same && differing === 0 ? "Base and head come to the same." : "Base and head differ in " + (differing || "the hash alone") + (differing ? (differing === 1 ? " line." : " lines.") : "."));
    }

    cases.addEventListener("change", start);
    reset.addEventListener("click", start);
    only.addEventListener("change", compile);
    goals.addEventListener("change", () => {
      if (goals.value === "") return;
      let r;
      try {
        r = answer(playground.reach(about.handle, Number(goals.value)));
      } catch (e) {
        r = { reason: e.message };
      }
      if (r.reason) {
        status.textContent = visible(r.reason);
        return;
      }
      r.change.forEach((s) => knobs[s.knob].set(s));
      compile();
    });

    const group = (name) => knobs.filter((_, i) => about.knobs[i].group === name).map((k) => k.at);
    const field = (label, control) => el("p", { class: "knob" }, el("label", { for: control.id }, label), control);
    const request = group("request");
    place.replaceChildren(
      place.querySelector(".source"),
      el("div", { class: "starts" }, field("Begin with the case", cases), field("Find a request", goals), el("p", {}, reset)),
      el("div", { class: "desk" },
        el("div", { class: "knobs" },
          el("fieldset", {}, el("legend", {}, titles.session), group("session")),
          request.length ? el("fieldset", {}, el("legend", {}, titles.request), request) : "",
          el("details", {}, el("summary", {}, titles.budget), el("div", {}, group("budget")))),
        el("div", { class: "results" }, status,
          both ? el("p", { class: "only" }, only, " ", el("label", { for: only.id }, "Show only differences")) : "", out)));
    place.hidden = false;
    start();
    cases.focus();
  }

  benches.forEach((p, number) => {
    const begin = p.querySelector(".begin");
    const button = begin.querySelector("button");
    const place = p.querySelector(".bench");
    place.append(p.querySelector(".source"));
    begin.hidden = false;
    button.addEventListener("click", async () => {
      const said = begin.querySelector("[role=status]");
      button.disabled = true;
      said.textContent = "starting…";
      try {
        bench(place, await start(), number);
        begin.hidden = true;
      } catch (e) {
        said.textContent = visible("it could not be started: " + e.message);
        button.disabled = false;
      }
    });
  });
})();
