// How the inspector looks: three columns that fill the window; on a telephone one at a time.

import { DRAWING_STYLE } from '../../../lib/diagram/svg/style.ts';

export const INSPECTOR_STYLE = `${DRAWING_STYLE}
body.wide:has(.inspector) { height: 100dvh; overflow: hidden; }
body.wide:has(.inspector) main { height: 100dvh; display: flex; flex-direction: column; gap: .6rem; max-width: none; padding: .75rem 1rem; }
.inspector-head { display: flex; align-items: baseline; gap: .4rem 1rem; flex-wrap: wrap; }
.inspector-head h1 { font-size: 1.25rem; margin: 0; }
.inspector-head .hand { margin-left: auto; font-size: .9rem; }
.live-state { margin: 0; font-size: .9rem; color: var(--soft); display: flex; align-items: center; gap: .45rem; }
.inspector {
  flex: 1; min-height: 0; display: grid; gap: .75rem; grid-template-columns: 15.5rem minmax(0, 1fr) 20rem;
}
.inspector > * {
  min-width: 0; min-height: 0; background: var(--card); border: 1px solid var(--edge); border-radius: 14px; padding: .85rem;
}
.inspector h2 { font-size: .8rem; letter-spacing: .04em; text-transform: uppercase; color: var(--soft); margin: .9rem 0 .4rem; }
.inspector h3 { font-size: .8rem; color: var(--soft); margin: .9rem 0 .3rem; font-weight: 600; }
.inspector button, .tabs button {
  font: inherit; font-size: .88rem; color: var(--ink); background: var(--quote); border: 1px solid var(--edge);
  border-radius: 8px; padding: .25rem .7rem; cursor: pointer;
}
.inspector button:hover { border-color: var(--accent); }
.inspector button[aria-pressed="true"], .tabs button[aria-pressed="true"] { border-color: var(--accent); color: var(--accent); font-weight: 600; }
.inspector :focus-visible, .tabs :focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.quiet { color: var(--soft); font-size: .88rem; }

#side { overflow: auto; }
.search input {
  width: 100%; font: inherit; font-size: .92rem; padding: .35rem .65rem; border-radius: 8px; border: 1px solid var(--edge);
  background: var(--ground); color: var(--ink);
}
.lines { list-style: none; margin: 0; padding: 0; display: grid; gap: 2px; }
.inspector .lines .line, .inspector .events .line {
  width: 100%; border: 0; background: none; text-align: left; padding: .35rem .5rem; border-radius: 8px;
}
.inspector .lines .line { display: grid; grid-template-columns: auto minmax(0, 1fr) auto; gap: 0 .55rem; align-items: baseline; }
.lines strong { font-weight: 550; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-variant-numeric: tabular-nums; }
.lines small { font-size: .78rem; }
.lines .where { grid-column: 2 / -1; color: var(--soft); font-size: .8rem; overflow-wrap: anywhere; }
.inspector .line:hover { background: var(--quote); }
.inspector .line[aria-current] { background: var(--quote); box-shadow: inset 3px 0 var(--accent); }
.dot { width: .55rem; height: .55rem; border-radius: 99px; background: var(--abstain); display: inline-block; flex: none; }
.dot.flow { background: var(--accent); }
.dot.lifecycle { background: #8b5cf6; }
.dot.live { background: var(--yes); }
.dot.gone { background: var(--abstain); }

#stage { display: flex; flex-direction: column; padding: 0; overflow: hidden; }
.stage-bar { display: flex; align-items: center; gap: .4rem; padding: .55rem .75rem; border-bottom: 1px solid var(--edge); flex-wrap: wrap; }
.stage-bar h2 { margin: 0 auto 0 0; text-transform: none; letter-spacing: 0; font-size: 1rem; color: var(--ink); }
#drawing { flex: 1; min-height: 0; overflow: auto; display: grid; place-items: safe center; background: var(--ground); }
.drawing { --ground: transparent; display: block; }
.drawing .label { stroke: var(--label-ground, #f4f5f7); }
@media (prefers-color-scheme: dark) { .drawing .label { stroke: var(--label-ground, #0f1216); } }
.drawing .chip.taken { fill: var(--live); font-weight: 700; }
.drawing .state.active .card { filter: drop-shadow(0 0 7px color-mix(in srgb, var(--live) 55%, transparent)); }
.drawing .edge.taken .track { stroke-dasharray: none; }
@media (prefers-reduced-motion: no-preference) {
  .drawing .card { transition: fill .25s, stroke .25s; }
  .drawing .edge.taken .track { animation: taken .6s ease-out; }
  @keyframes taken { from { stroke-width: 7; } }
}
.inspector .time { display: flex; align-items: center; gap: .5rem; padding: .55rem .75rem; margin: 0; border-top: 1px solid var(--edge); font-size: .9rem; }
.time input { flex: 1; min-width: 4rem; accent-color: var(--accent); }
.inspector .time .primary { min-width: 5.2rem; background: var(--accent); border-color: var(--accent); color: var(--card); font-weight: 600; }
.inspector .time .primary.live { background: var(--quote); border-color: var(--edge); color: var(--ink); font-weight: 400; }
.time output { color: var(--soft); font-size: .85rem; min-width: 10.5rem; text-align: right; font-variant-numeric: tabular-nums; }

#detail { overflow: auto; display: flex; flex-direction: column; }
.detail-head { display: flex; align-items: center; gap: .5rem; flex-wrap: wrap; }
.detail-head h2 { margin: 0 auto 0 0; text-transform: none; letter-spacing: 0; font-size: 1rem; color: var(--ink); overflow-wrap: anywhere; }
#detail #told { margin: .4rem 0 0; font-size: .85rem; color: var(--soft); }
#detail #told:empty { display: none; }
#screen {
  margin: 0; padding: .75rem .9rem; border-radius: 10px; background: var(--quote); white-space: pre-wrap; overflow-wrap: anywhere;
  font: .88rem/1.45 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; min-height: 4.5rem; max-height: 14rem;
  overflow: auto; flex: none;
}
.events { list-style: none; margin: 0; padding: 0; overflow: auto; flex: 1 1 14rem; min-height: 11rem; font-size: .84rem; }
.inspector .events .line { display: flex; flex-wrap: wrap; gap: .15rem .45rem; align-items: baseline; }
.events time { color: var(--soft); font-variant-numeric: tabular-nums; }
.events code { background: var(--quote); border-radius: 5px; padding: 0 .3rem; overflow-wrap: anywhere; }
.events [aria-current] code { background: var(--card); }
.events .to { font-weight: 550; overflow-wrap: anywhere; }
.events .typed { color: var(--soft); width: 100%; overflow-wrap: anywhere; }
.context { flex: 0 1 auto; overflow: auto; min-height: 4rem; max-height: 40%; display: grid; align-content: start; grid-template-columns: max-content minmax(0, 1fr); gap: .2rem .8rem; margin: 0; font-size: .84rem; }
.context dt { color: var(--soft); }
.context dd { margin: 0; overflow-wrap: anywhere; white-space: pre-wrap; font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
.keys { margin: 0; color: var(--soft); font-size: .8rem; }
kbd { border: 1px solid var(--edge); border-radius: 5px; padding: 0 .35rem; font: inherit; background: var(--card); }
.tabs { display: none; gap: .4rem; }
.hand-off { max-width: 44rem; }
.stately iframe { width: 100%; height: calc(100dvh - 8rem); border: 1px solid var(--edge); border-radius: 14px; }
@media (max-width: 62rem) {
  .inspector { grid-template-columns: 13rem minmax(0, 1fr) 16rem; }
}
@media (max-width: 50rem) {
  .tabs { display: flex; }
  .tabs button { flex: 1; padding: .45rem; }
  .keys { display: none; }
  .inspector { grid-template-columns: minmax(0, 1fr); }
  .inspector:not([data-part="side"]) #side, .inspector:not([data-part="stage"]) #stage,
  .inspector:not([data-part="detail"]) #detail { display: none; }
  .time { flex-wrap: wrap; }
  .time input { order: 1; flex-basis: 100%; }
  .time output { margin-left: auto; min-width: 0; }
}
`;
