// What conversations keep of their callers between sessions: a few values by name, and which session was begun last.

import type { Clock } from '../../clock.ts';
import { TwinlineError } from '../../errors.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import { ENGINE_LIMITS } from '../limits.ts';
import type { ServiceSession, Services } from '../service.ts';

/** Whose memory: a caller, and the conversation that they began. No conversation reads the memory of another one. */
export interface MemoryOwner extends Pick<ServiceSession, 'simulated'> {
  /** E.164 with `+`. */
  readonly phoneNumber: string;
  readonly conversation: string;
}

/** What is kept of a caller by one conversation. */
export interface Recalled {
  /** Without those whose time is over. */
  readonly values: JsonObject;
  /** The key of the session that the caller began last; undefined when none is known. */
  readonly session?: string | undefined;
}

/** What a turn changes in the memory of its caller. */
export interface MemoryChanges {
  /** Each value, and the milliseconds from now for which it is kept; null forgets it. */
  readonly values: { readonly [name: string]: { readonly value: Json; readonly ms: number } };
  /** The key of the session that the caller has begun. @default as it was */
  readonly session?: string | undefined;
}

/**
 * The memory of callers. Whoever writes a value last wins; values of other names stay as they are. All methods reject with ERR_STORE when
 * the store does.
 */
export interface CallerMemory {
  recall(owner: MemoryOwner): Promise<Recalled>;
  /** Throws ERR_TURN_LIMIT when all values together are longer than ENGINE_LIMITS.memoryChars. */
  remember(owner: MemoryOwner, changes: MemoryChanges): Promise<void>;
  /** Forgets everything; whether there was anything. */
  forget(owner: MemoryOwner): Promise<boolean>;
}

/** What is stored of one caller by one conversation. */
export interface MemoryContent {
  /** Each value, and until when it is kept, in milliseconds since 1970. */
  readonly values: { readonly [name: string]: readonly [value: Json, until: number] };
  /** The same of the key of the session. */
  readonly session?: readonly [key: string, until: number];
}

/** What a conversation may read of it at that time. */
export function readMemory({ values, session }: MemoryContent, now: number): Recalled {
  const living = Object.entries(values).filter(([, [, until]]) => until > now);
  return {
    values: Object.fromEntries(living.map(([name, [value]]) => [name, value])),
    ...(session && session[1] > now && { session: session[0] }),
  };
}

/** The content after these changes, without what has had its time; undefined when nothing is left. Throws ERR_TURN_LIMIT. */
export function changeMemory(
  before: MemoryContent | undefined,
  { values: changes, session }: MemoryChanges,
  { now, owner }: { readonly now: number; readonly owner: MemoryOwner },
): MemoryContent | undefined {
  const entries = new Map(Object.entries(before?.values ?? {}).filter(([, [, until]]) => until > now));
  for (const [name, { value, ms }] of Object.entries(changes)) {
    if (value === null) entries.delete(name);
    else entries.set(name, [value, now + ms]);
  }
  const values = Object.fromEntries(entries);
  const { length } = JSON.stringify(values);
  if (length > ENGINE_LIMITS.memoryChars)
    throw new TwinlineError(
      'ERR_TURN_LIMIT',
      `Cannot keep ${Object.keys(changes).join(', ')} of a caller of "${owner.conversation}": all that it keeps of one caller would have ${length} characters, the limit is ${ENGINE_LIMITS.memoryChars}. Keep fewer or shorter variables: give them a "max".`,
    );
  const last = session === undefined ? before?.session : ([session, now + ENGINE_LIMITS.lastSessionMs] as const);
  const isOver = last === undefined || last[1] <= now;
  if (isOver && !entries.size) return undefined;
  return { values, ...(!isOver && { session: last }) };
}

/** A memory that ends with the process, as for tests. */
export function memoryOfProcess(clock: Pick<Clock, 'now'>): CallerMemory {
  const contents = new Map<string, MemoryContent>();
  const formatOwner = ({ phoneNumber, simulated, conversation }: MemoryOwner) =>
    JSON.stringify([phoneNumber, simulated === true, conversation]);
  return {
    recall: async (owner) => readMemory(contents.get(formatOwner(owner)) ?? { values: {} }, clock.now()),
    remember: async (owner, changes) => {
      const key = formatOwner(owner);
      const next = changeMemory(contents.get(key), changes, { now: clock.now(), owner });
      if (next) contents.set(key, structuredClone(next));
      else contents.delete(key);
    },
    forget: async (owner) => contents.delete(formatOwner(owner)),
  };
}

/** `caller.forget`: forgets what the flow that was dialled keeps of the caller. Answers `{ ok: true, forgotten }`. */
export function memoryServices(memory: Pick<CallerMemory, 'forget'>): Services {
  return {
    'caller.forget': async (_input, { session: { phoneNumber, simulated, conversation } }) => {
      if (phoneNumber === undefined || conversation === undefined)
        throw new TwinlineError(
          'ERR_INPUT',
          'caller.forget: this session has no phone number, so nothing is kept of it.',
        );
      const owner = { phoneNumber, conversation, ...(simulated && { simulated }) };
      return { ok: true, forgotten: await memory.forget(owner) };
    },
  };
}
