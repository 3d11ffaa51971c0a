// The example menus: where they are, the codes that callers dial, and the dialogues that were recorded on them.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RecordedTurn } from '../../../lib/flow/testing/replay.ts';
import { ROOT } from '../../package/manifest.ts';

export const FOLDER = join(ROOT, 'test/examples/ussd');

const FLOWS = 'farm bus tokens cashback marks awards crop savings rides buscrew mothers tbcheck'.split(' ');

/** `*700*1#` for the first; every other code is that of the desk. */
export const codeOf = (flow: string): string => `*700*${FLOWS.indexOf(flow) + 1}#`;

/** The settings of a server with all of them. */
export const SETTINGS = {
  MENUS_DIR: FOLDER,
  SERVICES: join(FOLDER, 'services.mjs'),
  SMS_URL: 'http://127.0.0.1:9/sms',
  USSD_FLOW: [...FLOWS.map((flow) => `${codeOf(flow)}:${flow}`), 'desk'].join(','),
};

/** Files of the folder below FOLDER whose names end so. */
export const listFiles = (folder: string, end: string): string[] =>
  readdirSync(join(FOLDER, folder))
    .filter((name) => name.endsWith(end))
    .map((name) => join(FOLDER, folder, name))
    .sort();

/** By application, dialogues by session. */
export const DIALOGUES: ReadonlyMap<string, readonly (readonly RecordedTurn[])[]> = new Map(
  listFiles('dialogues', '.jsonl').map((file) => {
    const turns = readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as RecordedTurn);
    const starts = turns.flatMap(({ turn }, at) => (turn === 1 ? [at] : []));
    return [turns[0]!.flow, starts.map((start, at) => turns.slice(start, starts[at + 1]))];
  }),
);
