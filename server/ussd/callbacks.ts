// Where others bring the answers of calls that wait for a callback: one POST to an address that names one call, and is its only secret.

import type { Context } from 'koa';
import type { Engine } from '../../lib/engine/engine.ts';
import { completeCall, findWaitingService } from '../../lib/engine/session/complete.ts';
import { TwinlineError } from '../../lib/errors.ts';
import type { ServiceContract } from '../../lib/flow/lint/shapes.ts';
import { isObject } from '../../lib/given.ts';
import type { Json } from '../../lib/json/json.ts';
import { readJson, wordsAt } from '../../lib/json/reader.ts';
import { record, type Schema } from '../../lib/json/schema.ts';
import { USSD_LIMITS } from '../../lib/ussd/limits.ts';
import { jsonTypes, REFUSED } from '../http/common-answers.ts';
import { Refusal } from '../http/errors.ts';
import { mediaType } from '../http/json-body.ts';
import type { RouteGroup } from '../http/route-table.ts';
import type { Log } from '../telemetry/log.ts';
import { readUssdBody } from './body.ts';

export interface CallbackDeps {
  readonly engine: Engine;
  /** What services answer, for those that say so. */
  readonly contracts: { readonly [service: string]: ServiceContract };
  readonly log: Log;
}

const PATH = '/api/callbacks';

/** The address that answers the call of a token, on a server that others reach at `publicUrl`. */
export const callbackUrl = (publicUrl: string, token: string): string => `${publicUrl}${PATH}/${token}`;

const ANY: Schema = { description: 'What the flow gets as the answer of the call: any JSON, or the fields of a form' };
const refused = (description: string) => ({ description, types: { 'application/json': REFUSED } });

/** `POST /api/callbacks/:token`. */
export const CALLBACK_ROUTES: RouteGroup<CallbackDeps> = {
  tag: 'Callbacks',
  access: 'public',
  description: `Calls of menus whose answer comes from outside, such as a payment that is confirmed on another phone. The address is made for one
call, can be used once, and ends with the call. It is a secret: keep it out of logs.`,
  parameters: {
    token: {
      description: 'Names the call; only this server can make one',
      schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,4096}$', examples: ['djEkYzk2NDZjNzUkQzduYU1NN01X'] },
    },
  },
  routes: [
    {
      method: 'POST',
      path: `${PATH}/:token`,
      id: 'answerCall',
      summary: 'Answer a call that waits for a callback',
      body: {
        types: { 'application/json': ANY, 'application/x-www-form-urlencoded': ANY },
        example: { paid: true },
        maxBytes: USSD_LIMITS.callbackBodyBytes,
        checkedBy: 'handler',
      },
      answers: {
        200: {
          description: 'The call has this answer',
          types: jsonTypes(record('What became of it', { status: { const: 'completed' } })),
        },
        400: refused('The body is malformed, or not what the service answers'),
        404: refused('The address names no call of this server'),
        409: refused('The call was answered before; nothing has changed'),
        410: refused('The call waits no more: its time is over, or the caller has gone on'),
        413: refused('The body is too large'),
        415: refused('The body is neither JSON nor a form'),
      },
      handle: answerCall,
    },
  ],
};

async function answerCall(ctx: Context, { engine, contracts, log }: CallbackDeps): Promise<void> {
  const { token } = ctx.params as { token: string };
  const output = await readAnswer(ctx);
  const service = await findCalled(engine, token);
  const flaw = service === undefined ? undefined : findFlaw(contracts[service], output);
  if (flaw !== undefined) throw new Refusal('bad-request', `The answer of "${service}" ${flaw}`);
  const outcome = await completeCall(engine, token, { ok: true, output });
  log.info({ service, outcome, requestId: ctx.state.requestId }, 'a callback');
  if (outcome === 'already-completed') throw new Refusal('conflict', 'The call was answered before');
  if (outcome === 'not-waiting') throw new Refusal('gone', 'The call waits no more for an answer');
  ctx.body = { status: outcome };
}

async function findCalled(engine: Engine, token: string): Promise<string | undefined> {
  try {
    return await findWaitingService(engine, token);
  } catch (error) {
    if (error instanceof TwinlineError && error.code === 'ERR_INPUT')
      throw new Refusal('not-found', 'There is no such call');
    throw error;
  }
}

const FORM = 'application/x-www-form-urlencoded';

async function readAnswer(ctx: Context): Promise<Json> {
  const type = mediaType(ctx);
  if (type !== FORM && type !== '' && !/^application\/(?:[\w.-]+\+)?json$/.test(type))
    throw new Refusal(
      'unsupported-media-type',
      `A body of type ${JSON.stringify(type)} is not read here. Send JSON or a form`,
    );
  const body = await readUssdBody(ctx.req, USSD_LIMITS.callbackBodyBytes);
  if (body.kind !== 'text')
    throw new Refusal('too-large', `A body has at most ${USSD_LIMITS.callbackBodyBytes} bytes of UTF-8`);
  const { text } = body;
  if (type === FORM && !/^\s*[{[]/.test(text)) return readForm(text);
  const reading = readJson(text);
  if ('flaw' in reading) throw new Refusal('bad-request', `The body ${wordsAt(reading.flaw)}`);
  return reading.value;
}

function readForm(text: string): Json {
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(text)) {
    if (fields.has(name) || name === '__proto__')
      throw new Refusal('bad-request', 'A form has each field once, and none of the name __proto__');
    fields.set(name, value);
  }
  return Object.fromEntries(fields);
}

// What stands in the contract must be of its kind where it is there; what else is sent is kept.
function findFlaw(contract: ServiceContract | undefined, answer: Json): string | undefined {
  if (!contract?.answer) return undefined;
  if (!isObject(answer)) return 'is an object';
  for (const [name, { kind }] of Object.entries(contract.answer)) {
    const value = (answer as { readonly [name: string]: Json })[name];
    if (kind === 'any' || value === undefined || value === null) continue;
    const own = typeof value === 'string' ? 'text' : Array.isArray(value) ? 'list' : typeof value;
    if (own !== kind) return `has "${name}", which is a ${kind}`;
  }
  return undefined;
}
