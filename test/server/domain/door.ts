// The door of the domain service alone, on a clock that stands still: nothing goes on behind it, and time passes when a test says so.

import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Koa from 'koa';
import type { Test } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../../lib/clock.ts';
import { parseOracleKey } from '../../../lib/delegation/oracle-key.ts';
import { memoryDocuments } from '../../../lib/store/memory/index.ts';
import type { DocumentStore } from '../../../lib/store/store.ts';
import { readConfig } from '../../../server/config/config.ts';
import { type DomainService, openDomain } from '../../../server/domain/open.ts';
import { createLog } from '../../../server/telemetry/log.ts';
import { memoryAudit } from '../support/audit.ts';
import { ask as askUrl } from '../support/serve.ts';
import { asker, type Body, created, files, PROTOCOL, RULES, type Words, words } from './place.ts';

export interface DoorPlace extends Words {
  readonly clock: SimulatedClock;
  /** The numbers of the service for operators, as text. */
  readonly metrics: () => string;
}

/** One door for all tests of a suite, with the cooking protocol; `watch` may put something before the store. */
export function door(
  test: Pick<Test, 'before' | 'after'>,
  {
    rules = RULES,
    watch = (documents) => documents,
  }: { rules?: Body; watch?: (of: DocumentStore) => DocumentStore } = {},
): DoorPlace {
  const folder = mkdtempSync(join(tmpdir(), 'twinline-door-'));
  const clock = new SimulatedClock();
  const faults: unknown[] = [];
  let domain: DomainService;
  let server: Server;
  let base = '';
  const made = words(asker(() => (way, how) => askUrl(base + way, how)));
  test.before(async () => {
    const { API_KEYS_FILE, GOVERNANCE_FILE } = files(folder, rules);
    const { config } = readConfig({ PORT: '0' }, { makeKeys: true });
    domain = await openDomain({
      clock,
      documents: watch(memoryDocuments({ clock })),
      apiKeysFile: API_KEYS_FILE,
      governanceFile: GOVERNANCE_FILE,
      oracleKeys: [parseOracleKey(config!.oracleKey)],
      publicUrl: undefined,
      keyring: config!.keyring,
      production: false,
      audit: await memoryAudit(clock),
      log: createLog({ logLevel: 'error' }),
      onProblem: () => faults.push('a problem'),
    });
    const app = new Koa().use(domain.door);
    app.on('error', (error) => faults.push(error));
    server = createServer(app.callback());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    created(await made.ask('owner', 'POST /v1/protocols', PROTOCOL));
  });
  test.after(async () => {
    domain.drain();
    await new Promise((resolve) => server.close(resolve));
    await domain.close();
    rmSync(folder, { recursive: true, force: true });
    assert.equal(faults, []);
  });
  return { ...made, clock, metrics: () => domain.metrics().join('\n') };
}
