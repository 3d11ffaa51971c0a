// Waiting at a start for a store on the network: containers start in any order.

import { setTimeout as pause } from 'node:timers/promises';
import { TwinlineError } from '../../lib/errors.ts';
import type { SettingName } from '../config/settings.ts';
import type { Log } from '../health/log.ts';

export interface WaitOptions {
  /** The variable that holds the address. */
  readonly setting: SettingName;
  readonly patienceMs: number;
  readonly log: Log;
}

interface Connection {
  /** The address, without a password. */
  readonly name: string;
  ping(): Promise<void>;
  close(): Promise<void>;
}

const RETRY_MS = 250;
/** One attempt has at least this time, so that its end tells a reason. */
const ATTEMPT_MS = 3_000;
/** A start that waits says so after this time. */
const TELL_MS = 1_000;
/** What no waiting will change. */
const HOPELESS = /\b(NOAUTH|WRONGPASS|NOPERM|AuthenticationFailed|Unauthorized)\b/;

/**
 * Resolves when the store answers. Rejects with ERR_CONFIG as soon as it refuses user or password, and with ERR_STORE
 * when it has not answered in time; then it may be closed.
 */
export async function waitForStore(connection: Connection, { setting, patienceMs, log }: WaitOptions): Promise<void> {
  const begun = performance.now();
  const left = () => patienceMs - (performance.now() - begun);
  let last: string | undefined;
  let told = false;
  const tell = () => {
    if (told) return;
    told = true;
    log.warn({ setting, address: connection.name, reason: last }, 'waiting for a store to answer');
  };
  const attempt = () => connection.ping().then(() => true, heard);
  const heard = (error: unknown): false => {
    const words = error instanceof Error ? error.message : String(error);
    if (HOPELESS.test(words)) throw new TwinlineError('ERR_CONFIG', `${setting} does not work. ${words}`);
    last = words;
    return false;
  };
  // The connection is tried once, however little patience there is.
  for (let isFirst = true; isFirst || left() > 0; isFirst = false) {
    const stop = new AbortController();
    const timer = setTimeout(tell, TELL_MS);
    const late = pause(Math.max(left(), ATTEMPT_MS), 'late', { signal: stop.signal }).catch(() => 'late');
    const trying = attempt();
    // It may end after everybody has stopped to look.
    trying.catch(() => {});
    try {
      const outcome = await Promise.race([trying, late]);
      if (outcome === true) return;
      // A connection that is given up says what was wrong with it.
      if (outcome === 'late' && last === undefined) {
        await connection.close();
        await trying;
      }
    } finally {
      stop.abort();
      clearTimeout(timer);
    }
    if (left() > RETRY_MS) {
      tell();
      await pause(RETRY_MS);
    }
  }
  const why = last ?? `${connection.name} does not answer.`;
  const waited = `It was waited for ${Math.round(patienceMs / 1_000)} s (STORE_WAIT_SECONDS).`;
  throw new TwinlineError('ERR_STORE', `${setting} cannot be used. ${why} ${waited}`);
}
