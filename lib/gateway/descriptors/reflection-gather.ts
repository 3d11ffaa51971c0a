// Gathers the files of a node that declare some symbols, with all that these files import, within bounds.

import { type Detail, TwinlineError } from '../../errors.ts';
import type { StopSignal } from '../cache/stop.ts';
import type { Channel } from '../channel/channel.ts';
import { ask, refused, textOf, type Version } from './reflection-ask.ts';
import { type File, fileOf } from './reflection-files.ts';
import type { Asked, Reply } from './reflection-messages.ts';

export interface GatherOptions {
  readonly service: Version;
  readonly symbols: readonly string[];
  /** What is left of the time, asked anew for each call. */
  readonly left: () => { readonly deadlineMs: number; readonly signal?: StopSignal };
  /** Files, and bytes of all files together. */
  readonly maxFiles: number;
  readonly maxBytes: number;
  /** Whether a file that others import is known and need not be read. @default none is */
  readonly isKnown?: (file: string) => boolean;
}

export interface Gathered {
  /** By name. */
  readonly files: ReadonlyMap<string, File>;
  /** Files that others import and the node does not have. */
  readonly missing: ReadonlySet<string>;
  /** Symbols that the node does not describe, and why. */
  readonly left: readonly Detail[];
}

/** Rejects with ERR_SERVICE when the node breaks off or answers what is no reply, with ERR_INPUT when it sends too much. */
export async function gatherFiles(channel: Channel, options: GatherOptions): Promise<Gathered> {
  const { service, symbols, left: timeLeft, maxFiles, maxBytes, isKnown = () => false } = options;
  const files = new Map<string, File>();
  const missing = new Set<string>();
  const left: Detail[] = [];
  let bytes = 0;

  await read(symbols.map((symbol) => ({ symbol })));
  for (;;) {
    const wanted = new Set([...files.values()].flatMap(({ imports }) => imports));
    const next = [...wanted].filter((name) => !files.has(name) && !missing.has(name) && !isKnown(name));
    if (!next.length) return { files, missing, left };
    if (files.size + missing.size + next.length > maxFiles) throw tooMuch();
    await read(next.map((name) => ({ file: name })));
    for (const name of next) if (!files.has(name)) missing.add(name);
  }

  async function read(questions: readonly Asked[]): Promise<void> {
    if (!questions.length) return;
    let at = 0;
    for await (const reply of ask(channel, { service, questions, ...timeLeft() })) take(questions[at++]!, reply);
    if (at < questions.length) throw refused(channel, `it answered ${at} of ${questions.length} questions`);
  }

  function take(asked: Asked, reply: Reply): void {
    if (reply.kind === 'files') for (const file of reply.files) add(file);
    else if (asked !== 'services' && 'symbol' in asked) left.push({ field: asked.symbol, error: textOf(reply) });
    else if (reply.kind !== 'error')
      throw refused(channel, `it does not describe ${asked === 'services' ? asked : asked.file}: ${textOf(reply)}`);
  }

  function add(content: Uint8Array): void {
    const file = fileOf(content, channel.name);
    if (files.has(file.name)) return;
    files.set(file.name, file);
    bytes += content.length;
    if (files.size > maxFiles || bytes > maxBytes) throw tooMuch();
  }

  function tooMuch(): TwinlineError {
    return new TwinlineError(
      'ERR_INPUT',
      `The node ${channel.name} describes itself in more than ${maxFiles} files or ${maxBytes} bytes. ` +
        'Give the descriptors of the services that you need in a file instead.',
    );
  }
}
