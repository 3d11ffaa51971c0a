// API keys of the domain service. Holds only hashes; rereads the file when it changes.

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
  /** The caller with this token; undefined for unknown ones. Takes constant time. */
  findCaller(token: string): Caller | undefined;
  /** The default voters of a tenant: each principal with the role voter, with one vote. */
  voters(tenant: string): readonly VoterPower[];
  /** The key generated for this run when no file is configured. */
  readonly developmentKey: string | undefined;
  /** Identifies the content of the file as last read; undefined without a file. */
  readonly held: HeldKeys | undefined;
}

/** Identifies a key file's content without revealing it. */
export interface HeldKeys {
  readonly digest: string;
  readonly keys: number;
}

export interface ApiKeysOptions {
  readonly file: string | undefined;
  readonly production: boolean;
  readonly log: Log;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Called after the keys were reloaded. */
  readonly onChange?: (keys: HeldKeys) => void;
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
 * The keys of API_KEYS_FILE, reloaded when it changes; a broken new version is logged and the previous keys stay. Without a
 * file, development gets one key with all roles and production none. Throws ERR_CONFIG with all problems of the file at
 * startup.
 */
export function apiKeys({ file, production, log, clock, onChange }: ApiKeysOptions): ApiKeys {
  if (file === undefined) return production ? makeKeys([], undefined) : developmentKeys();
  let entries = readApiKeys(file);
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
      entries = readApiKeys(file);
      log.info({ keys: entries.length }, 'API keys were read again');
      onChange?.(holdKeys(entries));
    } catch (error) {
      log.error({ err: error }, 'API_KEYS_FILE has changed and cannot be used; the keys before stay');
    }
  };
  return {
    developmentKey: undefined,
    get held() {
      return holdKeys(entries);
    },
    voters: (tenant) => {
      refresh();
      return listVoters(entries, tenant);
    },
    findCaller: (token) => {
      refresh();
      return find(entries, token);
    },
  };
}

const BEARER = /^Bearer +([\x21-\x7e]{1,1024})$/i;

/** Sets `ctx.state.caller`; throws `unauthorized` with one message for all unknown keys. */
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

/** A function that tells whether the key of a long-running request is still valid. */
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

function makeKeys(entries: readonly KnownKey[], developmentKey: string | undefined): ApiKeys {
  return {
    developmentKey,
    held: undefined,
    voters: (tenant) => listVoters(entries, tenant),
    findCaller: (token) => find(entries, token),
  };
}

function holdKeys(entries: readonly KnownKey[]): HeldKeys {
  const rows = entries.map(({ hash, caller: { principal, roles, tenant } }) => [
    hash.toString('hex'),
    principal,
    tenant,
    [...roles].sort(),
  ]);
  return { digest: sha256(JSON.stringify(rows.sort())).toString('base64url'), keys: entries.length };
}

// Compares all keys, so that timing reveals nothing.
function find(entries: readonly KnownKey[], token: string): Caller | undefined {
  const hash = sha256(token);
  let caller: Caller | undefined;
  for (const entry of entries) if (timingSafeEqual(entry.hash, hash)) caller = entry.caller;
  return caller;
}

function listVoters(entries: readonly KnownKey[], tenant: string): VoterPower[] {
  const voting = entries.filter(({ caller }) => caller.tenant === tenant && caller.roles.has('voter'));
  const dids = new Set(voting.map(({ caller }) => caller.principal));
  return [...dids].sort().map((did) => ({ did, power: '1' }));
}

function makeKnown({ key, principal, roles, tenant = DEFAULT_TENANT }: KeyEntry): KnownKey {
  return { hash: readHash(key)!, caller: { principal, roles: new Set(roles), tenant } };
}

/** The keys of a file. Throws ERR_CONFIG with every problem, one per line. */
export function readApiKeys(file: string): KnownKey[] {
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

// Checks beyond the schema. Never quotes key or principal: somebody may have confused the two.
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
