// API keys of the domain service, and who a bearer token stands for. Only hashes are held; the file may change while serving.

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { statSync } from 'node:fs';
import { Ajv } from 'ajv';
import type { Context, Middleware } from 'koa';
import type { Clock } from '../../lib/clock.ts';
import { type Caller, ROLES, type Role } from '../../lib/domain/caller.ts';
import { isReference } from '../../lib/domain/did/did.ts';
import { refuse } from '../../lib/domain/problems.ts';
import type { VoterPower } from '../../lib/domain/voting/governance.ts';
import { TwinlineError } from '../../lib/errors.ts';
import { readJson, wordsAt } from '../../lib/json/reader.ts';
import { readSettingFile } from '../config/modules.ts';
import type { Log } from '../telemetry/log.ts';

export interface ApiKeys {
  /** The caller behind a token; undefined when it is unknown. Takes as long for any token. */
  findCaller(token: string): Caller | undefined;
  /** The voters of a tenant, for rules that name none: each principal with the role, one vote each. */
  voters(tenant: string): readonly VoterPower[];
  /** The key that was made for this run because no file is set. */
  readonly developmentKey: string | undefined;
  /** What the file held when it was read last; undefined without a file. */
  readonly held: HeldKeys | undefined;
}

/** Names what a file of keys holds, without any of it. */
export interface HeldKeys {
  readonly digest: string;
  readonly keys: number;
}

export interface ApiKeysOptions {
  readonly file: string | undefined;
  readonly production: boolean;
  readonly log: Log;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Called when other keys were read while serving. */
  readonly onChange?: (held: HeldKeys) => void;
}

interface KeyEntry {
  readonly key: string;
  readonly principal: string;
  readonly roles: readonly Role[];
  readonly tenant?: string;
}

interface KnownKey {
  readonly hash: Buffer;
  readonly caller: Caller;
}

const SCHEMA = {
  type: 'array',
  items: {
    type: 'object',
    required: ['key', 'principal', 'roles'],
    properties: {
      key: { type: 'string', minLength: 16, maxLength: 512 },
      principal: { type: 'string', maxLength: 512 },
      roles: { type: 'array', items: { enum: ROLES }, uniqueItems: true },
      tenant: { type: 'string', pattern: '^[A-Za-z0-9_.-]{1,64}$' },
    },
    additionalProperties: false,
  },
};

const HASHED = /^sha256:([0-9a-f]{64})$/i;
const LOOK_AGAIN_MS = 1_000;
export const DEFAULT_TENANT = 'default';

/**
 * The keys of API_KEYS_FILE, read again when it has changed: an unreadable or broken new version is logged and
 * the keys before it stay. Without a file, development has one key with all roles, and production has none. Throws
 * ERR_CONFIG with every problem of the file at start.
 */
export function apiKeys({ file, production, log, clock, onChange }: ApiKeysOptions): ApiKeys {
  if (file === undefined) return production ? makeKeys([], undefined) : developmentKeys();
  let known = readKeys(file);
  let stamp = stampFile(file);
  let looked = clock.monotonic();
  const refresh = () => {
    const at = clock.monotonic();
    if (at - looked < LOOK_AGAIN_MS) return;
    looked = at;
    const now = stampFile(file);
    if (now === stamp) return;
    stamp = now;
    try {
      known = readKeys(file);
      log.info({ keys: known.length }, 'API keys were read again');
      onChange?.(holdKeys(known));
    } catch (error) {
      log.error({ err: error }, 'API_KEYS_FILE has changed and cannot be used; the keys before stay');
    }
  };
  return {
    developmentKey: undefined,
    get held() {
      return holdKeys(known);
    },
    voters: (tenant) => {
      refresh();
      return listVoters(known, tenant);
    },
    findCaller: (token) => {
      refresh();
      return find(known, token);
    },
  };
}

const BEARER = /^Bearer +([\x21-\x7e]{1,1024})$/i;

/** Puts the caller into `ctx.state.caller`; throws `unauthorized`, with the same words for every unknown key. */
export function authenticate(keys: ApiKeys): Middleware {
  return (ctx, next) => {
    const token = BEARER.exec(ctx.get('authorization'))?.[1];
    const caller = token === undefined ? undefined : keys.findCaller(token);
    if (!caller) throw refuse('unauthorized', 'Send an API key: Authorization: Bearer <key>.');
    ctx.state.caller = caller;
    ctx.state.isKnown = () => keys.findCaller(token!)?.tenant === caller.tenant;
    return next();
  };
}

/** Asks whether the key of a request that is long under way still counts. */
export function findRecheck(ctx: Pick<Context, 'state'>): () => boolean {
  return ctx.state.isKnown as () => boolean;
}

/** The caller of an authenticated request. */
export function readCaller(ctx: Pick<Context, 'state'>): Caller {
  return ctx.state.caller as Caller;
}

function developmentKeys(): ApiKeys {
  const key = `dev_${randomBytes(18).toString('base64url')}`;
  const roles = [...ROLES];
  return makeKeys([makeKnown({ key, principal: 'did:ixo:development', roles })], key);
}

function makeKeys(known: readonly KnownKey[], developmentKey: string | undefined): ApiKeys {
  return {
    developmentKey,
    held: undefined,
    voters: (tenant) => listVoters(known, tenant),
    findCaller: (token) => find(known, token),
  };
}

function holdKeys(known: readonly KnownKey[]): HeldKeys {
  const rows = known.map(({ hash, caller: { principal, roles, tenant } }) => [
    hash.toString('hex'),
    principal,
    tenant,
    [...roles].sort(),
  ]);
  return { digest: sha256(JSON.stringify(rows.sort())).toString('base64url'), keys: known.length };
}

// Every key is compared, so that the time says nothing about which one was near.
function find(known: readonly KnownKey[], token: string): Caller | undefined {
  const hash = sha256(token);
  let found: Caller | undefined;
  for (const entry of known) if (timingSafeEqual(entry.hash, hash)) found = entry.caller;
  return found;
}

function listVoters(known: readonly KnownKey[], tenant: string): VoterPower[] {
  const voting = known.filter(({ caller }) => caller.tenant === tenant && caller.roles.has('voter'));
  const dids = new Set(voting.map(({ caller }) => caller.principal));
  return [...dids].sort().map((did) => ({ did, power: '1' }));
}

function makeKnown({ key, principal, roles, tenant = DEFAULT_TENANT }: KeyEntry): KnownKey {
  return { hash: readHash(key)!, caller: { principal, roles: new Set(roles), tenant } };
}

function readKeys(file: string): KnownKey[] {
  const refuse = (problems: readonly string[]) =>
    new TwinlineError('ERR_CONFIG', problems.map((problem) => `API_KEYS_FILE ${file}: ${problem}`).join('\n'));
  const entries = parse(file, refuse);
  const validate = new Ajv({ allErrors: true }).compile(SCHEMA);
  const problems = validate(entries)
    ? []
    : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath || '/'} ${message}`);
  if (Array.isArray(entries)) problems.push(...entryProblems(entries));
  if (problems.length) throw refuse(problems);
  return (entries as KeyEntry[]).map(makeKnown);
}

// What the schema does not tell. Neither of the two is quoted: who mixes them up has written the key into the other.
function entryProblems(entries: readonly (Partial<KeyEntry> | null)[]): string[] {
  const firstLines = new Map<string, number>();
  return entries.flatMap((entry, at) => {
    const { key, principal } = entry ?? {};
    const hash = readHash(key)?.toString('hex') ?? `none ${at}`;
    const first = firstLines.get(hash) ?? at;
    firstLines.set(hash, first);
    const malformed = typeof key === 'string' && key.startsWith('sha256:') && !HASHED.test(key);
    return [
      ...(typeof principal === 'string' && !isReference(principal) ? [`/${at}/principal must be a DID`] : []),
      ...(malformed ? [`/${at}/key begins with sha256: and goes on with something else than 64 hex digits`] : []),
      ...(first < at ? [`/${at}/key is the same as that of /${first}`] : []),
    ];
  });
}

function readHash(key: unknown): Buffer | undefined {
  if (typeof key !== 'string') return undefined;
  const hashed = HASHED.exec(key)?.[1];
  return hashed === undefined ? sha256(key) : Buffer.from(hashed, 'hex');
}

function parse(file: string, refuse: (problems: readonly string[]) => TwinlineError): unknown {
  const reading = readJson(readSettingFile('API_KEYS_FILE', file));
  if ('value' in reading) return reading.value;
  throw refuse([`${wordsAt(reading.flaw)}. Write a list of {"key", "principal", "roles"}.`]);
}

function stampFile(file: string): string {
  try {
    const { mtimeMs, size, ino } = statSync(file);
    return `${mtimeMs} ${size} ${ino}`;
  } catch {
    return 'missing';
  }
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
