// Ten thousand callers and more who press whatever they like: every answer is a screen that fits, and memory stays flat.

import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { fits } from '../../lib/flow/gsm7.ts';
import { hangUpAll, postUssd } from '../support/phone.ts';
import { startProcess, withFolder } from '../support/process.ts';

const test = suite('random walks', { timeoutMs: 240_000 });

const WALKS = 3_400; // through each of the three flows
const AT_ONCE = 48;
const TURNS_MAX = 9;
// V8 lets garbage lie as long as it has room, so it is given little: what is kept for each caller would fill it.
const HEAP_MIB = 96;
const GROWTH_MAX_KIB = HEAP_MIB * 1024;

const KEYS = [
  '1',
  '2',
  '3',
  '4',
  '5',
  '0',
  '00',
  '98',
  '*',
  '',
  '1234',
  '83519',
  'Tariro',
  'José',
  'ж',
  '*1',
  '007',
  '#',
  '😀',
];

function dice(seed: number) {
  let state = seed;
  return (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state >>> 8) % below;
  };
}

async function walk(url: string, name: string, roll: (below: number) => number): Promise<number> {
  let text = '';
  for (let turn = 0; ; turn++) {
    const answer = await postUssd(url, { sessionId: name, serviceCode: '*2233#', phoneNumber: phoneOf(name), text });
    const where = `${name}, turn ${turn}: ${answer.status} ${answer.text}`;
    assert.is(answer.status, 200, where);
    assert.match(answer.text, /^(CON|END) ./, where);
    assert.ok(fits(answer.text.slice(4)), `too long: ${where}`);
    if (answer.text.startsWith('END ') || turn === TURNS_MAX) return turn + 1;
    const typed = KEYS[roll(KEYS.length)]!;
    text = turn === 0 ? typed : `${text}*${typed}`;
    if (text === '') text = '1';
  }
}

const phoneOf = (name: string) => `+26097${(Number(name.split('-')[1]) + 1_000_000) % 10_000_000}`;

const anonymousKiB = (pid: number) => Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]);

for (const flow of ['main', 'wallet', 'assistant'])
  test(`${WALKS} random walks through ${flow}: every answer begins with CON or END and fits its screen`, () =>
    withFolder(async (folder) => {
      const heap = `--max-old-space-size=${HEAP_MIB}`;
      const server = await startProcess({ DATA_DIR: folder, USSD_FLOW: flow, LOG_LEVEL: 'error', NODE_OPTIONS: heap });
      try {
        let next = 0;
        let warm = 0;
        const walker = async (seed: number) => {
          const roll = dice(seed);
          while (next < WALKS) {
            const at = next++;
            if (at === WALKS / 4) warm = anonymousKiB(server.pid);
            await walk(server.url, `walk-${at}`, roll);
          }
        };
        await Promise.all(Array.from({ length: AT_ONCE }, (_, at) => walker(at + 1)));
        const grown = anonymousKiB(server.pid) - warm;
        assert.ok(grown < GROWTH_MAX_KIB, `memory grew by ${grown} KiB`);
      } finally {
        hangUpAll();
        await server.kill();
      }
    }));

test.run();
