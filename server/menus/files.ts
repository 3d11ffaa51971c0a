// Files of flows for those that change them: read with what names their text, and written back as a whole or not at all.

import { createHash, randomBytes } from 'node:crypto';
import { open, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { TwinlineError } from '../../lib/errors.ts';
import { FLOW_FILE } from '../../lib/flow/format/parse.ts';
import { FLOW_TEST_FILE } from '../../lib/flow/testing/file.ts';
import { keyedMutex } from '../../lib/queue.ts';
import { type MenuHome, refuseInstalled } from './home.ts';

/** A file as an editor holds it. */
export interface EditedFile {
  readonly text: string;
  /** Names this text; '' for a file that is not there. */
  readonly hash: string;
}

export interface EditedFlow {
  readonly flow: EditedFile;
  readonly tests: EditedFile;
}

/** What is to be written over what an editor has read. */
export interface FileChange {
  readonly text: string;
  /** Hash of the text that the change was made from. */
  readonly base: string;
}

/** What is written into the audit log before the files; what it throws keeps them as they are. @default nothing */
interface NotedWrite {
  readonly note?: () => Promise<unknown>;
}

export type EditResult =
  | { readonly kind: 'written' }
  /** Somebody has written another text meanwhile: nothing was written. */
  | { readonly kind: 'conflict'; readonly file: keyof EditedFlow; readonly present: EditedFile };

export interface FlowFiles {
  /** The path that a flow is written to, from the working directory where it is below that. */
  locate(flow: string): string;
  /** Throws ERR_NOT_FOUND for a flow without a file. */
  read(flow: string): Promise<EditedFlow>;
  /**
   * Writes the flow, its tests, or both. When one of the files has another text than its `base`, neither is
   * written. Other programs may still write between the look and the change, within milliseconds.
   */
  write(
    flow: string,
    change: { readonly flow?: FileChange | undefined; readonly tests?: FileChange | undefined } & NotedWrite,
  ): Promise<EditResult>;
  /** Makes the files of a new flow; tests of '' make none. Throws ERR_EXISTS when there is one of this name. */
  create(flow: string, texts: { readonly flow: string; readonly tests: string } & NotedWrite): Promise<void>;
}

/** What a flow may be called that is written here: the name becomes a path. */
export const FLOW_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;
const WAITING = 100;

/** The files of a folder, or of a home, whose own folder is made by the first write. */
export function flowFiles(place: string | MenuHome, isTaken: (name: string) => boolean = () => false): FlowFiles {
  const home =
    typeof place === 'string' ? { folder: place, target: place, open: async () => refuseInstalled(place) } : place;
  const saves = keyedMutex(WAITING, 'saves of one flow');
  const paths = (flow: string) => {
    // It becomes a path: nothing but names.
    if (!FLOW_NAME.test(flow)) throw new TwinlineError('ERR_NOT_FOUND', 'There is no flow of this name.');
    return { flow: join(home.folder, flow + FLOW_FILE), tests: join(home.folder, flow + FLOW_TEST_FILE) };
  };
  const readBoth = async (flow: string): Promise<EditedFlow> => {
    const { flow: file, tests } = paths(flow);
    return { flow: await readText(file), tests: await readText(tests) };
  };
  return {
    locate: (flow) => shortenPath(join(home.target, flow + FLOW_FILE)),
    async read(flow) {
      const both = await readBoth(flow);
      if (both.flow.hash !== '') return both;
      throw new TwinlineError('ERR_NOT_FOUND', `There is no file of the flow "${flow}".`);
    },
    write: (flow, change) =>
      saves.run(flow, async (): Promise<EditResult> => {
        await home.open();
        const present = await readBoth(flow);
        for (const part of ['flow', 'tests'] as const) {
          const base = change[part]?.base;
          if (base !== undefined && base !== present[part].hash)
            return { kind: 'conflict', file: part, present: present[part] };
        }
        await change.note?.();
        const files = paths(flow);
        // The tests first: a flow that is served was tested by them.
        if (change.tests) await replaceFile(files.tests, change.tests.text);
        if (change.flow) await replaceFile(files.flow, change.flow.text);
        return { kind: 'written' };
      }),
    create: (flow, texts) =>
      saves.run(flow, async () => {
        const present = await readBoth(flow);
        if (present.flow.hash !== '' || present.tests.hash !== '')
          throw new TwinlineError('ERR_EXISTS', `There is a flow "${flow}" already. Choose another name.`);
        if (isTaken(flow))
          throw new TwinlineError('ERR_EXISTS', `There is a machine "${flow}" already. Choose another name.`);
        await home.open();
        await texts.note?.();
        const files = paths(flow);
        if (texts.tests !== '') await replaceFile(files.tests, texts.tests);
        await replaceFile(files.flow, texts.flow);
      }),
  };
}

function shortenPath(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith(`..${sep}`) ? path : short;
}

/** Names a text. */
export function hashText(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

async function readText(file: string): Promise<EditedFile> {
  try {
    const text = await readFile(file, 'utf8');
    return { text, hash: hashText(text) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { text: '', hash: '' };
    throw error;
  }
}

// Readers see the old text or the new one, also after a power cut.
async function replaceFile(file: string, text: string): Promise<void> {
  const part = join(dirname(file), `.${basename(file)}.${randomBytes(6).toString('hex')}.part`);
  try {
    const handle = await open(part, 'wx');
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(part, file);
  } catch (cause) {
    await rm(part, { force: true });
    const { code } = cause as NodeJS.ErrnoException;
    const words = `${basename(file)} was not saved: its folder cannot be written (${code}).`;
    throw new TwinlineError('ERR_STORE', words, { cause });
  }
}
