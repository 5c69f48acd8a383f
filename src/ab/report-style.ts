/** Colours of the arms, by number: light and dark. Each is told apart from the ground by 4.5 and more. */
const LIGHT = [
  "#0b5cb8",
  "#b3261e",
  "#1a7333",
  "#7440d0",
  "#8a5a00",
  "#0d6a83",
  "#b0307c",
  "#525a64",
  "#774518",
  "#3b4bc9",
  "#536e00",
  "#9c420e",
];
const DARK = [
  "#79bdff",
  "#ff948b",
  "#76df91",
  "#c8abff",
  "#e5b84d",
  "#66d5e7",
  "#ffa3d6",
  "#b6bec8",
  "#dfb085",
  "#adb7ff",
  "#bfd670",
  "#ffb07a",
];

export const COLOURS = LIGHT.length;

const palette = (colours: readonly string[]) => colours.map((colour, index) => `--c${index}:${colour}`).join(";");
const classes = LIGHT.map((_, index) => `.c${index}{--own:var(--c${index})}`).join("");

/** Everything that gives the page its looks; no file beside it is needed. */
export const STYLE = `
:root{color-scheme:light dark;--ground:#fcfcfb;--raised:#fff;--text:#1b1d20;--soft:#565b63;--line:#dedfdc;--faint:#f1f1ee;--link:#0b5cb8;
--shade:#0003;--good:#1a7333;--bad:#b3261e;--ink:#fff;${palette(LIGHT)}}
@media (prefers-color-scheme:dark){:root{--ground:#131517;--raised:#1a1d20;--text:#e8e8e4;--soft:#a9afb8;--line:#33373c;--faint:#202428;
--link:#79bdff;--shade:#0009;--good:#76df91;--bad:#ff948b;--ink:#101214;${palette(DARK)}}}
${classes}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--ground);color:var(--text);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;overflow-wrap:break-word}
main,header{max-width:1200px;margin:0 auto;padding:0 16px}
header{padding-top:40px}
h1{font-size:clamp(1.6rem,5vw,2.2rem);line-height:1.15;letter-spacing:-.02em;margin:0 0 8px}
h2{font-size:1.35rem;line-height:1.25;letter-spacing:-.01em;margin:56px 0 4px;padding-top:24px;border-top:1px solid var(--line)}
h2 small{display:block;font-size:.95rem;font-weight:400;letter-spacing:0;margin-top:2px}
h3{font-size:1.05rem;margin:36px 0 8px}
p,ul,ol{margin:0 0 12px}
small,.soft{color:var(--soft);font-size:.85rem}
a{color:var(--link)}
nav ul{list-style:none;padding:0;display:flex;flex-wrap:wrap;gap:6px 20px;margin:16px 0}
summary{cursor:pointer}
:focus-visible{outline:2px solid var(--link);outline-offset:2px;border-radius:4px}
.method{margin:12px 0}
.method ul{padding-left:20px;margin-top:8px;max-width:75ch}
.charts{display:grid;grid-template-columns:1fr;gap:24px;margin:20px 0 8px}
@media (min-width:900px){.charts{grid-template-columns:1fr 1fr}}
figure{margin:0;min-width:0}
figcaption{font-weight:600;margin-bottom:4px}
figcaption small{display:block;font-weight:400}
svg{display:block;width:100%;height:auto;overflow:visible}
svg text{font:12px system-ui,sans-serif;fill:var(--soft)}
.grid{stroke:var(--line);stroke-width:1}
.whisker{stroke:var(--own);stroke-width:1.5;opacity:.55}
.leader{stroke:var(--own);stroke-width:1}
.dot,.badge circle{fill:var(--own)}
.path{fill:none;stroke:var(--own);stroke-width:2;stroke-linejoin:round}
.dashed{stroke-dasharray:7 4}
.badge text{fill:var(--ink);font-weight:600;font-size:11px;text-anchor:middle}
.legend{list-style:none;display:flex;flex-wrap:wrap;gap:6px 18px;padding:0;margin:8px 0 0}
.number{display:inline-flex;align-items:center;justify-content:center;min-width:20px;height:20px;padding:0 4px;border-radius:10px;background:var(--own);
color:var(--ink);font-size:11px;font-weight:600;font-variant-numeric:tabular-nums;margin-right:6px;flex:none}
.scroll{position:relative;overflow-x:auto;container-type:inline-size;border:1px solid var(--line);border-radius:8px;margin:8px 0;
background:linear-gradient(to left,var(--raised) 40%,transparent) right/36px 100% no-repeat local,
linear-gradient(to left,var(--shade),transparent) right/16px 100% no-repeat scroll,var(--raised)}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;font-size:.9rem}
th,td{padding:8px 10px;text-align:right;vertical-align:top;border-top:1px solid var(--line);white-space:nowrap}
thead th{border-top:0;color:var(--soft);font-weight:500;font-size:.8rem;background:var(--faint);vertical-align:bottom}
tbody th{font-weight:500}
th:first-child,td:first-child{text-align:left}
.words{text-align:left;white-space:normal;min-width:12rem;overflow-wrap:anywhere}
.pinned th:first-child{position:sticky;left:0;background:var(--raised);z-index:1}
.pinned thead th:first-child{background:var(--faint)}
td small{display:block;font-size:.75rem;line-height:1.3}
.spark{width:72px;height:12px;display:inline-block;margin-left:8px;vertical-align:-1px}
.spark line{stroke:var(--line);stroke-width:2}
.spark .own{stroke:var(--own);stroke-width:3;opacity:.5}
.spark circle{fill:var(--own)}
.tools{display:flex;flex-wrap:wrap;gap:8px 20px;align-items:center;margin:8px 0;font-size:.9rem}
select{font:inherit;color:inherit;background:var(--raised);border:1px solid var(--line);border-radius:6px;padding:4px 8px}
.tasks button{font:inherit;color:var(--link);background:none;border:0;padding:0;cursor:pointer;text-align:left;white-space:normal;overflow-wrap:anywhere}
.tasks button::before{content:"▸";display:inline-block;width:1.1em;color:var(--soft)}
.tasks button[aria-expanded=true]::before{content:"▾"}
.yes{color:var(--good)}.no{color:var(--bad)}
.tasks th:first-child{min-width:7.5rem}
.tasks thead .number{margin:0}
.detail td{white-space:normal;text-align:left;background:var(--faint);padding:0}
.inner{position:sticky;left:0;width:100cqw;padding:12px}
.ask{max-width:75ch;margin-bottom:12px}
.run{border:1px solid var(--line);border-radius:8px;background:var(--raised);margin:0 0 8px}
.run>summary{padding:8px 12px;display:flex;flex-wrap:wrap;gap:2px 12px;align-items:center}
.run>summary::before{content:"▸";color:var(--soft)}
.run[open]>summary::before{content:"▾"}
.run>summary::-webkit-details-marker{display:none}
.run>div{padding:4px 12px 12px}
.turns{list-style:none;padding:0;margin:0}
.turns li{border-top:1px solid var(--line);padding:10px 0}
.turns p{margin:0 0 6px}
code,pre{font:12.5px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere;white-space:pre-wrap}
pre{background:var(--faint);border-radius:6px;padding:8px 10px;margin:0 0 6px;max-height:260px;overflow:auto}
pre.no{color:var(--text);border-left:3px solid var(--bad)}
footer{max-width:1200px;margin:64px auto 32px;padding:0 16px}
.hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.wide{display:none}
@media (min-width:600px){.wide{display:revert}.narrow{display:none}}
@media (max-width:599px){.pinned tbody th{white-space:normal;min-width:8rem;max-width:42vw}th.wide,td.wide{display:none}th,td{padding:8px 10px}}
@media (min-width:600px){svg.wide{display:block}.tasks th:first-child{min-width:15rem}th.wide,td.wide{display:table-cell}}
`.trim();
