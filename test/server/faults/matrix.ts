// What each door answers while something that it needs fails, and until when: one table. matrix.kills.test.ts plays every row of it
// on real servers, and the guide on guarantees shows it.

import { DELEGATION_LIMITS } from '../../../lib/delegation/limits.ts';
import { STORE_LIMITS } from '../../../lib/store/limits.ts';

export const DOORS = { ussd: 'USSD', domain: '/v1', agent: 'agent', gateway: 'query gateway' } as const;
export type Door = keyof typeof DOORS;

/** What happens to a dependency, in the words of the guide. */
export const FAULTS = {
  refuse: 'refuses connections',
  freeze: 'takes connections and is silent',
  slow: 'is slow',
  reset: 'cuts connections',
  'lose-close': 'acts, and cuts before it says so',
  'lose-stall': 'acts, and never says so',
  full: 'takes no writes',
} as const;
export type Fault = keyof typeof FAULTS;

/** Settings of the servers on which the rows are played, in milliseconds. */
export interface Windows {
  readonly turnMs: number;
  /** Of the node of the query gateway. */
  readonly nodeMs: number;
  /** Of a call of a flow, each try. */
  readonly callMs: number;
}

export const SHORT: Windows = { turnMs: 2_000, nodeMs: 800, callMs: 900 };
/** For rows in which no window passes, on a machine of any speed. */
export const PATIENT: Windows = { turnMs: 60_000, nodeMs: 60_000, callMs: 60_000 };
/** What a busy machine may add to a deadline. */
export const GRACE_MS = 1_000;

/** Until when an answer comes with the windows of {@link SHORT}: milliseconds, and how they are told. */
export const DEADLINES = {
  soon: { ms: 1_000, words: '1 s' },
  turn: { ms: SHORT.turnMs, words: '`USSD_TURN_DEADLINE_MS`' },
  call: { ms: 2 * SHORT.callMs + 500, words: "the call's `timeout`, each try" },
  redis: { ms: 2 * STORE_LIMITS.redisCommandMs, words: '2 s' },
  connect: { ms: 2 * STORE_LIMITS.mongoConnectMs, words: '5 s' },
  mongo: { ms: 2 * STORE_LIMITS.mongoAnswerMs + 2_000, words: '12 s' },
  node: { ms: SHORT.nodeMs, words: '`deadlineMs`' },
  model: { ms: 10_000, words: '10 s' },
  keys: { ms: DELEGATION_LIMITS.issuerKeysMs, words: '3 s' },
} as const;

export interface Expected {
  /** The status with a word of the body, or the first line of a screen; ` or ` stands between two that may be. */
  readonly answer: string;
  readonly within: keyof typeof DEADLINES;
  /** What has become of the same request once all is well. */
  readonly again: string;
}

export interface Dependency {
  readonly name: string;
  /** What /readyz names meanwhile, such as `sessions redis`; without it the server stays ready. */
  readonly away?: readonly string[];
  /** Faults during which it answers, if late, and is not away. */
  readonly there?: readonly Fault[];
  /** Doors that do not need it, and why. */
  readonly unused: { readonly [door in Door]?: string };
  /** Fault → what the doors that need it answer, or why there is nothing to play. */
  readonly rows: { readonly [fault in Fault]: { readonly [door in Door]?: Expected } | string };
}

const UNAVAILABLE = 'END Service temporarily unavailable. Please try again later.';

const counted = (answer: string): Expected => ({ answer, within: 'turn', again: 'CON Count 2' });
const login: Expected = { answer: 'CON Please wait. or END Trouble', within: 'turn', again: 'END In' };
const twin = (answer: string, within: Expected['within']): Expected => ({ answer, within, again: '201' });
const reply = (answer: string, within: Expected['within']): Expected => ({ answer, within, again: '200 Heard hello' });
const query = (answer: string, within: Expected['within']): Expected => ({ answer, within, again: '200 fine' });

const REDIS_AWAY = {
  ussd: counted(UNAVAILABLE),
  domain: twin('201', 'soon'),
  agent: reply('503', 'redis'),
  gateway: query('200 fine', 'soon'),
};
const mongoAway = (within: Expected['within']) => ({
  ussd: login,
  domain: twin('503 unavailable', within),
  agent: reply('503', within),
});

const called = (answer: string, within: Expected['within'], again: string): Expected => ({ answer, within, again });
const CALL_FAILS = {
  ussd: called('END Trouble', 'turn', 'END Trouble'),
  agent: called('200 Trouble', 'call', '200 Trouble'),
};
const CALL_HANGS = { ...CALL_FAILS, ussd: called('CON Please wait.', 'turn', 'END Trouble') };

const chat = (answer: string, again = '200 fine'): Expected => ({ answer, within: 'model', again });
const MODEL_FAILS = { agent: chat('503 network') };
const SILENT = 'waits until its user aborts it: 200';
const TOOL_FAILS = {
  agent: chat('200 {"error":"The MCP server \\"one\\" is not available: the connection failed."}', '200 hello'),
};
const told = (times: number) => ({ domain: { ...twin('201', 'soon'), again: `201, told ${times} times` } });
const NODE_AWAY = { gateway: query('503 14', 'node') };
const NODE_SILENT = { gateway: query('504 4', 'node') };
const issued = (answer: string): Expected => ({ answer, within: 'keys', again: '201' });

const IN_PROCESS = 'it is a part of the process';
const SAYS_SO = 'it says so itself, with a status of 500 or more: as one that cuts';
const ONLY_READ = 'it is only read: as one that cuts, or is silent';
const NO_PHONE = { ussd: 'a phone needs none of it' };
const NO_TWIN = { domain: 'twins need none of it' };
const NO_CHAT = { agent: 'chats need none of it' };
const NO_QUERY = { gateway: 'queries need none of it' };

export const MATRIX = {
  redis: {
    name: 'Redis',
    away: ['sessions redis'],
    unused: {},
    rows: {
      ...{ refuse: REDIS_AWAY, freeze: REDIS_AWAY, slow: REDIS_AWAY, reset: REDIS_AWAY },
      ...{ 'lose-close': REDIS_AWAY, 'lose-stall': REDIS_AWAY, full: REDIS_AWAY },
    },
  },
  mongo: {
    name: 'MongoDB',
    away: ['documents mongo'],
    there: ['slow'],
    unused: NO_QUERY,
    rows: {
      refuse: mongoAway('connect'),
      freeze: mongoAway('mongo'),
      slow: {
        ussd: { ...login, answer: `END In or ${login.answer}` },
        domain: twin('201', 'mongo'),
        agent: reply('200 Heard hello', 'mongo'),
      },
      reset: mongoAway('connect'),
      'lose-close': mongoAway('connect'),
      'lose-stall': mongoAway('mongo'),
      full: 'mongod ends when its disk is full: as one that refuses connections',
    },
  },
  disk: {
    name: 'The disk of LMDB and SQLite',
    away: ['sessions lmdb', 'documents sqlite'],
    unused: NO_QUERY,
    rows: {
      refuse: IN_PROCESS,
      freeze: 'the process is held by the system, and `/livez` is silent',
      slow: 'each write is awaited: doors answer later',
      ...{ reset: IN_PROCESS, 'lose-close': IN_PROCESS, 'lose-stall': IN_PROCESS },
      full: { ussd: counted(UNAVAILABLE), domain: twin('503 unavailable', 'soon'), agent: reply('503', 'soon') },
    },
  },
  service: {
    name: 'A service that a flow calls',
    unused: { ...NO_TWIN, ...NO_QUERY },
    rows: {
      refuse: CALL_FAILS,
      freeze: CALL_HANGS,
      slow: {
        ussd: called('END Answered fine', 'turn', 'END Answered fine'),
        agent: called('200 Answered fine', 'call', '200 Answered fine'),
      },
      ...{ reset: CALL_FAILS, 'lose-close': CALL_FAILS, 'lose-stall': CALL_HANGS },
      full: SAYS_SO,
    },
  },
  model: {
    name: 'The model',
    unused: { ...NO_PHONE, ...NO_TWIN, ...NO_QUERY },
    rows: {
      refuse: MODEL_FAILS,
      freeze: { agent: chat(SILENT) },
      slow: { agent: chat('200 fine') },
      ...{ reset: MODEL_FAILS, 'lose-close': MODEL_FAILS },
      'lose-stall': { agent: chat(SILENT) },
      full: SAYS_SO,
    },
  },
  tools: {
    name: 'An MCP server',
    unused: { ...NO_PHONE, ...NO_TWIN, ...NO_QUERY },
    rows: {
      refuse: TOOL_FAILS,
      freeze: { agent: chat(SILENT, '200 hello') },
      slow: { agent: chat('200 hello', '200 hello') },
      ...{ reset: TOOL_FAILS, 'lose-close': TOOL_FAILS },
      'lose-stall': { agent: chat(SILENT, '200 hello') },
      full: SAYS_SO,
    },
  },
  webhooks: {
    name: 'A receiver of webhooks',
    unused: { ...NO_PHONE, ...NO_CHAT, ...NO_QUERY },
    rows: {
      ...{ refuse: told(1), freeze: told(1), slow: told(1), reset: told(1) },
      ...{ 'lose-close': told(2), 'lose-stall': told(2) },
      full: SAYS_SO,
    },
  },
  node: {
    name: 'The node of the query gateway',
    unused: { ...NO_PHONE, ...NO_TWIN, ...NO_CHAT },
    rows: {
      ...{ refuse: NODE_AWAY, freeze: NODE_SILENT, slow: { gateway: query('200 fine', 'node') }, reset: NODE_AWAY },
      ...{ 'lose-close': NODE_AWAY, 'lose-stall': NODE_SILENT },
      full: 'it says so itself, and its code is answered',
    },
  },
  issuers: {
    name: 'The host of a did:web issuer',
    unused: { ...NO_PHONE, ...NO_TWIN, ...NO_QUERY },
    rows: {
      ...{ refuse: { agent: issued('503') }, freeze: { agent: issued('503') }, slow: { agent: issued('201') } },
      reset: { agent: issued('503') },
      ...{ 'lose-close': ONLY_READ, 'lose-stall': ONLY_READ, full: ONLY_READ },
    },
  },
} as const satisfies { readonly [name: string]: Dependency };
export type DependencyName = keyof typeof MATRIX;

/** The faults of a dependency that are played. */
export function playedFaults({ rows }: Dependency): Fault[] {
  return (Object.keys(FAULTS) as Fault[]).filter((fault) => typeof rows[fault] !== 'string');
}
