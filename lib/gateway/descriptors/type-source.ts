// Types that no descriptor declares, such as inside an Any: looked up on the node, within limits, and kept alongside the
// descriptors.

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

/** Files read from the node, and the types they were read for. */
export interface Lesson {
  readonly files: ReadonlyMap<string, File>;
  readonly wanted: ReadonlySet<string>;
}

export interface LearnedTypes {
  /** Resolves declared and learned types. */
  readonly registry: FileRegistry;
  isKnownFile(name: string): boolean;
  /** Everything learned so far, in order. */
  readonly lessons: readonly Lesson[];
  /** Adds the messages of these files, including `wanted`. Unusable files are skipped. */
  learn(files: ReadonlyMap<string, File>, typeNames: ReadonlySet<string>): void;
}

/**
 * Starts with nothing learned.
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
      // A missing import is harmless if it only provides options.
      const dependency = proto.dependency.filter((name) => getFile(name) !== undefined);
      if (dependency.length < proto.dependency.length) Object.assign(proto, { dependency, publicDependency: [] });
      return createFileRegistry(proto, getFile).getFile(proto.name);
    } catch {
      return undefined;
    }
  }

  return {
    // The registry's other methods do not call `getMessage`, so override each.
    registry: Object.assign(Object.create(base) as FileRegistry, {
      getMessage,
      get: (name: string) => base.get(name) ?? messages.get(name),
    }),
    isKnownFile: (name) => getFile(name) !== undefined,
    lessons,
    learn: (learntFiles, typeNames) => {
      lessons.push({ files: learntFiles, wanted: typeNames });
      for (const file of sortByImports(learntFiles)) {
        const existing = getFile(file.name);
        const parsed = existing && !declaresNew(file, { known: existing, wanted: typeNames }) ? undefined : read(file);
        if (!parsed) continue;
        if (!existing) files.set(parsed.proto.name, parsed);
        for (const type of nestedTypes(parsed))
          if (type.kind === 'message' && !getMessage(type.typeName)) messages.set(type.typeName, type);
      }
    },
  };
}

/** Whether a file with a known name may declare a wanted type, because the node is newer than our descriptors. */
function declaresNew(
  { content }: File,
  { known: existing, wanted }: { known: DescFile; wanted: ReadonlySet<string> },
): boolean {
  const scope = existing.proto.package ? `${existing.proto.package}.` : '';
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.length);
  return [...wanted].some((name) => name.startsWith(scope) && bytes.includes(name.slice(name.lastIndexOf('.') + 1)));
}

/** Receives type names such as `cosmos.crypto.secp256k1.PubKey`; they come from messages and may be anything. */
export interface UnknownTypes {
  add(name: string): void;
}

/** Wraps a registry to report types that it lacks. */
export function reportingRegistry(registry: Registry, unknown: UnknownTypes): Registry {
  return Object.assign(Object.create(registry) as Registry, {
    getMessage: (name: string) => {
      const message = registry.getMessage(name);
      if (!message) unknown.add(name);
      return message;
    },
  });
}

/** How a caller waits for types. */
export interface TypeWaiting {
  /** Remaining milliseconds of the request. */
  readonly deadlineMs: number;
  readonly signal?: StopSignal;
}

/** A result, and whether it is final: a missing type may become known shortly. */
export interface BuiltType<T> {
  readonly value: T;
  readonly isFinal: boolean;
}

/** Resolves undeclared types by asking the node. */
export interface TypeSource {
  /** Resolves declared and learned types. */
  readonly registry: FileRegistry;
  /** The declared types, and everything learned since, in order: for another thread. */
  readonly base: FileRegistry;
  readonly lessons: readonly Lesson[];
  /**
   * Returns the result of `make`. If `make` reports undeclared types, the node is asked; when it knows at least one, `make`
   * is called again. Rejects with the error of the last call.
   */
  make<T>(make: (unknown: UnknownTypes) => T | Promise<T>, waiting: TypeWaiting): Promise<BuiltType<T>>;
  stats(): { readonly calls: number; readonly files: number; readonly unknown: number };
}

/** Options of `typeSource`. */
export interface TypeSourceOptions {
  readonly base: FileRegistry;
  /** The node to ask; without one, unknown types stay unknown. */
  readonly channel: Channel | undefined;
  readonly clock?: Clock;
}

/**
 * Starts without asking anything.
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
    // Starts at one hour, because lru-cache takes 0 for "no time".
    perf: { now: () => clock.monotonic() + 3_600_000 },
    ttlResolution: 0,
  });
  const minute = { began: 0, asked: 0 };
  let running = 0;
  const total = { calls: 0, files: 0, bytes: 0 };

  /** Collects unknown types during a call, except those that the node is known to lack. */
  function gatherNames(): UnknownNames {
    const metNames: UnknownNames = {
      names: new Set(),
      isOpen: false,
      add: (name) => {
        if (!channel || name.length > GATEWAY_LIMITS.typeNameChars || !NAME.test(name)) return;
        const knownMs = absent.getRemainingTTL(name);
        if (knownMs > 0 && knownMs <= GATEWAY_LIMITS.typesFailedMs) metNames.isOpen = true;
        if (knownMs > 0 || metNames.names.has(name)) return;
        if (metNames.names.size < GATEWAY_LIMITS.typesPerReply) metNames.names.add(name);
        else metNames.isOpen = true;
      },
    };
    return metNames;
  }

  /** Starts a lookup of names that no running lookup covers. */
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
      // The types stay unknown and are retried soon, because the node may be down.
      ttl = GATEWAY_LIMITS.typesFailedMs;
    }
    for (const name of names) if (!learned.registry.getMessage(name)) absent.set(name, true, { ttl });
  }

  /** How many more names may be looked up now. */
  function allowance(): number {
    if (clock.monotonic() - minute.began >= 60_000) Object.assign(minute, { began: clock.monotonic(), asked: 0 });
    const isFull = running >= GATEWAY_LIMITS.typeCallsAtOnce || total.files >= GATEWAY_LIMITS.reflectionFiles;
    return isFull ? 0 : GATEWAY_LIMITS.typesPerMinute - minute.asked;
  }

  /** Looks up these names, joining running lookups; resolves to whether at least one is known then. */
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
        const outcome = await attempt(make, met);
        const began = performance.now();
        const leftMs = Math.min(patienceMs, endsAt - began);
        const mayAsk =
          met.names.size > 0 && round < GATEWAY_LIMITS.typeRounds && leftMs > 0 && !waiting.signal?.aborted;
        if (mayAsk && (await find([...met.names], { ...waiting, deadlineMs: leftMs }))) {
          patienceMs -= performance.now() - began;
          continue;
        }
        if ('error' in outcome) throw outcome.error;
        const isOpen =
          met.isOpen || [...met.names].some((name) => absent.getRemainingTTL(name) <= GATEWAY_LIMITS.typesFailedMs);
        return { value: outcome.value, isFinal: !isOpen };
      }
    },
    stats: () => ({ calls: total.calls, files: total.files, unknown: absent.size }),
  };
}

interface UnknownNames extends UnknownTypes {
  readonly names: Set<string>;
  /** Another missing type may become known shortly. */
  isOpen: boolean;
}

const NAME = /^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$/;

async function attempt<T>(
  make: (unknown: UnknownTypes) => T | Promise<T>,
  unknown: UnknownTypes,
): Promise<{ value: T } | { error: unknown }> {
  try {
    const result = make(unknown);
    return { value: result instanceof Promise ? await result : result };
  } catch (error) {
    return { error };
  }
}

/** Resolves when the work is done, time is up or the caller has left; the work itself continues. */
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
