// Runs inside the page that scripts/look-ab.ts opens: what only a browser can tell.
globalThis.look = (() => {
  const parse = (colour) => (colour.match(/[\d.]+/g) ?? []).map(Number);

  const luminance = (colour) => {
    const [r = 0, g = 0, b = 0] = parse(colour).map((value) => {
      const share = value / 255;
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };

  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if ((parse(colour)[3] ?? 1) > 0) return colour;
    }
    return "rgb(255, 255, 255)";
  };

  const contrast = (element) => {
    const circle = element.closest(".badge")?.querySelector("circle:last-of-type");
    const style = getComputedStyle(element);
    const front = element.closest("svg") ? style.fill : style.color;
    const back = circle ? getComputedStyle(circle).fill : behind(element);
    const [light, dark] = [luminance(front), luminance(back)].sort((a, b) => b - a);
    return { pair: `${front} on ${back}`, ratio: (light + 0.05) / (dark + 0.05) };
  };

  /** Texts whose colour is too near to what is behind them. */
  const faint = () => {
    const found = new Map();
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const element = node.parentElement;
      if (!element?.checkVisibility() || !node.textContent.trim() || element.closest("script,.hidden,option")) continue;
      const { pair, ratio } = contrast(element);
      if (!(ratio >= 4.5)) found.set(pair, `${pair}: ${ratio.toFixed(2)} ${node.textContent.trim().slice(0, 30)}`);
    }
    return [...found.values()];
  };

  /** What a screen reader or the keyboard would miss. */
  const structure = () => {
    const faults = new Set();
    for (const table of document.querySelectorAll("table"))
      if (!table.querySelector('thead th[scope="col"]') || !table.querySelector('tbody th[scope="row"]')) faults.add("a table without headers");
    for (const region of document.querySelectorAll(".scroll"))
      if (!region.getAttribute("aria-label") || region.tabIndex !== 0) faults.add("a scrolling table that keys cannot reach");
    for (const chart of document.querySelectorAll("svg:not([aria-hidden])")) {
      const names = (chart.getAttribute("aria-labelledby") ?? "").split(" ").map((id) => document.getElementById(id)?.textContent);
      if (chart.getAttribute("role") !== "img" || names.length !== 2 || !names.every(Boolean)) faults.add("a chart without name and text");
    }
    const levels = [...document.querySelectorAll("h1,h2,h3")].map(({ tagName }) => Number(tagName[1]));
    if (levels.some((level, index) => level > (levels[index - 1] ?? 0) + 1)) faults.add("headings skip a level");
    const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id);
    if (new Set(ids).size < ids.length) faults.add("an id stands twice");
    return [...faults];
  };

  return {
    faint,
    structure,
    hurt: () => "hurt" in globalThis || document.images.length > 0 || document.querySelectorAll("script").length !== 2,
    overhang: () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    ground: () => getComputedStyle(document.body).backgroundColor,
  };
})();
