// Dialogues of `twinline chat` for tests: an engine in this process, and what is typed at its phone.

import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import * as assert from 'uvu/assert';
import { type Host, type HostOptions, openHost } from '../../../server/boot/host.ts';
import type { PhoneLine } from '../../../server/cli/phone/line.ts';
import { talk } from '../../../server/cli/phone/talk.ts';
import { readConfig } from '../../../server/config/config.ts';
import { createLog } from '../../../server/telemetry/log.ts';

export const PHONE = { phoneNumber: '+260971230001', serviceCode: '*2233#' };
export const SECRET = '83719';

interface InsideOptions extends Pick<HostOptions, 'services'> {
  readonly env?: NodeJS.ProcessEnv;
}

/** Opens an engine in memory, with the shipped menus unless `env` says otherwise, and closes it after `work`. */
export async function inside<T>(work: (host: Host) => Promise<T>, { env, ...options }: InsideOptions = {}): Promise<T> {
  const { config } = readConfig({ DATA_DIR: ':memory:', ...env }, { makeKeys: true });
  const host = await openHost(config!, { log: createLog({ logLevel: 'silent' }), ...options });
  try {
    return await work(host);
  } finally {
    await host.engine.idle();
    await host.close();
  }
}

/** A keyboard and a screen, a pipe unless `isTTY`; `printed` is all that was shown, with its colours. */
export function terminal({ isTTY = false } = {}) {
  const input = Object.assign(new PassThrough(), { isTTY });
  const output = new PassThrough();
  let printed = '';
  output.on('data', (chunk) => {
    printed += chunk;
  });
  return { input, output, printed: () => printed };
}

/** Talks over a pipe; everything that was printed. */
export async function piped(line: PhoneLine, typed: readonly string[]): Promise<string> {
  const { input, output, printed } = terminal();
  input.end(typed.map((one) => `${one}\n`).join(''));
  assert.is(await talk({ line, input, output }), 0);
  return stripVTControlCharacters(printed());
}
