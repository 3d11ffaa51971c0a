// Every dialect against the contract of adapters, each with its recorded dialogue and a client that reads its answers.
import { readFileSync } from 'node:fs';
import type { RawReply, UssdReply } from '../../lib/ussd/adapter.ts';
import { type AdapterName, createAdapters } from '../../lib/ussd/adapters.ts';
import { adapterContract, type Client, type Dialogue } from '../contract/adapter.ts';

const CLIENTS: Record<AdapterName, Client> = {
  africastalking: ({ body }) => reply(body.startsWith('CON '), body.replace(/^(CON|END) /, '')),
  hubtel: (answer) => {
    const { Type, Message } = fields(answer);
    return reply(Type === 'Response', Message);
  },
  nalo: (answer) => {
    const { MSGTYPE, MSG } = fields(answer);
    return reply(MSGTYPE === true, MSG);
  },
  arkesel: (answer) => {
    const { continueSession, message } = fields(answer);
    return reply(continueSession === true, message);
  },
  infobip: (answer) => {
    const { shouldClose, ussdMenu } = fields(answer);
    return reply(shouldClose === false, ussdMenu);
  },
  comviva: ({ body, headers }) => reply(headers?.Freeflow === 'FC', body),
};

function reply(goesOn: boolean, text: unknown): UssdReply {
  return { kind: goesOn ? 'continue' : 'end', text: String(text) };
}

function fields(answer: RawReply): Record<string, unknown> {
  return JSON.parse(Buffer.from(answer.body).toString('utf8'));
}

function dialogueOf(name: string): Dialogue {
  return JSON.parse(readFileSync(new URL(`../conversations/adapters/${name}.json`, import.meta.url), 'utf8'));
}

for (const [name, adapter] of Object.entries(createAdapters('cumulative'))) {
  adapterContract(adapter, { dialogue: dialogueOf(name), client: CLIENTS[name as AdapterName] });
}
