// Thousands of callers who press whatever they like: every answer is a screen that fits, and memory stays flat.

import { pathToFileURL } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { fits } from '../../../lib/flow/run/render.ts';
import { builtFile } from '../../support/build.ts';
import { hangUpAll, postUssd } from '../../support/phone.ts';
import { type RunningServer, startProcess, withFolder } from '../../support/process.ts';
import { numbersFrom } from '../../support/random.ts';
import { chooseSize, isShort } from '../../support/size.ts';
import { until } from '../../support/until.ts';

const test = suite('random walks');

const WALKS = chooseSize({ short: 200, day: 1_000, whole: 2_000 });
const FLOWS = isShort ? ['main'] : ['main', 'wallet', 'assistant'];
const AT_ONCE = 48;
const TURNS_MAX = 9;
const WARM = WALKS / 4;
// A server that lives long must live with little heap: what is kept for each caller would fill it.
const HEAP_MIB = 96;
// From the first quarter to the end. Below 1 MiB on Node 20 and 24; a KiB and a half kept for each caller is 2.2.
const HELD_MAX_BYTES = 2.2 * 1_048_576;
// V8 of Node 24 keeps up to 90 MiB of pages for later, besides what it calls its heap.
const NATIVE_MAX_BYTES = 192 * 1_048_576;
// Memory beside the heap goes back to the system when it is freed; else buffers for the hashing of PINs look as if they were held.
const ALLOCATOR = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '131072',
};

const KEYS = [
  ...['1', '2', '3', '4', '5', '0', '00', '98', '*', '', '1234', '83519', 'Tariro', 'José', 'ж', '*1', '007', '#'],
  '😀',
];

async function walk(url: string, name: string, random: () => number): Promise<void> {
  let text = '';
  for (let turn = 0; ; turn++) {
    const answer = await postUssd(url, { sessionId: name, serviceCode: '*2233#', phoneNumber: phoneOf(name), text });
    const where = `${name}, turn ${turn}: ${answer.status} ${answer.text}`;
    assert.is(answer.status, 200, where);
    assert.match(answer.text, /^(CON|END) ./, where);
    assert.ok(fits(answer.text.slice(4)), `too long: ${where}`);
    if (answer.text.startsWith('END ') || turn === TURNS_MAX) return;
    const typed = KEYS[Math.floor(random() * KEYS.length)]!;
    text = turn === 0 ? typed : `${text}*${typed}`;
    if (text === '') text = '1';
  }
}

const phoneOf = (name: string) => `+26097${(Number(name.split('-')[1]) + 1_000_000) % 10_000_000}`;

interface Held {
  /** Bytes of objects and their buffers, and what the process has besides its heap. */
  readonly held: number;
  readonly native: number;
}

/** What the server holds when nobody asks it for anything. */
async function heldBy({ pid, printed }: RunningServer): Promise<Held> {
  const before = printed().length;
  process.kill(pid, 'SIGUSR2');
  const [, held, native] = await until('the server has said what it holds', () =>
    /^held (\d+) native (-?\d+)$/m.exec(printed().slice(before)),
  );
  return { held: Number(held), native: Number(native) };
}

for (const flow of FLOWS)
  test(`${WALKS} random walks through ${flow}: every answer begins with CON or END and fits its screen`, () =>
    withFolder(async (folder) => {
      const options = `--max-old-space-size=${HEAP_MIB} --import ${pathToFileURL(await builtFile('test/support/memory-report.ts'))}`;
      const server = await startProcess({
        DATA_DIR: folder,
        USSD_FLOW: flow,
        LOG_LEVEL: 'error',
        NODE_OPTIONS: options,
        ...ALLOCATOR,
      });
      try {
        let next = 0;
        const walkUntil = async (end: number) => {
          const walker = async (seed: number) => {
            const random = numbersFrom(seed);
            while (next < end) await walk(server.url, `walk-${next++}`, random);
          };
          await Promise.all(Array.from({ length: AT_ONCE }, (_, at) => walker(at + 1)));
          return isShort ? undefined : heldBy(server);
        };
        const warm = await walkUntil(WARM);
        const end = await walkUntil(WALKS);
        // A few callers leave too little for a measurement.
        if (!warm || !end) return;
        const [held, native] = [end.held - warm.held, end.native - warm.native];
        assert.ok(held < HELD_MAX_BYTES, `objects grew by ${held} bytes`);
        assert.ok(native < NATIVE_MAX_BYTES, `memory beside the heap grew by ${native} bytes`);
      } finally {
        hangUpAll();
        await server.kill();
      }
    }));

test.run();
