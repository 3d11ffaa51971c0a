// How diagrams look, light and dark. It holds for everything inside an element of the class `drawing`.

/** A sheet for pages that embed drawings; a file of its own has it inside. Colours are custom properties of `.drawing`. */
export const DRAWING_STYLE = `
.drawing {
  --ground: #f8fafc; --card: #ffffff; --outline: #d5dde7; --ink: #0f172a; --soft: #475569; --line: #94a3b8;
  --frame: #eef2f8; --fault: #dc2626; --menu: #2563eb; --input: #7c3aed; --list: #0891b2; --call: #d97706;
  --branch: #db2777; --flow: #0d9488; --end: #0f172a; --other: #64748b; --live: #16a34a; --lit: #dcfce7; --service: #b45309;
  --heat-1: #fbbf24; --heat-2: #f59e0b; --heat-3: #f97316; --heat-4: #ea580c; --heat-5: #c2410c;
  font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", "DejaVu Sans", sans-serif;
}
@media (prefers-color-scheme: dark) {
  .drawing {
    --ground: #0f1419; --card: #1a212b; --outline: #334155; --ink: #e8edf4; --soft: #a3b1c4; --line: #64758c;
    --frame: #141b24; --fault: #f87171; --menu: #60a5fa; --input: #a78bfa; --list: #22d3ee; --call: #fbbf24;
    --branch: #f472b6; --flow: #2dd4bf; --end: #e2e8f0; --other: #94a3b8; --live: #4ade80; --lit: #14391f; --service: #fbbf24;
    --heat-1: #a16207; --heat-2: #ca8a04; --heat-3: #eab308; --heat-4: #facc15; --heat-5: #fde047;
  }
}
.drawing .ground { fill: var(--ground); }
.drawing .card { fill: var(--card); stroke: var(--outline); }
.drawing .frame { fill: var(--frame); stroke: var(--outline); stroke-dasharray: 5 4; }
.drawing .bar { fill: var(--other); }
.drawing [data-kind="menu"] .bar { fill: var(--menu); }
.drawing [data-kind="input"] .bar { fill: var(--input); }
.drawing [data-kind="list"] .bar { fill: var(--list); }
.drawing [data-kind="call"] .bar { fill: var(--call); }
.drawing [data-kind="branch"] .bar { fill: var(--branch); }
.drawing [data-kind="flow"] .bar { fill: var(--flow); }
.drawing [data-kind="end"] .bar { fill: var(--end); }
.drawing .name { fill: var(--ink); font-size: 13px; font-weight: 650; }
.drawing .line, .drawing .chip text { fill: var(--soft); font-size: 11px; }
.drawing .sign {
  fill: none; stroke: var(--soft); stroke-width: 1.2; stroke-linecap: round; stroke-linejoin: round;
}
.drawing .chip.error text { fill: var(--fault); }
.drawing .chip.error .sign { stroke: var(--fault); }
.drawing .chip.service text { fill: var(--service); }
.drawing .chip.service .sign { stroke: var(--service); }
.drawing .begin circle { fill: var(--ink); }
.drawing .begin path { fill: none; stroke: var(--ink); stroke-width: 1.5; }
.drawing .begin .head { fill: var(--ink); stroke: none; }
.drawing .track { fill: none; stroke: var(--line); stroke-width: 1.5; }
.drawing .edge .head { fill: var(--line); }
.drawing .label {
  fill: var(--soft); font-size: 10.5px; text-anchor: middle;
  paint-order: stroke; stroke: var(--ground); stroke-width: 4px; stroke-linejoin: round;
}
.drawing .edge.error .track { stroke: var(--fault); stroke-dasharray: 5 4; }
.drawing .edge.error .head { fill: var(--fault); }
.drawing .edge.heat-0 { opacity: .35; }
.drawing .edge.heat-1 .track { stroke: var(--heat-1); stroke-width: 1.75; }
.drawing .edge.heat-2 .track { stroke: var(--heat-2); stroke-width: 2.25; }
.drawing .edge.heat-3 .track { stroke: var(--heat-3); stroke-width: 2.75; }
.drawing .edge.heat-4 .track { stroke: var(--heat-4); stroke-width: 3.25; }
.drawing .edge.heat-5 .track { stroke: var(--heat-5); stroke-width: 4; }
.drawing .edge.heat-1 .head { fill: var(--heat-1); }
.drawing .edge.heat-2 .head { fill: var(--heat-2); }
.drawing .edge.heat-3 .head { fill: var(--heat-3); }
.drawing .edge.heat-4 .head { fill: var(--heat-4); }
.drawing .edge.heat-5 .head { fill: var(--heat-5); }
.drawing .state.uncovered .card { stroke: var(--fault); stroke-dasharray: 5 4; stroke-width: 1.5; }
.drawing .state.uncovered .name, .drawing .edge.uncovered .label { fill: var(--fault); }
.drawing .edge.uncovered .track { stroke: var(--fault); stroke-dasharray: 2 4; }
.drawing .edge.uncovered .head { fill: var(--fault); }
.drawing .state.active .card { fill: var(--lit); stroke: var(--live); stroke-width: 2.5; }
.drawing .edge.taken .track { stroke: var(--live); stroke-width: 3; }
.drawing .edge.taken .head { fill: var(--live); }
.drawing .edge.taken .label { fill: var(--live); font-weight: 600; }
`;
