// Lines of the log for people: in a terminal, and nowhere else.

import { stripVTControlCharacters } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readableLine } from '../../../server/health/readable.ts';

const test = suite('readable log');

const show = (line: object) =>
  stripVTControlCharacters(readableLine(JSON.stringify({ time: 0, ...line }))).replace(/^\d\d:\d\d:\d\d /, '');

test('a line says how bad it is, what it is, and the fields behind it', () => {
  assert.is(
    show({
      level: 50,
      msg: 'a store is away',
      store: 'redis',
      err: { name: 'TwinlineError', code: 'ERR_STORE', message: 'no answer' },
    }),
    '✘ a store is away store=redis err=TwinlineError ERR_STORE no answer\n',
  );
  assert.is(show({ level: 40, msg: 'menus/main.flow.json:37:13 error' }), '! menus/main.flow.json:37:13 error\n');
  assert.is(
    show({ level: 30, method: 'POST', route: '/api/ussd', status: 200, ms: 3, requestId: 'x' }),
    '· POST /api/ussd 200 3 ms\n',
  );
  assert.is(
    show({ level: 30, turn: 'main@1', caller: 'x', from: null, to: 'home', outcome: 'continue', ms: 3 }),
    '· main@1 dial → home 3 ms\n',
  );
  assert.is(
    show({ level: 30, turn: 'main@1', caller: 'x', from: 'home', to: 'bye', outcome: 'end', ms: 3 }),
    '· main@1 home → bye, end 3 ms\n',
  );
  assert.is(show({ level: 20, msg: 'small', list: [1] }), '  small list=[1]\n');
});

test('a difference keeps its lines, and what is no JSON stays as it is', () => {
  assert.is(
    show({ level: 40, msg: 'the text differs:\n    - Hill Water\n    + Hill Water Co' }),
    '! the text differs:\n    - Hill Water\n    + Hill Water Co\n',
  );
  assert.is(readableLine('Write error: x\n'), 'Write error: x\n');
});

test.run();
