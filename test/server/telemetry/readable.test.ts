// Lines of the log for people: in a terminal, and nowhere else.

import { stripVTControlCharacters } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readableLine } from '../../../server/telemetry/log.ts';

const test = suite('readable log');

const show = (line: object) =>
  stripVTControlCharacters(readableLine(JSON.stringify({ time: 0, ...line }))).replace(/^\d\d:\d\d:\d\d /, '');

const TURN = { level: 30, turn: 'main@1', caller: 'x', ms: 3 };
const ERR = { name: 'TwinlineError', code: 'ERR_STORE', message: 'no answer' };
const LINES: readonly (readonly [line: object, shown: string])[] = [
  [
    { level: 50, msg: 'a store is away', store: 'redis', err: ERR },
    '✘ a store is away store=redis err=TwinlineError ERR_STORE no answer',
  ],
  [{ level: 40, msg: 'menus/main.flow.json:37:13 error' }, '! menus/main.flow.json:37:13 error'],
  [{ level: 40, msg: 'it differs:\n    - Hill\n    + Hill Co' }, '! it differs:\n    - Hill\n    + Hill Co'],
  [{ level: 30, method: 'POST', route: '/api/ussd', status: 200, ms: 3, requestId: 'x' }, '· POST /api/ussd 200 3 ms'],
  [{ ...TURN, from: null, to: 'home', outcome: 'continue' }, '· main@1 dial → home 3 ms'],
  [{ ...TURN, from: 'home', to: 'bye', outcome: 'end' }, '· main@1 home → bye, end 3 ms'],
  [{ level: 20, msg: 'small', list: [1] }, '  small list=[1]'],
];

test('a line says how bad it is, what it is, and the fields behind it; what is no JSON stays as it is', () => {
  for (const [line, shown] of LINES) assert.is(show(line), `${shown}\n`);
  assert.is(readableLine('Write error: x\n'), 'Write error: x\n');
});

test.run();
