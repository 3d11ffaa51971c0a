// The gateway's side: a dialogue as it was recorded, and how its requests are made and its answers read.

/** @type {import('twinline/testing').TelecomDialect} */
export const dialect = {
  name: 'zed',
  ask({ kind, sessionId, phoneNumber, serviceCode, text }) {
    const body = new URLSearchParams({ caller: phoneNumber.slice(1) });
    if (kind === 'dial') body.set('code', serviceCode);
    else if (kind === 'end') body.set('over', '1');
    else body.set('typed', text);
    return { method: 'POST', path: `/sessions/${sessionId}`, body: String(body) };
  },
  read({ body }) {
    const { show, more } = JSON.parse(body);
    return { kind: more ? 'continue' : 'end', text: show };
  },
};

const answer = (/** @type {object} */ value) => ({
  status: 200,
  type: 'application/json; charset=utf-8',
  body: JSON.stringify(value),
});
const request = (/** @type {string} */ body) => ({ method: 'POST', path: '/sessions/z1', body });
const read = /** @type {const} */ ({ sessionId: 'z1', phoneNumber: '+260971230001', mode: 'latest' });

/** @type {import('twinline/testing').RecordedDialogue} */
export const dialogue = {
  source: 'Zed Mobile, USSD gateway 2.1, recorded in its sandbox',
  turns: [
    {
      what: 'the dial',
      request: request('caller=260971230001&code=*77%23'),
      read: { ...read, serviceCode: '*77#', text: '', event: 'turn', fresh: true },
      reply: { kind: 'continue', text: 'Welcome\n1. Balance' },
      answer: answer({ show: 'Welcome\n1. Balance', more: true }),
    },
    {
      what: 'an answer',
      request: request('caller=260971230001&typed=1'),
      read: { ...read, serviceCode: '', text: '1', event: 'turn', fresh: false },
      reply: { kind: 'end', text: 'K 12.50' },
      answer: answer({ show: 'K 12.50', more: false }),
    },
    {
      what: 'the caller has hung up',
      request: request('caller=260971230001&over=1'),
      read: { ...read, serviceCode: '', text: '', event: 'end', fresh: false },
      reply: { kind: 'end', text: '' },
      answer: answer({ show: '', more: false }),
    },
  ],
  refused: [
    {
      what: 'no number of a phone',
      request: request('caller=12&code=*77%23'),
      answer: answer({ show: 'Invalid input. Please try again.', more: false }),
    },
  ],
};
