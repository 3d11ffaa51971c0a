// How pages look: one sheet, light and dark, from a telephone to a wall.

export const PAGE_STYLE = `
:root {
  color-scheme: light dark;
  --ground: #f4f5f7; --card: #ffffff; --edge: #e1e4e8; --ink: #1b1f24; --soft: #5b6470; --track: #e8ebef;
  --yes: #0b8457; --no: #c43d2b; --abstain: #697280; --accent: #2b5fd9; --wait: #a15c00; --quote: #f6f7f9; --line: #8a93a0;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0f1216; --card: #181c22; --edge: #2a3038; --ink: #e8ebef; --soft: #9aa4b1; --track: #2a3038;
    --yes: #35b98a; --no: #ee7461; --abstain: #7e8896; --accent: #86a9ff; --wait: #e3a24f; --quote: #1f242b; --line: #66707d;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--ground); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif;
}
main { max-width: 46rem; margin: 0 auto; padding: 2rem 1rem 4rem; display: grid; gap: 1rem; }
main > * { min-width: 0; }
.card { background: var(--card); border: 1px solid var(--edge); border-radius: 14px; padding: 1.5rem 1.75rem; }
h1 { font-size: clamp(1.5rem, 1.1rem + 2vw, 2.1rem); line-height: 1.2; margin: .35rem 0; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 0 0 1rem; }
p { margin: .5rem 0; }
a { color: var(--accent); }
code, .did { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .86em; }
.did { overflow-wrap: anywhere; color: var(--soft); }
.at, .by, .over, .power, small { color: var(--soft); }
.by { font-size: .9rem; margin-bottom: 0; }
.over { display: flex; align-items: center; gap: .75rem; margin: 0 0 .9rem; font-size: .9rem; }
.badge {
  border-radius: 99px; padding: .15rem .75rem; font-weight: 600; color: var(--soft); border: 1.5px solid currentColor;
}
.badge.open { color: var(--accent); }
.badge.timelock, .badge.execution_failed { color: var(--wait); }
.badge.passed, .badge.executed { color: var(--yes); }
.badge.rejected, .badge.vetoed { color: var(--no); }
.time { font-size: 1.1rem; margin: 1rem 0 .25rem; }
.time strong { font-size: 1.35rem; font-variant-numeric: tabular-nums; }
.means strong { font-weight: 600; overflow-wrap: anywhere; }
.tiles { display: grid; grid-template-columns: repeat(4, 1fr); gap: .75rem; margin: 0 0 1.5rem; }
.tile { border-left: 4px solid var(--track); padding-left: .75rem; min-width: 0; }
.tile.yes { border-color: var(--yes); }
.tile.no { border-color: var(--no); }
.tile.abstain { border-color: var(--abstain); }
.tile dt { color: var(--soft); font-size: .9rem; }
.tile dd {
  margin: 0; font-size: 1.5rem; font-weight: 650; line-height: 1.3; font-variant-numeric: tabular-nums;
  overflow-wrap: anywhere;
}
.tile small { font-size: .85rem; font-weight: 400; white-space: nowrap; }
figure { margin: 0 0 .75rem; }
figcaption { font-weight: 600; font-size: .95rem; }
.bar { display: block; overflow: visible; }
.bar svg { clip-path: inset(0 round 7px); }
.bar .track { fill: var(--track); }
.bar .yes { fill: var(--yes); }
.bar .no { fill: var(--no); }
.bar .abstain { fill: var(--abstain); }
.bar .halo { stroke: var(--card); stroke-width: 5; }
.bar .line { stroke: var(--ink); stroke-width: 2; }
.bar .name { fill: var(--soft); font-size: 12.5px; }
.forecast { border-left: 4px solid var(--no); padding-left: .75rem; margin: 1.25rem 0 0; }
.forecast.passes { border-color: var(--yes); }
ul { padding: 0 0 0 1.2rem; margin: 0; }
.rules li { margin: .3rem 0; }
.ballots, .silent { list-style: none; padding: 0; }
.ballots li { display: grid; grid-template-columns: 5.25rem 1fr; gap: .85rem; padding: .75rem 0; align-items: start; }
.ballots li > div { min-width: 0; }
.ballots li + li { border-top: 1px solid var(--edge); }
.ballots .did { color: var(--ink); }
.ballots .at { display: block; font-size: .85rem; }
.chip { border-radius: 7px; text-align: center; font-weight: 600; font-size: .9rem; padding: .1rem .4rem; color: var(--card); }
.chip.yes { background: var(--yes); }
.chip.no { background: var(--no); }
.chip.abstain { background: var(--abstain); }
blockquote {
  margin: .5rem 0 0; padding: .5rem .85rem; background: var(--quote); border-radius: 8px;
  white-space: pre-wrap; overflow-wrap: anywhere;
}
details { margin-top: 1rem; }
summary { cursor: pointer; color: var(--accent); font-size: .95rem; }
.silent li { padding: .25rem 0; }
.record { display: grid; grid-template-columns: max-content 1fr; gap: .35rem 1.25rem; font-size: .92rem; margin: 1rem 0 0; }
.record dt { color: var(--soft); }
.record dd { margin: 0; min-width: 0; overflow-wrap: anywhere; }
.lead { color: var(--soft); }
.entry { scroll-margin-top: 1rem; padding: 1.1rem 0; border-top: 1px solid var(--edge); }
.entry h3 { margin: 0 0 .35rem; font-size: 1.02rem; display: flex; flex-wrap: wrap; gap: .6rem; align-items: baseline; }
.entry h3 a { text-decoration: none; font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
.entry h3 span { color: var(--soft); font-weight: 400; font-size: .9rem; }
.entry:target { border-left: 4px solid var(--accent); padding-left: 1rem; margin-left: -1rem; }
.entry dl { display: grid; grid-template-columns: 7rem 1fr; gap: .25rem 1rem; margin: 0; }
.entry dt { color: var(--soft); }
.entry dd { margin: 0; min-width: 0; }
.contents { columns: 3 11rem; list-style: none; padding: 0; font-size: .9rem; }
.none { color: var(--soft); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
[hidden] { display: none !important; }
button, input, textarea { font: inherit; color: inherit; }
button {
  background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: .4rem .8rem; cursor: pointer;
}
button:hover:not(:disabled) { border-color: var(--accent); }
button:disabled { color: var(--soft); opacity: .55; cursor: default; }
button.primary { background: var(--accent); border-color: var(--accent); color: var(--card); font-weight: 600; }
button.primary:hover:not(:disabled) { filter: brightness(1.1); }
button[aria-pressed="true"] { border-color: var(--accent); box-shadow: inset 0 0 0 1px var(--accent); color: var(--accent); }
input, textarea {
  background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: .4rem .6rem; min-width: 0;
}
::placeholder { color: var(--soft); opacity: 1; }
input[type="range"] { border: 0; padding: 0; accent-color: var(--accent); }
.secret { -webkit-text-security: disc; }
.sign-in { display: flex; flex-wrap: wrap; gap: .75rem; align-items: end; margin: 1rem 0; }
.sign-in label { display: grid; gap: .25rem; flex: 1 1 14rem; }
.wide main { max-width: 88rem; padding-top: 1rem; }
.tools { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; align-items: baseline; font-size: .95rem; }
.tools strong { margin-right: .5rem; }
.tools a { color: var(--soft); text-decoration: none; padding: .3rem 0; border-bottom: 2px solid transparent; }
.tools a:hover { color: var(--ink); }
.tools a[aria-current] { color: var(--ink); border-color: var(--accent); }
.tool { display: flex; flex-wrap: wrap; gap: .5rem 2rem; align-items: end; justify-content: space-between; }
.tool h1 { margin: 0; }
.tool .lead { margin: .25rem 0 0; max-width: 52rem; }
@media (max-width: 34rem) {
  .card { padding: 1.15rem 1.1rem; }
  .tiles { grid-template-columns: repeat(2, 1fr); }
  .record, .entry dl { grid-template-columns: 1fr; gap: .1rem; }
  .record dd, .entry dd { margin-bottom: .5rem; }
}
@media print { body { background: none; } .card { break-inside: avoid; } }
`;
