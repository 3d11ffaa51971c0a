// Files of flows for those that change them: read with what names their text, and written back as a whole or not at all.

import { createHash, randomBytes } from 'node:crypto';
import { open as openFile, readdir, readFile, rename, rm } from 'node:fs/promises';
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

/** `published`: the files that callers get. `draft`: files beside them, which hold the next text. */
export type FlowStage = 'published' | 'draft';

/** What an editor opens: the draft where there is one, else what is published. */
export interface OpenedFlow extends EditedFlow {
  readonly stage: FlowStage;
  /** What callers get; both hashes are '' where nothing is published. */
  readonly published: EditedFlow;
}

export type EditResult =
  | { readonly kind: 'written' }
  /** Somebody has written another text meanwhile: nothing was written. */
  | { readonly kind: 'conflict'; readonly file: keyof EditedFlow; readonly present: EditedFile };

/** Hashes of what was seen before a step that takes no text. */
export interface SeenHashes {
  readonly draft: readonly [flow: string, tests: string];
  readonly published: readonly [flow: string, tests: string];
}

export interface FlowFiles {
  /** The path that a flow is written to, from the working directory where it is below that. */
  locate(flow: string): string;
  /** The names of all flows with files of a stage, sorted. */
  list(stage: FlowStage): Promise<string[]>;
  /** Throws ERR_NOT_FOUND for a flow without a file. */
  read(flow: string): Promise<OpenedFlow>;
  /**
   * Writes the flow, its tests, or both, of a stage. When one of the files has another text than its `base`, neither is written; the
   * base of a first draft is what is published. Other programs may still write between the look and the change, within milliseconds.
   * @default `stage` 'published'
   */
  write(
    flow: string,
    change: { readonly flow?: FileChange | undefined; readonly tests?: FileChange | undefined } & NotedWrite,
    stage?: FlowStage,
  ): Promise<EditResult>;
  /** Makes the draft what is published. Returns false, and changes nothing, if either is not what was seen. */
  publish(flow: string, seen: SeenHashes, note: NotedWrite['note']): Promise<boolean>;
  /** Makes what is published a draft, unless there is one, and takes it away from callers. */
  unpublish(flow: string, note: NotedWrite['note']): Promise<void>;
  /** Removes the draft. Throws ERR_CONFLICT where nothing else is there. */
  dropDraft(flow: string, note: NotedWrite['note']): Promise<void>;
  /** Removes all files of a flow. `note` gets what they held, first. Throws ERR_NOT_FOUND for a flow without a file. */
  remove(flow: string, note: (files: OpenedFlow) => Promise<unknown>): Promise<void>;
  /** Makes the files of a new flow; tests of '' make none. Throws ERR_EXISTS when there is one of this name. */
  create(
    flow: string,
    texts: { readonly flow: string; readonly tests: string } & NotedWrite,
    stage?: FlowStage,
  ): Promise<void>;
}

/** What a flow may be called that is written here: the name becomes a path. */
export const FLOW_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;
const WAITING = 100;

const ENDINGS = {
  published: { flow: FLOW_FILE, tests: FLOW_TEST_FILE },
  draft: { flow: '.draft.json', tests: '.draft-tests.json' },
} as const satisfies { readonly [stage in FlowStage]: { readonly [part in keyof EditedFlow]: string } };

/** Whether a file of a folder of menus is part of a draft, which no server serves. */
export const isDraftFile = (file: string) => Object.values(ENDINGS.draft).some((ending) => file.endsWith(ending));

interface StagedFiles {
  readStage(flow: string, stage: FlowStage): Promise<EditedFlow>;
  open(flow: string): Promise<OpenedFlow>;
  /** Throws ERR_NOT_FOUND where {@link open} finds nothing. */
  openExisting(flow: string): Promise<OpenedFlow>;
  writeStage(flow: string, stage: FlowStage, texts: { flow?: string; tests?: string }): Promise<void>;
  clear(flow: string, stage: FlowStage): Promise<void>;
}

/** The files of both stages in a folder. */
function stagedFiles(home: { readonly folder: string }): StagedFiles {
  const paths = (flow: string, stage: FlowStage) => {
    // It becomes a path: nothing but names.
    if (!FLOW_NAME.test(flow)) throw new TwinlineError('ERR_NOT_FOUND', 'There is no flow of this name.');
    const { flow: file, tests } = ENDINGS[stage];
    return { flow: join(home.folder, flow + file), tests: join(home.folder, flow + tests) };
  };
  const staged: StagedFiles = {
    async readStage(flow, stage) {
      const { flow: file, tests } = paths(flow, stage);
      return { flow: await readText(file), tests: await readText(tests) };
    },
    async open(flow) {
      const published = await staged.readStage(flow, 'published');
      const draft = await staged.readStage(flow, 'draft');
      return isThere(draft) ? { ...draft, stage: 'draft', published } : { ...published, stage: 'published', published };
    },
    async openExisting(flow) {
      const files = await staged.open(flow);
      if (isThere(files)) return files;
      throw new TwinlineError('ERR_NOT_FOUND', `There is no file of the flow "${flow}".`);
    },
    async writeStage(flow, stage, texts) {
      const files = paths(flow, stage);
      // The tests first: a flow that is served was tested by them.
      if (texts.tests !== undefined) await replaceFile(files.tests, texts.tests);
      if (texts.flow !== undefined) await replaceFile(files.flow, texts.flow);
    },
    async clear(flow, stage) {
      const files = paths(flow, stage);
      for (const file of [files.flow, files.tests]) await rm(file, { force: true });
    },
  };
  return staged;
}

/** The files of a folder, or of a home, whose own folder is made by the first write. */
export function flowFiles(place: string | MenuHome, isTaken: (name: string) => boolean = () => false): FlowFiles {
  const home =
    typeof place === 'string' ? { folder: place, target: place, open: async () => refuseInstalled(place) } : place;
  const saves = keyedMutex(WAITING, 'saves of one flow');
  const { readStage, open, openExisting, writeStage, clear } = stagedFiles(home);
  return {
    locate: (flow) => shortenPath(join(home.target, flow + FLOW_FILE)),
    async list(stage) {
      const ending = ENDINGS[stage].flow;
      const names = (await readdir(home.folder)).filter((name) => name.endsWith(ending));
      return names
        .map((name) => name.slice(0, -ending.length))
        .filter((name) => FLOW_NAME.test(name))
        .sort();
    },
    read: openExisting,
    write: (flow, change, stage = 'published') =>
      saves.run(flow, async (): Promise<EditResult> => {
        await home.open();
        const present = stage === 'draft' ? await open(flow) : await readStage(flow, stage);
        for (const part of ['flow', 'tests'] as const) {
          const base = change[part]?.base;
          if (base !== undefined && base !== present[part].hash)
            return { kind: 'conflict', file: part, present: present[part] };
        }
        await change.note?.();
        // A new draft has both, so that it stays as it is when another text is published.
        const kept = 'stage' in present && present.stage === 'published' ? listTexts(present) : {};
        await writeStage(flow, stage, { ...kept, ...listTexts(change) });
        return { kind: 'written' };
      }),
    publish: (flow, seen, note) =>
      saves.run(flow, async () => {
        const draft = await readStage(flow, 'draft');
        const published = await readStage(flow, 'published');
        const isSeen = (files: EditedFlow, [file, tests]: SeenHashes['draft']) =>
          files.flow.hash === file && files.tests.hash === tests;
        if (!isThere(draft) || !isSeen(draft, seen.draft) || !isSeen(published, seen.published)) return false;
        await note?.();
        await writeStage(flow, 'published', listTexts(draft));
        await clear(flow, 'draft');
        return true;
      }),
    unpublish: (flow, note) =>
      saves.run(flow, async () => {
        await home.open();
        const present = await openExisting(flow);
        await note?.();
        if (present.stage === 'published') await writeStage(flow, 'draft', listTexts(present));
        await clear(flow, 'published');
      }),
    dropDraft: (flow, note) =>
      saves.run(flow, async () => {
        if (!isThere(await readStage(flow, 'published')))
          throw new TwinlineError('ERR_CONFLICT', `"${flow}" is a draft only. Publish it, or delete the flow.`);
        await note?.();
        await clear(flow, 'draft');
      }),
    remove: (flow, note) =>
      saves.run(flow, async () => {
        await home.open();
        await note(await openExisting(flow));
        await clear(flow, 'published');
        await clear(flow, 'draft');
      }),
    create: (flow, texts, stage = 'published') =>
      saves.run(flow, async () => {
        const present = await open(flow);
        if (isThere(present) || present.tests.hash !== '')
          throw new TwinlineError('ERR_EXISTS', `There is a flow "${flow}" already. Choose another name.`);
        if (isTaken(flow))
          throw new TwinlineError('ERR_EXISTS', `There is a machine "${flow}" already. Choose another name.`);
        await home.open();
        await texts.note?.();
        await writeStage(flow, stage, { flow: texts.flow, ...(texts.tests !== '' && { tests: texts.tests }) });
      }),
  };
}

const isThere = ({ flow }: EditedFlow) => flow.hash !== '';

/** The texts that there are. */
function listTexts({
  flow,
  tests,
}: { readonly [part in keyof EditedFlow]?: { text: string; hash?: string } | undefined }) {
  const isText = (file: { readonly hash?: string } | undefined) => file !== undefined && file.hash !== '';
  return { ...(isText(flow) && { flow: flow!.text }), ...(isText(tests) && { tests: tests!.text }) };
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

/** Writes a file. Readers see the old text or the new one, also after a power cut. Throws ERR_STORE. */
export async function replaceFile(file: string, text: string): Promise<void> {
  const part = join(dirname(file), `.${basename(file)}.${randomBytes(6).toString('hex')}.part`);
  try {
    const handle = await openFile(part, 'wx');
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
