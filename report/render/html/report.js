"use strict";
(function () {
  const form = document.getElementById("filter");
  if (!form) return;
  const noun = form.dataset.noun; // findings of packs, or the packs of an index
  const findings = Array.from(document.querySelectorAll(noun === "pack" ? "tr[data-verdict]" : ".finding"));
  const words = findings.map((f) => f.textContent.toLowerCase());
  const packs = Array.from(document.querySelectorAll(".pack"));
  const shown = document.getElementById("shown");
  const text = document.getElementById("by-text");
  const choices = Array.from(form.querySelectorAll("select")).map((select) => [select.name, select]);

  function apply() {
    const wanted = text.value.trim().toLowerCase();
    const chosen = choices.filter(([, select]) => select.value !== "");
    const active = wanted !== "" || chosen.length > 0;
    let count = 0;
    findings.forEach((f, i) => {
      const fits = words[i].includes(wanted) && chosen.every(([name, select]) => f.dataset[name] === select.value);
      f.hidden = !fits;
      if (fits) count++;
    });
    // A pack without a match is in the way where there are others.
    packs.forEach((p) => {
      p.hidden = active && packs.length > 1 && !p.querySelector(".finding:not([hidden])");
    });
    // What is looked for is not left folded.
    document.querySelectorAll("details.part").forEach((d) => {
      if (active && d.querySelector(".finding:not([hidden])")) d.open = true;
    });
    shown.textContent = count + " of " + findings.length + " " + noun + "s";
  }

  form.hidden = false;
  form.addEventListener("input", apply);
  form.addEventListener("submit", (e) => e.preventDefault());
  form.addEventListener("reset", () => setTimeout(apply));
})();
