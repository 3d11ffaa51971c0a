// What every telecom adapter promises, as checks for any test runner.

import type { Adapter } from '../ussd/adapter.ts';
import { INVALID_INPUT } from '../ussd/reply.ts';
import * as assert from './assert.ts';
import { type Check, type SuiteOptions, skipChecks } from './checks.ts';
import { withFastCheck } from './random.ts';
import { type AdapterSamples, isRefusal, isRouted, mutateRequest, rawRequest } from './recorded.ts';

const PIN = '90817263';

/**
 * The checks of a telecom adapter against a dialogue that was recorded from its gateway. Those with random texts and requests need the
 * package `fast-check`; `seed` and `path` make those of a failure again.
 * @example
 * const { hubtel } = createAdapters('cumulative');
 * const dialogue = { source: 'the documentation of Hubtel', turns: [], refused: [] };
 * const checks = adapterChecks(hubtel, { dialogue, client: TELECOM_DIALECTS.hubtel.read });
 * checks.length > 0; // → true
 */
export function adapterChecks(
  adapter: Adapter,
  { dialogue, client }: AdapterSamples,
  options: SuiteOptions = {},
): Check[] {
  const turns = dialogue.turns.filter((turn) => turn.read.event === 'turn');
  const checks: Readonly<Record<string, () => void | Promise<void>>> = {
    'reads every recorded request as expected': () => {
      assert.ok(turns.length > 0, 'The dialogue has no turn.');
      for (const { what, request, read } of dialogue.turns) {
        assert.ok(isRouted(adapter, request), `${what}: no route takes ${request.method} ${request.path}`);
        assert.equal(adapter.read(rawRequest(request)), read, what);
      }
    },
    'writes every recorded answer to the byte': () => {
      for (const { what, read, reply, answer } of dialogue.turns)
        assert.equal(adapter.write(reply, read), answer, what);
    },
    'refuses with an answer that is valid in its dialect and shows the text': () => {
      for (const { what, request, answer } of dialogue.refused) {
        assert.throws(() => adapter.read(rawRequest(request)), isRefusal, what);
        assert.equal(adapter.refuse(INVALID_INPUT, rawRequest(request)), answer, what);
        assert.equal(client(answer), INVALID_INPUT, what);
      }
    },
    'any text comes back whole from the answer, whatever is in it': async () => {
      const { writeAnyText } = await withFastCheck(() => import('./adapter-random.ts'));
      writeAnyText(adapter, { dialogue: { ...dialogue, turns }, client }, options);
    },
    'whatever is sent is read into a sound request or refused as ERR_INPUT': async () => {
      const { readAnything } = await withFastCheck(() => import('./adapter-random.ts'));
      readAnything(adapter, { dialogue, client }, options);
    },
    'a refusal never says what the caller typed': () => {
      for (const turn of dialogue.turns)
        for (const request of mutateRequest(turn.request, `1*${PIN}${'9'.repeat(200)}`)) {
          const words = readRefusal(() => adapter.read(rawRequest(request)));
          assert.ok(!words.includes(PIN), 'An error quotes what was typed.');
        }
    },
  };
  const list = Object.entries(checks).map(([name, check]): Check => ({ name, run: async () => check() }));
  return skipChecks(list, options);
}

function readRefusal(read: () => unknown): string {
  try {
    read();
    return '';
  } catch (error) {
    return `${(error as Error).stack} ${String((error as Error).cause)}`;
  }
}
