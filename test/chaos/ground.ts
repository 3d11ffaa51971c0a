// Where scenarios take place: a Redis, a ledger, three instances, menus, and how every dialogue goes without faults.

import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { files } from '../server/domain/place.ts';
import { randomFrom } from '../simulation/random.ts';
import type { MongoServer } from '../support/mongo-server.ts';
import { type Dialogue, type DialogueName, rehearse } from './dialogues.ts';
import { type Fleet, startFleet } from './fleet.ts';
import { createGateway } from './gateway.ts';
import { type Ledger, startLedger } from './ledger.ts';
import { FRONT, writeMenus } from './menus.ts';
import { type Officials, startOfficials } from './officials.ts';
import { newPerson, newSession } from './person.ts';
import { type Place, STORES } from './stores.ts';
import { newTally } from './tally.ts';

export interface Ground {
  readonly place: Place;
  readonly ledger: Ledger;
  readonly fleet: Fleet;
  readonly mongo: MongoServer;
  readonly dialogues: ReadonlyMap<DialogueName, Dialogue>;
  readonly officials: Officials;
  close(): Promise<void>;
}

export interface GroundOptions {
  readonly store: keyof typeof STORES;
  readonly mongo: MongoServer;
  /** Of the accounts. */
  readonly database: string;
  /** Instances. @default 3 */
  readonly size?: number;
}

/** Milliseconds for which an instance that is about to end says that it is not ready. */
const DRAIN_MS = 1_500;
const REHEARSAL_MS = 30_000;
/** The same on all grounds, which may share a database. */
const PIN_KEY = randomBytes(32).toString('hex');

export async function openGround(options: GroundOptions): Promise<Ground> {
  const folder = mkdtempSync(join(tmpdir(), 'twinline-chaos-'));
  const ends: (() => Promise<void> | void)[] = [() => rmSync(folder, { recursive: true, force: true })];
  const close = async () => {
    for (let end = ends.pop(); end; end = ends.pop()) await end();
  };
  try {
    const place = await STORES[options.store]();
    ends.push(place.stop);
    const ledger = await startLedger();
    ends.push(ledger.close);
    const env = environment(options, { folder, place, ledger });
    const fleet = await startFleet({ size: options.size ?? 3, folder, env });
    ends.push(fleet.close);
    await fleet.ready();
    const dialogues = await rehearseAll(fleet).catch((error: Error) => {
      throw new Error(`${error.message}\n${fleet.printed()}`, { cause: error });
    });
    const officials = await startOfficials(fleet, env);
    return { place, ledger, fleet, mongo: options.mongo, dialogues, officials, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function environment(
  { mongo, database }: GroundOptions,
  { folder, place, ledger }: { folder: string; place: Place; ledger: Ledger },
) {
  const menus = join(folder, 'menus');
  mkdirSync(menus);
  writeMenus(menus, `http://localhost:${ledger.port}/api`);
  const [address, query] = mongo.url.split('?');
  return {
    REDIS_URL: place.url,
    MONGODB_URL: `${address!.replace(/\/$/, '')}/${database}${query ? `?${query}` : ''}`,
    PIN_ENCRYPTION_KEY: PIN_KEY,
    MENUS_DIR: menus,
    USSD_FLOW: FRONT,
    SERVICE_HTTP_HOSTS: `localhost:${ledger.port}`,
    DRAIN_DELAY_MS: String(DRAIN_MS),
    LOG_LEVEL: 'warn',
    PLUGINS: 'credits',
    ...files(folder),
  };
}

// Before anything happens, at one instance only and without copies.
async function rehearseAll(fleet: Fleet): Promise<ReadonlyMap<DialogueName, Dialogue>> {
  const dialogues = new Map<DialogueName, Dialogue>();
  const gateway = createGateway({
    ...{ urls: () => fleet.urls().slice(0, 1), tally: newTally(), timeoutMs: REHEARSAL_MS },
    random: { ...randomFrom(1), below: () => 0 },
  });
  try {
    const person = newPerson();
    for (const name of ['counting', 'reading', 'buying', 'login'] as const) {
      const sessionId = newSession();
      let text = '';
      const say = async (input: string | undefined) => {
        if (input !== undefined) text = text === '' ? input : `${text}*${input}`;
        const shown = await gateway.turn({ sessionId, serviceCode: '*2233#', phoneNumber: person.phone, text });
        return shown.text ?? '';
      };
      dialogues.set(name, await rehearse(name, person, say));
    }
  } finally {
    gateway.close();
  }
  return dialogues;
}
