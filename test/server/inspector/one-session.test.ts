// One session among many: found by its name wherever it stands, or it is said that not all were looked at.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Engine } from '../../../lib/engine/engine.ts';
import { compileFlow } from '../../../lib/flow/run/compile.ts';
import { shortMac } from '../../../lib/keyring.ts';
import type { SnapshotStore } from '../../../lib/store/store.ts';
import type { AuditEvent } from '../../../server/audit/audit.ts';
import { Refusal } from '../../../server/http/errors.ts';
import { endCall, type SessionOptions, showPrivate } from '../../../server/web/inspector/one-session.ts';
import { begin, KEY, place, say, textOf } from '../../engine/support.ts';

const test = suite('one session');

const flow = compileFlow({
  flow: 'main',
  version: 1,
  start: 'nrc',
  vars: { nrc: { type: 'string', max: 20, private: true } },
  screens: {
    nrc: { type: 'input', text: 'NRC?', save: 'nrc', to: 'sure' },
    sure: { type: 'menu', text: 'Is it {{nrc}}?', options: [{ id: 'yes', text: 'Yes', to: 'bye' }] },
    bye: { type: 'end', text: 'Thank you' },
  },
});
const PAGE = 1_000;
const AT = 'ussd:africastalking:last';
const secret = Buffer.alloc(32, 5);
const request = { actor: shortMac(secret, [AT]), by: 'token abc' };

/** A session that comes last of so many; the pages of keys that were read. */
async function lastOf(count: number) {
  const here = place(flow);
  const pages: number[] = [];
  const others = Array.from({ length: count - 1 }, (_, at) => `ussd:africastalking:${String(at).padStart(7, '0')}`);
  const keys = [...others, AT];
  const store: SnapshotStore = Object.assign(Object.create(here.store) as SnapshotStore, {
    load: (key: string) => here.store.load(key === AT ? KEY : key),
    commit: (key: string, ...rest: [number, never]) => here.store.commit(key === AT ? KEY : key, ...rest),
    list: async ({ cursor = '0' }: { cursor?: string } = {}) => {
      pages.push(Number(cursor));
      const next = Number(cursor) + PAGE;
      return { keys: keys.slice(Number(cursor), next), ...(next < count && { next: String(next) }) };
    },
  });
  const engine: Engine = here.engine({ store });
  await textOf(begin(here.engine()));
  await textOf(say(here.engine(), '884213'));
  const rows: AuditEvent[] = [];
  const audit = { append: async (event: AuditEvent) => void rows.push(event) } as unknown as SessionOptions['audit'];
  return { options: { engine, audit, secret }, rows, pages };
}

test('the last of 25,000 sessions is found, and may be ended', async () => {
  const { options, rows, pages } = await lastOf(25_000);
  assert.equal(await showPrivate(options, request), { nrc: '884213' });
  assert.is(pages.length, 25);
  assert.is(await endCall(options, request), true);
  assert.equal(
    rows.map(({ action, by }) => [action, by]),
    [
      ['session.private', request.by],
      ['session.ended', request.by],
    ],
  );
});

test('one that is not there is undefined; where not all were looked at, the refusal says so', async () => {
  const { options, rows } = await lastOf(2_500);
  const nobody = { ...request, actor: 'nobody' };
  assert.is(await showPrivate(options, nobody), undefined);
  assert.is(await endCall({ ...options, most: 3_000 }, nobody), false);
  for (const act of [showPrivate, endCall]) {
    const refused = await act({ ...options, most: 2_000 }, request).catch((error: unknown) => error);
    assert.instance(refused, Refusal);
    assert.is((refused as Refusal).kind, 'not-found');
    assert.is(
      (refused as Refusal).message,
      'It is not among the 2000 living sessions that were looked at; there are more',
    );
  }
  assert.equal(rows, []);
});

test.run();
