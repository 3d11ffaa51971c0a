// Message types that no descriptor declares, such as those inside an Any: the node is asked for them, within bounds, and what
// it says is kept beside the types of the descriptors.

import { createFileRegistry, type DescFile, type DescMessage, fromBinary } from '@bufbuild/protobuf';
import { nestedTypes } from '@bufbuild/protobuf/reflect';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { LRUCache } from 'lru-cache';
import type { FileRegistry, Registry } from '#protobuf';
import { type Clock, systemClock } from '../../clock.ts';
import type { Channel, StopSignal } from '../channel/channel.ts';
import { GATEWAY_LIMITS } from '../limits.ts';
import { gatherFiles, tryVersions } from './reflection.ts';
import { type File, sortByImports } from './reflection-messages.ts';
import { fillJsonNames, listDeclared, listReferences, nameTypesFully } from './type-names.ts';

/** Files that the node was asked for, and the types that were wanted of them. */
export interface Lesson {
  readonly files: ReadonlyMap<string, File>;
  readonly wanted: ReadonlySet<string>;
}

export interface LearnedTypes {
  /** Finds what the descriptors declare and what was learned. */
  readonly registry: FileRegistry;
  isKnownFile(name: string): boolean;
  /** All that was learned, in order. */
  readonly lessons: readonly Lesson[];
  /** Adds the messages of these files, `wanted` among them. Files that cannot be used are passed over. */
  learn(files: ReadonlyMap<string, File>, wanted: ReadonlySet<string>): void;
}

/**
 * Nothing learned yet.
 * @example
 * import { readFileSync } from 'node:fs';
 *
 * const { registry } = readDescriptorSet(readFileSync('library.pb'));
 * learnedTypes(registry).isKnownFile('demo/library.proto'); // → true
 */
export function learnedTypes(base: FileRegistry): LearnedTypes {
  const files = new Map<string, DescFile>();
  const messages = new Map<string, DescMessage>();
  const lessons: Lesson[] = [];
  const getFile = (name: string) => base.getFile(name) ?? files.get(name);
  const getMessage = (name: string) => base.getMessage(name) ?? messages.get(name);

  function read({ content }: File): DescFile | undefined {
    try {
      const proto = fromBinary(FileDescriptorProtoSchema, content);
      for (const message of proto.messageType) fillJsonNames(message);
      if ([...listReferences(proto)].some(({ name }) => !name.startsWith('.')))
        nameTypesFully(proto, listDeclared([proto, ...[...base.files, ...files.values()].map((file) => file.proto)]));
      // One that only brings options may be missing.
      const dependency = proto.dependency.filter((name) => getFile(name) !== undefined);
      if (dependency.length < proto.dependency.length) Object.assign(proto, { dependency, publicDependency: [] });
      return createFileRegistry(proto, getFile).getFile(proto.name);
    } catch {
      return undefined;
    }
  }

  return {
    // The members of a registry do not look for each other.
    registry: Object.assign(Object.create(base) as FileRegistry, {
      getMessage,
      get: (name: string) => base.get(name) ?? messages.get(name),
    }),
    isKnownFile: (name) => getFile(name) !== undefined,
    lessons,
    learn: (given, wanted) => {
      lessons.push({ files: given, wanted });
      for (const file of sortByImports(given)) {
        const known = getFile(file.name);
        const made = known && !declaresNew(file, { known, wanted }) ? undefined : read(file);
        if (!made) continue;
        if (!known) files.set(made.proto.name, made);
        for (const type of nestedTypes(made))
          if (type.kind === 'message' && !getMessage(type.typeName)) messages.set(type.typeName, type);
      }
    },
  };
}

/** Whether a file of a known name may declare what is wanted: the node is newer than what is known of it. */
function declaresNew({ content }: File, { known, wanted }: { known: DescFile; wanted: ReadonlySet<string> }): boolean {
  const scope = known.proto.package ? `${known.proto.package}.` : '';
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.length);
  return [...wanted].some((name) => name.startsWith(scope) && bytes.includes(name.slice(name.lastIndexOf('.') + 1)));
}

/** Takes the name of each, such as `cosmos.crypto.secp256k1.PubKey`; names come from messages and may be anything. */
export interface UnknownTypes {
  add(name: string): void;
}

/** The same registry, which reports the types that it does not have. */
export function reportingRegistry(registry: Registry, unknown: UnknownTypes): Registry {
  return Object.assign(Object.create(registry) as Registry, {
    getMessage: (name: string) => {
      const found = registry.getMessage(name);
      if (!found) unknown.add(name);
      return found;
    },
  });
}

/** How a caller waits for types. */
export interface TypeWaiting {
  /** Milliseconds that are left to the request. */
  readonly deadlineMs: number;
  readonly signal?: StopSignal;
}

/** What was made, and whether it can change: a type was not there that may be known a moment later. */
export interface BuiltType<T> {
  readonly value: T;
  readonly isFinal: boolean;
}

/** Where types are found that no descriptor declares: the node is asked. */
export interface TypeSource {
  /** Finds what the descriptors declare and what was learned. */
  readonly registry: FileRegistry;
  /** What the descriptors declare, and all that was learned since, in order: for readers of replies in another thread. */
  readonly base: FileRegistry;
  readonly lessons: readonly Lesson[];
  /**
   * Gives what `make` gives. When it met types that nobody declares, the node is asked for them, and when it knows one
   * more, `make` is called again. Rejects with what the last `make` throws.
   */
  make<T>(make: (unknown: UnknownTypes) => T | Promise<T>, waiting: TypeWaiting): Promise<BuiltType<T>>;
  stats(): { readonly calls: number; readonly files: number; readonly unknown: number };
}

/** Options of `typeSource`. */
export interface TypeSourceOptions {
  readonly base: FileRegistry;
  /** The node that is asked; without one, what is unknown stays so. */
  readonly channel: Channel | undefined;
  readonly clock?: Clock;
}

/**
 * Nothing is asked yet.
 * @example
 * import { readFileSync } from 'node:fs';
 *
 * const { registry } = readDescriptorSet(readFileSync('library.pb'));
 * // With the channel to a node, types that no descriptor declares are asked of it.
 * const types = typeSource({ base: registry, channel: undefined });
 * types.stats(); // → { calls: 0, files: 0, unknown: 0 }
 */
export function typeSource({ base, channel, clock = systemClock }: TypeSourceOptions): TypeSource {
  const learned = learnedTypes(base);
  const asking = new Map<string, Promise<void>>();
  const absent = new LRUCache<string, true>({
    max: GATEWAY_LIMITS.typesUnknown,
    ttl: GATEWAY_LIMITS.typesUnknownMs,
    // Counted from one hour on, for the library takes 0 for "no time".
    perf: { now: () => clock.monotonic() + 3_600_000 },
    ttlResolution: 0,
  });
  const minute = { began: 0, asked: 0 };
  let running = 0;
  const total = { calls: 0, files: 0, bytes: 0 };

  /** Gathers unknown types while something is made, but for those that the node is known not to have. */
  function gatherNames(): UnknownNames {
    const met: UnknownNames = {
      names: new Set(),
      isOpen: false,
      add: (name) => {
        if (!channel || name.length > GATEWAY_LIMITS.typeNameChars || !NAME.test(name)) return;
        const knownMs = absent.getRemainingTTL(name);
        if (knownMs > 0 && knownMs <= GATEWAY_LIMITS.typesFailedMs) met.isOpen = true;
        if (knownMs > 0 || met.names.has(name)) return;
        if (met.names.size < GATEWAY_LIMITS.typesPerReply) met.names.add(name);
        else met.isOpen = true;
      },
    };
    return met;
  }

  /** Begins a call for names that no running call asks for. */
  function begin(names: readonly string[], node: Channel): void {
    running++;
    minute.asked += names.length;
    total.calls++;
    const call = ask(names, node).finally(() => {
      running--;
      for (const name of names) asking.delete(name);
    });
    for (const name of names) asking.set(name, call);
  }

  async function ask(names: readonly string[], node: Channel): Promise<void> {
    const endsAt = performance.now() + GATEWAY_LIMITS.typesMs;
    const left = () => ({ deadlineMs: endsAt - performance.now() });
    const bounds = {
      maxFiles: GATEWAY_LIMITS.reflectionFiles - total.files,
      maxBytes: GATEWAY_LIMITS.reflectionBytes - total.bytes,
    };
    let ttl: number = GATEWAY_LIMITS.typesUnknownMs;
    try {
      const { files } = await tryVersions(node, (service) =>
        gatherFiles(node, { service, symbols: names, left, isKnown: learned.isKnownFile, ...bounds }),
      );
      learned.learn(files, new Set(names));
      total.files += files.size;
      for (const { content } of files.values()) total.bytes += content.length;
    } catch {
      // They stay unknown, and are asked for again soon: the node may be away.
      ttl = GATEWAY_LIMITS.typesFailedMs;
    }
    for (const name of names) if (!learned.registry.getMessage(name)) absent.set(name, true, { ttl });
  }

  /** How many more names the node may be asked for now. */
  function allowance(): number {
    if (clock.monotonic() - minute.began >= 60_000) Object.assign(minute, { began: clock.monotonic(), asked: 0 });
    const isFull = running >= GATEWAY_LIMITS.typeCallsAtOnce || total.files >= GATEWAY_LIMITS.reflectionFiles;
    return isFull ? 0 : GATEWAY_LIMITS.typesPerMinute - minute.asked;
  }

  /** Asks for these names, or waits for those who ask already; whether one more is known then. */
  async function find(names: readonly string[], waiting: TypeWaiting): Promise<boolean> {
    const fresh = names.filter((name) => !asking.has(name)).slice(0, Math.max(0, allowance()));
    if (fresh.length && channel) begin(fresh, channel);
    const calls = new Set(names.flatMap((name) => asking.get(name) ?? []));
    if (calls.size) await waitFor(Promise.all(calls), waiting);
    return names.some((name) => learned.registry.getMessage(name) !== undefined);
  }

  return {
    registry: learned.registry,
    base,
    lessons: learned.lessons,
    make: async (make, waiting) => {
      const endsAt = performance.now() + waiting.deadlineMs;
      let patienceMs: number = GATEWAY_LIMITS.typesMs;
      for (let round = 1; ; round++) {
        const met = gatherNames();
        const made = await attempt(make, met);
        const began = performance.now();
        const leftMs = Math.min(patienceMs, endsAt - began);
        const mayAsk =
          met.names.size > 0 && round < GATEWAY_LIMITS.typeRounds && leftMs > 0 && !waiting.signal?.aborted;
        if (mayAsk && (await find([...met.names], { ...waiting, deadlineMs: leftMs }))) {
          patienceMs -= performance.now() - began;
          continue;
        }
        if ('error' in made) throw made.error;
        const isOpen =
          met.isOpen || [...met.names].some((name) => absent.getRemainingTTL(name) <= GATEWAY_LIMITS.typesFailedMs);
        return { value: made.value, isFinal: !isOpen };
      }
    },
    stats: () => ({ calls: total.calls, files: total.files, unknown: absent.size }),
  };
}

interface UnknownNames extends UnknownTypes {
  readonly names: Set<string>;
  /** Something else was met that may be known a moment later. */
  isOpen: boolean;
}

const NAME = /^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$/;

async function attempt<T>(
  make: (unknown: UnknownTypes) => T | Promise<T>,
  unknown: UnknownTypes,
): Promise<{ value: T } | { error: unknown }> {
  try {
    const made = make(unknown);
    return { value: made instanceof Promise ? await made : made };
  } catch (error) {
    return { error };
  }
}

/** Resolves when the work is done, the time is over or the caller has left; the work goes on. */
function waitFor(work: Promise<unknown>, { deadlineMs, signal }: TypeWaiting): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, deadlineMs);
    signal?.addEventListener('abort', end, { once: true });
    void work.then(end);
  });
}
