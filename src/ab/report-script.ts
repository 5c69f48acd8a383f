/**
 * What the page does by itself: rows of tasks open to the transcripts, and can be narrowed. Everything that was said or came back is
 * set as text, never as markup.
 */
export const SCRIPT = `
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("runs").textContent);
  const show = (value) => Math.round(value).toLocaleString("en");
  const make = (name, className, text, ...children) => {
    const element = document.createElement(name);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    element.append(...children);
    return element;
  };
  const toTurn = (turn) => {
    const item = make("li");
    if (turn.said) item.append(make("p", "", turn.said));
    if (turn.tool) item.append(make("p", "", undefined, make("b", "", turn.tool), " ", make("code", "", turn.args)));
    if (turn.seen) {
      const seen = make("pre", turn.isError ? "no" : "", turn.seen);
      seen.tabIndex = 0;
      seen.setAttribute("aria-label", turn.isError ? "Error that came back" : "What came back");
      item.append(seen);
    }
    const parts = [
      "sent " + show(turn.prompt) + " tokens, " + show(turn.cached) + " of them cached",
      "wrote " + show(turn.completion),
      show(turn.listed) + " tools listed",
      ...(turn.ms === undefined ? [] : [show(turn.ms) + " ms"]),
      ...(turn.isError ? ["failed"] : []),
    ];
    item.append(make("p", "soft", parts.join(" · ")));
    return item;
  };
  const toRun = (run, index) => {
    const details = make("details", "run c" + (run.arm % data.colours));
    details.append(
      make(
        "summary", "", undefined,
        make("span", "", undefined, make("span", "number", String(run.arm + 1)), data.arms[run.arm]),
        make("span", run.success ? "yes" : "no", run.success ? "✓ done" : "✗ failed"),
        make("span", "soft", (run.repeat > 0 ? "repeat " + (run.repeat + 1) + " · " : "") + show(run.prompt) + " tokens · " + run.calls + (run.calls === 1 ? " call" : " calls")),
      ),
    );
    details.addEventListener("toggle", () => {
      if (details.childElementCount > 1) return;
      const body = make("div");
      const faults = [...run.faults, ...(run.error ? ["Broke off: " + run.error] : [])];
      if (faults.length > 0) body.append(make("ul", "no", undefined, ...faults.map((fault) => make("li", "", fault))));
      body.append(make("ol", "turns", undefined, ...run.turns.map(toTurn)));
      details.append(body);
    });
    if (index === 0) details.open = true;
    return details;
  };
  for (const button of document.querySelectorAll(".tasks button")) {
    const row = button.closest("tr");
    const detail = document.getElementById(button.getAttribute("aria-controls"));
    button.addEventListener("click", () => {
      const open = button.getAttribute("aria-expanded") !== "true";
      button.setAttribute("aria-expanded", String(open));
      detail.hidden = !open;
      const inner = detail.querySelector(".inner");
      if (!open || inner.childElementCount > 0) return;
      const { task, group } = row.dataset;
      if (data.prompts[task]) inner.append(make("p", "ask", data.prompts[task]));
      const runs = data.groups[Number(group)][task] || [];
      const first = Math.max(0, runs.findIndex((run) => !run.success));
      inner.append(...runs.map((run, index) => toRun(run, index === first ? 0 : 1)));
    });
  }
  for (const tools of document.querySelectorAll(".tools")) {
    tools.hidden = false;
    const size = tools.querySelector("select");
    const failed = tools.querySelector("input");
    const count = tools.querySelector("output");
    const rows = [...document.querySelectorAll('tr[data-group="' + tools.dataset.group + '"]')];
    tools.addEventListener("change", () => {
      let shown = 0;
      for (const row of rows) {
        const fits = (size.value === "" || row.dataset.size === size.value) && (!failed.checked || row.dataset.failed === "yes");
        row.hidden = !fits;
        if (fits) shown++;
        const button = row.querySelector("button");
        document.getElementById(button.getAttribute("aria-controls")).hidden = !fits || button.getAttribute("aria-expanded") !== "true";
      }
      count.textContent = shown + " of " + rows.length + " tasks";
    });
  }
})();
`.trim();
