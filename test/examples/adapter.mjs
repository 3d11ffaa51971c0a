// A telecom dialect of your own: a server speaks it beside the six that are shipped, at /api/ussd/zed, and a gateway of it dials.

import { requireConfig, startServer } from 'twinline/server';
import { telecomGateway } from 'twinline/testing';
import { jsonReply, readFields, readMsisdn, readServiceCode, readSessionId, readText } from 'twinline/ussd';

const answer = ({ kind, text }) => jsonReply({ show: text, more: kind === 'continue' });

/** @type {import('twinline/ussd').Adapter} */
const zed = {
  name: 'zed',
  routes: [{ method: 'POST', path: '/talk/:id', about: { summary: 'Zed Mobile' } }],
  read({ body, path }) {
    const { caller, code, typed } = readFields(body);
    return {
      sessionId: readSessionId(path[1]),
      serviceCode: code === undefined ? '' : readServiceCode(code, 'code'),
      phoneNumber: readMsisdn(caller, 'caller'),
      text: typed === undefined ? '' : readText(typed, 'typed'),
      event: 'turn',
      mode: 'latest',
      fresh: code !== undefined,
    };
  },
  write: answer,
  refuse: answer,
};

/**
 * How Zed's own gateway speaks.
 * @type {import('twinline/testing').TelecomDialect}
 */
const dialect = {
  name: 'zed',
  ask({ kind, sessionId, phoneNumber, serviceCode, text }) {
    if (kind === 'end') return undefined;
    const body = new URLSearchParams({ caller: phoneNumber.slice(1) });
    if (kind === 'dial') body.set('code', serviceCode);
    else body.set('typed', text);
    return { method: 'POST', path: `/talk/${sessionId}`, body: String(body) };
  },
  read({ body }) {
    const { show, more } = JSON.parse(body);
    return { kind: more ? 'continue' : 'end', text: show };
  },
};

const config = requireConfig({ PORT: '0', DATA_DIR: ':memory:', LOG_LEVEL: 'silent' });
const server = await startServer(config, { adapters: [zed] });
const caller = telecomGateway(dialect, { url: server.url }).caller({ phoneNumber: '+260971230001' });
const show = ({ kind, text }) => console.log(`${kind}: ${text.split('\n')[0]}`);
show(await caller.dial());
show(await caller.type('1'));
await server.close({ drainDelayMs: 0 });

// Prints:
//   continue: Welcome to Twinline
//   continue: Know more
