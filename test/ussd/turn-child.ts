// Turns of the USSD service in a process whose young memory is so large that nothing is collected while it counts: prints the
// bytes that a turn allocates, the promises that it makes, and what it asks of its store.

import { createHook } from 'node:async_hooks';
import { createEngine } from '../../lib/engine/engine.ts';
import { compileFlow } from '../../lib/flow/run/compile.ts';
import { parseKeyring } from '../../lib/keyring.ts';
import { memorySnapshots } from '../../lib/store/memory/index.ts';
import type { SnapshotStore } from '../../lib/store/store.ts';
import { createAdapters } from '../../lib/ussd/adapters.ts';
import { ussdService } from '../../lib/ussd/service.ts';
import { menuFlow } from '../bench/flows.ts';

const WARM_UP = 8_000;
const TURNS = 1_000;
const ROUNDS = 3;
const DIALOGUE = ['', '1', '1*2', '1*2*3', '1*2*3*4', '1*2*3*4*5', '1*2*3*4*5*1', '1*2*3*4*5*1*2'];

const asked = { loads: 0, commits: 0 };
const store = counted(memorySnapshots());
const keyring = parseKeyring('00112233445566778899aabbccddeeff0123456789abcdef0123456789abcdef');
const engine = createEngine({ store, keyring, conversations: [compileFlow(menuFlow(20))], ttlSeconds: 600 });
const service = ussdService({ engine, flow: 'menu20', keyring });
const adapter = createAdapters('cumulative').africastalking;

const JSON_HEADERS = { 'content-type': 'application/json' };
let number = 0;
await turns(WARM_UP);
const bytes: number[] = [];
for (let round = 0; round < ROUNDS; round++) {
  globalThis.gc!();
  const before = process.memoryUsage().heapUsed;
  await turns(TURNS);
  bytes.push((process.memoryUsage().heapUsed - before) / TURNS);
}
const middle = bytes.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)]!;

let promises = 0;
const hook = createHook({
  init: (_id, type) => {
    if (type === 'PROMISE') promises++;
  },
});
Object.assign(asked, { loads: 0, commits: 0 });
hook.enable();
await turns(TURNS);
hook.disable();
console.log(
  JSON.stringify({
    bytes: middle,
    promises: promises / TURNS,
    loads: asked.loads / TURNS,
    commits: asked.commits / TURNS,
  }),
);
process.exit(0);

async function turns(count: number): Promise<void> {
  for (let left = count; left > 0; left--) {
    const at = number++;
    const dial = Math.floor(at / DIALOGUE.length);
    const phoneNumber = `+2609${10_000_000 + dial}`;
    const body = JSON.stringify({
      sessionId: `s-${dial}`,
      serviceCode: '*2233#',
      phoneNumber,
      text: DIALOGUE[at % DIALOGUE.length],
    });
    const request = adapter.read({
      method: 'POST',
      path: [],
      query: new URLSearchParams(),
      headers: JSON_HEADERS,
      body,
    });
    const reply = await service.turn(request, adapter.name, { requestId: 'counted' });
    if (reply.kind !== 'continue') throw new Error(`unexpected answer: ${reply.text}`);
  }
}

function counted(inner: SnapshotStore): SnapshotStore {
  return {
    ...inner,
    load: (key) => {
      asked.loads++;
      return inner.load(key);
    },
    commit: (...given) => {
      asked.commits++;
      return inner.commit(...given);
    },
  };
}
