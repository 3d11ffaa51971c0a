// What `error` holds on the `fail` ways of a call: the codes that are listed come, each for the reason that is given.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { COMMON_LIMITS } from '../../lib/common-limits.ts';
import { CALL_ERRORS } from '../../lib/engine/calls.ts';
import type { Services } from '../../lib/engine/service.ts';
import { ERROR_CODES, type ErrorCode } from '../../lib/errors.ts';
import { FAILURE_FIELDS } from '../../lib/flow/lint/shapes.ts';
import { flowOf, phone } from './phone.ts';

const test = suite('errors of calls');

const flow = flowOf(
  {
    ask: {
      type: 'call',
      service: 'own.ask',
      timeout: '1s',
      save: 'answer',
      // Only an answer that cannot be computed with is not taken: model.test.ts has the others.
      done: [{ set: { sum: '=answer.price + 1' }, to: 'done' }],
      fail: [{ set: { code: '=error.code', message: '=error.message', all: '=error' }, to: 'failed' }],
    },
    done: { type: 'end', text: '{{sum}}' },
    failed: { type: 'menu', text: '{{code}}: {{message}}', options: [{ id: 'bye', text: 'Bye', to: 'done' }] },
  },
  {
    vars: {
      answer: { type: 'object' },
      sum: { type: 'number' },
      code: { type: 'string' },
      message: { type: 'string' },
      all: { type: 'object' },
    },
  },
);

const CASES: { readonly [code in ErrorCode]?: Services } = {
  ERR_TIMEOUT: { 'own.ask': () => new Promise(() => {}) },
  ERR_SERVICE: {
    'own.ask': async () => {
      throw new Error('the database of secrets is away');
    },
  },
  ERR_SERVICE_UNKNOWN: {},
  ERR_INPUT: { 'own.ask': async () => 'x'.repeat(COMMON_LIMITS.recordChars) },
  ERR_EXPRESSION: { 'own.ask': async () => ({ price: 'a text' }) },
};

test('every code that any call may fail with comes for its reason, with a message', async () => {
  assert.equal(Object.keys(CALL_ERRORS).sort(), Object.keys(CASES).sort());
  for (const [code, services] of Object.entries(CASES)) {
    const caller = phone(flow, { services });
    assert.ok((await caller.dial()).startsWith(`${code}: `), code);
    assert.not.match(JSON.stringify(caller.context), 'secrets');
    assert.equal(Object.keys(caller.context.all as object).sort(), Object.keys(FAILURE_FIELDS).sort());
    assert.ok(Object.hasOwn(ERROR_CODES, code));
  }
});

test.run();
