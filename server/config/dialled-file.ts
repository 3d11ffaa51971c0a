// The file beside the menus that names the flow that a dial starts, `{"flow":"shop"}`: the studio writes it, and so may anybody else.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '../../lib/given.ts';

/** Its name in MENUS_DIR. */
export const DIALLED_FILE = 'dialled.json';
const FLOW = /^[A-Za-z][\w-]{0,63}$/;

/** What the file of a folder names, or why it names nothing; undefined where there is no file. */
export function readDialledFile(folder: string): { readonly flow: string } | { readonly fault: string } | undefined {
  const file = join(folder, DIALLED_FILE);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? undefined : { fault: `${file} cannot be read (${code}).` };
  }
  const flow = readFlow(text);
  if (flow !== undefined && FLOW.test(flow)) return { flow };
  return { fault: `${file} names no flow. Write {"flow":"<name of a flow>"} into it, or remove it.` };
}

function readFlow(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) && typeof value.flow === 'string' ? value.flow : undefined;
  } catch {
    return undefined;
  }
}
