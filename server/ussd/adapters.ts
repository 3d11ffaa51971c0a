// The telecom dialects of this server: the shipped ones and the modules of ADAPTERS. Modules are validated on load and
// guarded at run time: their requests are validated, and the caller gets an answer whatever they throw.

import { TwinlineError } from '../../lib/errors.ts';
import { suggest } from '../../lib/flow/expression/suggest.ts';
import { isListWhere, isObject } from '../../lib/given.ts';
import type { Adapter, UssdReply } from '../../lib/ussd/adapter.ts';
import { createAdapters } from '../../lib/ussd/adapters.ts';
import { conEnd, INVALID_INPUT } from '../../lib/ussd/reply.ts';
import {
  type RawRequest,
  readPhoneNumber,
  readServiceCode,
  readSessionId,
  readText,
  refusal,
  type TextMode,
  type UssdRequest,
} from '../../lib/ussd/request.ts';
import { importDefault } from '../config/modules.ts';
import { Foreign } from '../telemetry/log.ts';

export interface AdapterOptions {
  /** Base folder of relative paths and package lookup. */
  readonly folder: string;
  /** Adapter instances, such as those passed by a program. */
  readonly given?: readonly Adapter[] | undefined;
  /** Receives errors that an adapter must not throw, without any caller input. */
  readonly onProblem?: (error: unknown, dialect: string) => void;
}

interface AdapterSettings {
  readonly adapters: readonly string[];
  readonly textMode: TextMode;
}

/**
 * All adapters by name, the shipped ones first. If another one throws, the error is reported and the caller sees "invalid
 * input". Throws ERR_CONFIG with every problem, one per line.
 */
export async function loadAdapters(
  { adapters: modules, textMode }: AdapterSettings,
  { folder, given: instances = [], onProblem = () => {} }: AdapterOptions,
): Promise<Readonly<Record<string, Adapter>>> {
  const adapters: Record<string, Adapter> = { ...createAdapters(textMode) };
  const problems: string[] = [];
  const add = (from: string, value: unknown) => {
    const flaws = findFlaws(value, adapters);
    problems.push(...flaws.map((flaw) => `${from} ${flaw}`));
    if (flaws.length) return;
    const adapter = value as Adapter;
    adapters[adapter.name] = guardAdapter(adapter, (error) => onProblem(new Foreign(error), adapter.name));
  };
  for (const module of modules) {
    const imported = await importDefault(module, folder);
    if (imported.kind === 'loaded') add(`ADAPTERS: "${module}"`, imported.value);
    else problems.push(`ADAPTERS: "${module}" ${imported.why}`);
  }
  for (const [at, adapter] of instances.entries()) add(`adapters[${at}]`, adapter);
  if (problems.length) throw new TwinlineError('ERR_CONFIG', problems.join('\n'));
  return adapters;
}

const NAME = /^[a-z][a-z0-9-]{0,31}$/;
/** Path segments under /api/ussd that are not dialects. */
export const BESIDE_DIALECTS: readonly string[] = ['debug', 'sessions', 'accounts'];
const METHODS = ['GET', 'POST', 'PUT'];
const PATH = /^(?:\/(?::\w+|[\w.~-]+))*$/;
const FUNCTIONS = ['read', 'write', 'refuse'] as const;

/** Reasons why the value is not an adapter, as sentence endings; empty if it is one. */
function findFlaws(value: unknown, others: Readonly<Record<string, Adapter>>): string[] {
  if (!isObject(value))
    return [
      'has no default export that is an adapter. Write: export default { name, routes, read(raw), write(reply, request), refuse(reply, raw) }',
    ];
  const { name, routes } = value;
  const flaws: string[] = [];
  if (typeof name !== 'string' || !NAME.test(name))
    flaws.push('has an invalid "name": use up to 32 lower-case letters, digits and dashes, starting with a letter.');
  else if (BESIDE_DIALECTS.includes(name) || Object.hasOwn(others, name))
    flaws.push(`has the name "${name}", but /api/ussd/${name} already exists. Use another name.`);
  if (!isListWhere(routes, isRoute) || (routes as readonly unknown[]).length === 0)
    flaws.push(
      'has invalid "routes": they must be a non-empty list of { method: "GET", "POST" or "PUT", path: "" or "/step/:id" }.',
    );
  for (const method of FUNCTIONS)
    if (typeof value[method] !== 'function')
      flaws.push(`has no function "${method}".${suggest(method, Object.keys(value))}`);
  return flaws.length ? flaws : findRefusalFlaws(value as unknown as Adapter);
}

const isRoute = (value: unknown) =>
  isObject(value) &&
  METHODS.includes(value.method as string) &&
  typeof value.path === 'string' &&
  PATH.test(value.path) &&
  (value.about === undefined || isObject(value.about));

const EMPTY: RawRequest = { method: 'POST', path: [], query: new URLSearchParams(), headers: {}, body: '' };

// Refusals are written before anything is known of the request: without one, callers get no answer.
function findRefusalFlaws(adapter: Adapter): string[] {
  try {
    const reply: unknown = adapter.refuse(INVALID_INPUT, EMPTY);
    return isReply(reply) ? [] : ['has a "refuse" that does not return { status, type, body } to an empty request.'];
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return [`has a "refuse" that throws on an empty request: ${why}. It must never throw.`];
  }
}

const isReply = (value: unknown) =>
  isObject(value) &&
  Number.isInteger(value.status) &&
  typeof value.body === 'string' &&
  [value.type, ...Object.values(value.headers ?? {})].every((text) => typeof text === 'string' && HEADER.test(text));

// Node rejects any other character.
const HEADER = /^[\x20-\x7e]*$/;

/** Wraps an adapter so that it returns only valid requests and always answers. */
function guardAdapter(adapter: Adapter, onProblem: (error: unknown) => void): Adapter {
  const answer = (make: () => unknown, reply: UssdReply) => {
    try {
      const raw = make();
      if (isReply(raw)) return raw as ReturnType<Adapter['refuse']>;
      onProblem(new Error('The adapter did not return { status, type, body }'));
    } catch (error) {
      onProblem(error);
    }
    return conEnd(reply);
  };
  const { name, routes } = adapter;
  return {
    ...{ name, routes },
    read: (raw) => {
      try {
        return checkRequest(adapter.read(raw));
      } catch (error) {
        if (error instanceof TwinlineError && error.code === 'ERR_INPUT') throw refuseAnew(error);
        onProblem(error);
        throw refusal('the request', 'a request that the adapter can read');
      }
    },
    write: (reply, request) => answer(() => adapter.write(reply, request), reply),
    refuse: (reply, raw) => answer(() => adapter.refuse(reply, raw), reply),
  };
}

// Messages of our own readers never contain caller input; those of other adapters might.
function refuseAnew(error: TwinlineError): TwinlineError {
  return error.message.startsWith(OWN_WORDS) ? error : refusal('the request', 'a request that its adapter accepts');
}

const OWN_WORDS = refusal('', '').message.slice(0, 'Cannot read the USSD request:'.length);
const EVENTS = ['turn', 'end', 'status'];
const MODES = ['cumulative', 'latest'];
const SERVICE_ID = /^\w{1,64}$/;

/** Validates what every dialect promises of a request. Throws ERR_INPUT. */
function checkRequest(request: UssdRequest): UssdRequest {
  const { event, mode, phoneNumber, serviceCode, dialled } = request;
  if (!EVENTS.includes(event)) throw refusal('event', EVENTS.join(', '), event);
  if (!MODES.includes(mode)) throw refusal('mode', MODES.join(' or '), mode);
  if (phoneNumber !== '' || event === 'turn') readPhoneNumber(phoneNumber);
  if (serviceCode !== '' && !SERVICE_ID.test(serviceCode)) readServiceCode(serviceCode);
  if (dialled !== undefined) readServiceCode(dialled, 'dialled');
  return { ...request, sessionId: readSessionId(request.sessionId), text: readText(request.text) };
}
