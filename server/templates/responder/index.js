// A responder: what answers the chats of the agent service. This one counts what was said; yours asks a model or another system.

/** @type {import('twinline/agent').Responder} */
export const counter = {
  name: 'counter',
  // The same turn, taken again by another process after a crash, gives the same parts.
  isResumable: true,
  async *respond({ request, history, signal }) {
    const said = await history();
    // Nobody reads any more.
    if (signal.aborted) return;
    yield { type: 'text', text: `You said: ${request.message}` };
    yield { type: 'text', text: `\nMessages before: ${said.length}` };
  },
};
