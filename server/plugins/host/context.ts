// What plugins are handed: the server, the request or turn they work for, and a voice in the rooms of sessions.

import { ROOM_EVENTS, type Room, type RoomEvent } from '../../../lib/agent/room.ts';
import { TwinlineError } from '../../../lib/errors.ts';
import type { DocumentStore, JsonObject, Kind } from '../../../lib/store/store.ts';
import { MISSING } from '../../user/authenticate.ts';
import { plainAgentError } from '../../user/errors.ts';
import type { PluginContext, PluginHost, RequestInfo } from '../plugin.ts';

/** A context whose fields say what is going on whenever they are read. */
export function pluginContext(host: PluginHost, room: Pick<Room, 'tell'>, now: () => RequestInfo): PluginContext {
  return Object.defineProperties(
    { ...host, ...voice(room, now), requireDid: () => requireDid(now()) },
    FIELDS_OF(now),
  ) as PluginContext;
}

const FIELDS = [
  'did',
  'sessionId',
  'requestId',
  'timezone',
  'matrixAccessToken',
  'matrixHomeserver',
  'method',
  'path',
  'idempotencyKey',
  'signal',
] as const satisfies readonly (keyof RequestInfo)[];

const FIELDS_OF = (now: () => RequestInfo): PropertyDescriptorMap =>
  Object.fromEntries(FIELDS.map((name) => [name, { enumerable: true, get: () => now()[name] }]));

function requireDid({ did }: RequestInfo): string {
  if (did !== undefined) return did;
  throw plainAgentError(401, MISSING);
}

function voice(room: Pick<Room, 'tell'>, now: () => RequestInfo): Pick<PluginContext, 'emit'> {
  const emit = async (event: RoomEvent, payload: JsonObject) => {
    const { sessionId = payload.sessionId, requestId = payload.requestId } = now();
    if (typeof sessionId !== 'string' || sessionId === '')
      throw new TwinlineError(
        'ERR_INPUT',
        `The event ${event} is for no session: there is no current one, and its payload names none. Put sessionId into it.`,
      );
    return room.tell(sessionId, event, { ...payload, sessionId, ...(requestId !== undefined && { requestId }) });
  };
  const all = ROOM_EVENTS.map((event) => [event, (payload: JsonObject = {}) => emit(event, payload)]);
  return { emit: Object.fromEntries(all) as PluginContext['emit'] };
}

/** The documents of some kinds; others are refused with ERR_INPUT, as undeclared ones are. */
export function ownDocuments(documents: DocumentStore, kinds: readonly Kind[]): PluginHost['documents'] {
  const names = new Set(kinds.map(({ name }) => name));
  const own = (kind: Kind): Kind => {
    if (names.has(kind.name)) return kind;
    throw new TwinlineError(
      'ERR_INPUT',
      `The kind ${JSON.stringify(kind.name)} is not one of this plugin. Declare it in "kinds".`,
    );
  };
  return {
    insert: async (kind, id, body) => documents.insert(own(kind), id, body),
    get: async (kind, id) => documents.get(own(kind), id),
    replace: async (kind, id, expected, body) => documents.replace(own(kind), id, expected, body),
    remove: async (kind, id, expected) => documents.remove(own(kind), id, expected),
    find: async (kind, query) => documents.find(own(kind), query),
    count: async (kind, query) => documents.count(own(kind), query),
  };
}
