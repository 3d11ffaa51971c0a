// How chats look: the list at the side, the messages beside it, and cards for all that is not text.

export const CHAT_STYLE = `
.chat {
  display: grid; grid-template-columns: 17rem minmax(0, 1fr); padding: 0; overflow: hidden;
  height: calc(100vh - 5.5rem); height: calc(100dvh - 5.5rem); min-height: 26rem;
}
.side { border-right: 1px solid var(--edge); padding: 1rem; display: flex; flex-direction: column; gap: .75rem; min-height: 0; background: var(--quote); }
.sessions { list-style: none; padding: 0; overflow-y: auto; flex: 1; display: grid; gap: 2px; align-content: start; }
.sessions li { display: flex; align-items: center; gap: .25rem; border-radius: 8px; }
.sessions li:hover, .sessions li:has([aria-current]) { background: var(--card); }
.sessions a { flex: 1; min-width: 0; display: grid; padding: .4rem .6rem; color: var(--ink); text-decoration: none; border-left: 3px solid transparent; border-radius: 8px; }
.sessions a[aria-current] { border-color: var(--accent); }
.sessions .name { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.sessions .at { font-size: .8rem; }
.sessions button { font-size: .8rem; padding: .15rem .45rem; margin-right: .4rem; }
.user { font-size: .78rem; color: var(--soft); overflow-wrap: anywhere; margin: 0; }
.thread { display: flex; flex-direction: column; min-height: 0; min-width: 0; }
.thread .title { font-size: 1.1rem; margin: 0; padding: 1rem 1.5rem; border-bottom: 1px solid var(--edge); overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.messages { flex: 1; min-height: 0; overflow-y: auto; padding: 1.25rem 1.5rem; display: flex; flex-direction: column; gap: 1rem; }
.messages:focus-visible { outline-offset: -3px; }
.empty { color: var(--soft); margin: auto; }
.older { align-self: center; }
.message { max-width: min(46rem, 92%); overflow-wrap: anywhere; }
.message.human { align-self: flex-end; background: var(--accent); color: var(--card); border-radius: 16px 16px 4px 16px; padding: .55rem .95rem; white-space: pre-wrap; }
.message.ai { align-self: flex-start; width: 100%; display: grid; gap: .6rem; }
.message .text { white-space: pre-wrap; }
.message .text:empty, .events:empty, .notes:empty { display: none; }
.message .text p { margin: 0 0 .5rem; }
.message .text p:empty { display: none; }
.message[aria-busy] .text::after { content: '▍'; color: var(--accent); animation: blink 1.2s steps(2) infinite; }
@keyframes blink { 50% { opacity: 0; } }
@media (prefers-reduced-motion: reduce) { .message[aria-busy] .text::after { animation: none; } }
.choices { display: flex; flex-direction: column; align-items: flex-start; gap: .35rem; margin: .25rem 0 .5rem; }
.choices button { display: flex; gap: .7rem; align-items: baseline; text-align: left; padding: .35rem .8rem .35rem .5rem; max-width: 100%; white-space: normal; }
.choices button:disabled { opacity: 1; color: var(--soft); border-color: transparent; padding-top: .05rem; padding-bottom: .05rem; background: none; }
kbd { font: inherit; font-weight: 650; min-width: 1.6rem; text-align: center; background: var(--track); border-radius: 5px; padding: 0 .35rem; color: var(--ink); }
.reasoning { margin: 0; color: var(--soft); font-size: .92rem; }
.reasoning p { white-space: pre-wrap; border-left: 3px solid var(--edge); padding-left: .75rem; margin: .35rem 0; }
.events { display: grid; gap: .5rem; }
.event { border: 1px solid var(--edge); border-left: 4px solid var(--abstain); border-radius: 10px; padding: .6rem .85rem; background: var(--quote); font-size: .92rem; display: grid; gap: .4rem; }
.event.isRunning { border-left-color: var(--wait); }
.event.done { border-left-color: var(--yes); }
.event.error { border-left-color: var(--no); }
.event header { display: flex; flex-wrap: wrap; gap: .6rem; align-items: baseline; }
.event .kind { color: var(--soft); }
.event .status { margin-left: auto; color: var(--soft); }
.event details, .event p { margin: 0; }
.facts { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .15rem 1rem; margin: 0; }
.facts dt { color: var(--soft); }
.facts dd { margin: 0; min-width: 0; }
.value { white-space: pre-wrap; }
.notes p { margin: 0; }
.fault, .trouble { color: var(--no); }
.ending, .step { color: var(--soft); }
.trouble { margin: 0; padding: .5rem 1.5rem; }
.state { margin: 0; padding: 0 1.5rem; min-height: 1.6rem; font-size: .88rem; color: var(--soft); }
.composer { display: flex; gap: .6rem; align-items: end; padding: .5rem 1.5rem 1.25rem; }
.composer textarea { flex: 1; resize: none; field-sizing: content; min-height: 2.5rem; max-height: 10rem; padding: .5rem .8rem; }
.composer button { min-height: 2.5rem; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
@media (max-width: 48rem) {
  .chat { grid-template-columns: minmax(0, 1fr); grid-template-rows: auto minmax(0, 1fr); padding: 0; }
  .side { border-right: 0; border-bottom: 1px solid var(--edge); padding: .75rem; }
  .sessions { max-height: 7.5rem; }
  .user { display: none; }
  .thread .title, .messages, .composer, .state, .trouble { padding-left: 1rem; padding-right: 1rem; }
  .thread .title { padding-top: .6rem; padding-bottom: .6rem; }
}
`;
