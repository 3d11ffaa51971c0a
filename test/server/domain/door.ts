// The door of the domain service without a server: requests are handed to it, and nothing goes on behind it. On its clock time passes
// when a test says so.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Clock, SimulatedClock } from '../../../lib/clock.ts';
import { parseOracleKey } from '../../../lib/delegation/oracle-key.ts';
import { memoryDocuments } from '../../../lib/store/memory/index.ts';
import type { DocumentStore } from '../../../lib/store/store.ts';
import { readConfig } from '../../../server/config/config.ts';
import { type DomainService, openDomain } from '../../../server/domain/open.ts';
import { createLog } from '../../../server/telemetry/log.ts';
import { memoryAudit } from '../support/audit.ts';
import { askMiddleware } from '../support/middleware.ts';
import { asker, type Body, created, files, PROTOCOL, RULES, type Words, words } from './place.ts';

export interface DoorPlace extends Words {
  /** The numbers of the service for operators, as text. */
  readonly metrics: () => string;
}

export interface OpenedDoor extends Words {
  readonly metrics: () => string;
  close(): Promise<void>;
}

export interface DoorOptions {
  readonly rules?: Body;
  readonly clock?: Clock;
  /** @default a new one in memory */
  readonly documents?: DocumentStore;
  /** Faults of ours are expected. @default false */
  readonly mayFail?: boolean;
}

/** Opens a door on a store. `close` fails when something went wrong that is our fault. */
export async function openDoor(options: DoorOptions = {}): Promise<OpenedDoor> {
  const { rules = RULES, clock = new SimulatedClock(), documents = memoryDocuments({ clock }), mayFail } = options;
  const folder = mkdtempSync(join(tmpdir(), 'twinline-door-'));
  const { API_KEYS_FILE, GOVERNANCE_FILE } = files(folder, rules);
  const { config } = readConfig({ PORT: '0' }, { makeKeys: true });
  const faults: unknown[] = [];
  const domain: DomainService = await openDomain({
    clock,
    documents,
    apiKeysFile: API_KEYS_FILE,
    governanceFile: GOVERNANCE_FILE,
    oracleKeys: [parseOracleKey(config!.oracleKey)],
    publicUrl: 'https://door.example',
    keyring: config!.keyring,
    production: false,
    audit: await memoryAudit(clock),
    log: createLog({ logLevel: mayFail ? 'fatal' : 'error' }),
    onProblem: () => faults.push('a problem'),
  });
  return {
    ...words(asker(() => (path, how) => askMiddleware(domain.door, path, how))),
    metrics: () => domain.metrics().join('\n'),
    async close() {
      domain.drain();
      await domain.close();
      rmSync(folder, { recursive: true, force: true });
      if (!mayFail) assert.equal(faults, []);
    },
  };
}

/** One door for all tests of a suite, with the cooking protocol. */
export function door<C extends Clock = SimulatedClock>(
  test: Pick<Test, 'before' | 'after'>,
  { clock = new SimulatedClock() as Clock as C, ...options }: DoorOptions & { readonly clock?: C } = {},
): DoorPlace & { readonly clock: C } {
  let opened: OpenedDoor;
  test.before(async () => {
    opened = await openDoor({ ...options, clock });
    for (const who of ['owner', 'stranger'] as const) created(await opened.ask(who, 'POST /v1/protocols', PROTOCOL));
  });
  test.after(() => opened.close());
  return { ...words((...line) => opened.ask(...line)), clock, metrics: () => opened.metrics() };
}
