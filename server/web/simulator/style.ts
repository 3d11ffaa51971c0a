// How simulated phones look: a small device with a screen of fixed size, and its wires below.

export const SIMULATOR_STYLE = `
:root {
  --shell: #2b3038; --shell-edge: #1c2026; --glass: #e3ecd2; --glass-ink: #1d2a12; --glass-soft: #46543a;
  --key: #3d444f; --key-ink: #f4f6f8;
}
@media (prefers-color-scheme: dark) {
  :root { --shell: #23282f; --shell-edge: #3a424d; --glass: #1b2a1c; --glass-ink: #cdeec0; --glass-soft: #9dbb92; }
}
.phones { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(21rem, 100%), 1fr)); gap: 1rem; align-items: start; }
.phone { display: grid; gap: .9rem; padding: 1.1rem 1.2rem; min-width: 0; }
.phone > * { min-width: 0; margin: 0; }
.phone > header { display: flex; justify-content: space-between; align-items: center; }
.phone h2 { margin: 0; }
.phone h3 { margin: 0; font-size: .95rem; }
.phone > header button, .over-log button { padding: .2rem .6rem; font-size: .85rem; }
.dialler { display: grid; grid-template-columns: 1.5fr 1fr auto; gap: .5rem; align-items: end; }
.dialler label { display: grid; gap: .15rem; font-size: .85rem; color: var(--soft); }
.dialler input { width: 100%; color: var(--ink); font-variant-numeric: tabular-nums; }
.dialler input:user-invalid { border-color: var(--no); }
.device {
  background: var(--shell); border: 1px solid var(--shell-edge); border-radius: 26px; padding: 1.1rem 1.1rem 1.3rem;
  width: min(100%, 21rem); justify-self: center; color: var(--key-ink);
}
/* 26 characters in 9 lines: 182 septets, and the ends of lines that are not full. */
.screen {
  background: var(--glass); color: var(--glass-ink); border-radius: 8px; margin: 0; padding: .7rem .8rem;
  font: 15px/1.4 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
  height: calc(9 * 1.4em + 1.4rem); overflow-y: auto; white-space: pre-wrap; overflow-wrap: anywhere;
}
.screen.idle, .screen.busy, .screen.trouble { color: var(--glass-soft); }
.screen:focus-visible { outline-color: var(--key-ink); }
.device progress {
  display: block; width: 100%; height: 5px; margin: .6rem 0 .3rem; border: 0; border-radius: 3px; overflow: hidden;
  background: var(--key); appearance: none;
}
.device progress::-webkit-progress-bar { background: var(--key); }
.device progress::-webkit-progress-value { background: #9fd27a; }
.device progress::-moz-progress-bar { background: #9fd27a; }
.device progress.over::-webkit-progress-value { background: #ff8d7d; }
.device progress.over::-moz-progress-bar { background: #ff8d7d; }
.count { display: flex; justify-content: space-between; gap: .5rem; margin: 0; font-size: .8rem; color: #c3cad3; }
.answer { display: grid; grid-template-columns: 1fr auto auto; gap: .4rem; margin: .7rem 0; }
.answer input { background: var(--card); color: var(--ink); border-color: transparent; }
.answer button:not(.primary), .keypad button { background: var(--key); color: var(--key-ink); border-color: transparent; }
.device button:disabled { color: #c3cad3; background: var(--key); opacity: .6; }
.device :focus-visible { outline-color: #ffffff; }
.keypad { display: grid; grid-template-columns: repeat(3, 1fr); gap: .4rem; }
.keypad button { padding: .45rem; font-size: 1.1rem; font-weight: 600; }
.faults { display: grid; grid-template-columns: repeat(6, 1fr); gap: .4rem; }
.faults button { grid-column: span 2; padding: .3rem .3rem; font-size: .9rem; }
.faults button:nth-child(n+4) { grid-column: span 3; }
.delay { display: grid; grid-template-columns: auto 1fr 3.5rem; gap: .75rem; align-items: center; font-size: .9rem; color: var(--soft); }
.delay output { text-align: right; font-variant-numeric: tabular-nums; }
.over-log { display: flex; justify-content: space-between; align-items: center; }
.log { list-style: none; padding: 0; font-size: .85rem; max-height: 18rem; overflow-y: auto; }
.log li { border-top: 1px solid var(--edge); }
.log details { margin: 0; }
.log summary { display: grid; grid-template-columns: 5.5rem 1fr auto; gap: .5rem; padding: .35rem .1rem; color: var(--ink); }
.log summary code { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; color: var(--soft); }
.log pre {
  margin: 0 0 .5rem; padding: .5rem .7rem; background: var(--quote); border-radius: 6px; white-space: pre-wrap;
  overflow-wrap: anywhere; font-size: .95em;
}
@media (max-width: 34rem) { .phone { padding: 1rem .8rem; } .dialler { grid-template-columns: 1fr 1fr; } .dialler button { grid-column: 1 / -1; } }
`;
