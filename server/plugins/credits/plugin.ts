// The plugin `credits`: accounts of users that operators fill and runs empty, and the gate that asks for them.

import { createHash, randomUUID } from 'node:crypto';
import type { TokenUsage } from '../../../lib/agent/responder.ts';
import type { JsonObject } from '../../../lib/json/json.ts';
import { record } from '../../../lib/json/schema.ts';
import type { Audit } from '../../audit/audit.ts';
import type { CreditsSettings } from '../../config/agent-settings.ts';
import { readInput } from '../../http/check-input.ts';
import { REFUSED } from '../../http/common-answers.ts';
import { AGENT_ERROR, BODY_ANSWERS, jsonAnswer } from '../../user/errors.ts';
import type { Plugin, PluginContext, PluginRoute } from '../plugin.ts';
import {
  ACCOUNT,
  type Account,
  type Accounts,
  accounts,
  type Booking,
  bookingMutex,
  ENTRY,
  MICRO,
  type Terms,
} from './account.ts';
import { type CreditGate, creditGate } from './gate.ts';

const TEXT = { type: 'string' };
const STATUSES = ['active', 'trial', 'inactive', 'processing'];
const CREDITS_MAX = 1_000_000_000;

const VIEW = record(
  'An account of credits',
  {
    did: TEXT,
    totalCredits: {
      type: 'number',
      description: 'What is left, without what is held for runs that go on; never below zero',
    },
    status: { enum: ['none', ...STATUSES], description: '`none`: there is no account' },
    currentPlan: { type: ['string', 'null'] },
    claims: { type: 'array', items: TEXT, description: 'Claims to settle' },
  },
  [],
);

function viewAccount(did: string, account: Account | undefined): JsonObject {
  return {
    did,
    totalCredits: (account?.balance ?? 0) / MICRO,
    status: account?.status ?? 'none',
    currentPlan: account?.plan ?? null,
    claims: account?.claims ?? [],
  };
}

const GRANT = {
  type: 'object',
  description: 'Credits to add, and the terms of the account',
  required: ['amount'],
  additionalProperties: false,
  properties: {
    amount: {
      type: 'number',
      minimum: -CREDITS_MAX,
      maximum: CREDITS_MAX,
      description: 'Credits, to a millionth; below zero to take some back, 0 to change the terms only',
    },
    status: { enum: STATUSES },
    plan: { type: ['string', 'null'], maxLength: 200 },
    claims: { type: 'array', maxItems: 100, items: { type: 'string', minLength: 1, maxLength: 256 } },
  },
};

interface GrantInput {
  readonly headers: { readonly 'Idempotency-Key'?: string };
  readonly body: { readonly amount: number } & Terms;
}

/** Where users read their account: never closed to those whose account is empty. */
const PATH = '/credits';

interface Desk {
  readonly gate: CreditGate;
  readonly audit: Pick<Audit, 'append'>;
  open(ctx: PluginContext): Accounts;
}

function creditRoutes({ gate, audit, open }: Desk): readonly PluginRoute[] {
  return [
    {
      method: 'GET',
      path: PATH,
      id: 'getCredits',
      summary: 'Your account',
      answers: { 200: jsonAnswer('The account', VIEW) },
      async handle(koa, ctx) {
        const did = ctx.requireDid();
        koa.body = viewAccount(did, await open(ctx).read(did));
      },
    },
    {
      method: 'POST',
      path: `${PATH}/:did`,
      access: 'operator',
      id: 'addCredits',
      summary: 'Add credits to an account, as an operator',
      parameters: {
        did: {
          description: 'The DID of a user, or a URN',
          schema: {
            type: 'string',
            pattern: '^(did|urn):[\\w.:%-]{1,240}$',
            examples: ['did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK'],
          },
        },
      },
      headers: {
        'Idempotency-Key': {
          description:
            'A grant of one key is counted once, however often it is sent; with another amount it is refused',
          schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,200}$' },
        },
      },
      body: { types: { 'application/json': GRANT }, example: { amount: 1_000 } },
      answers: {
        201: jsonAnswer('The account', VIEW),
        422: jsonAnswer(
          'The key was used with another amount, or the account would hold too much, or less than nothing',
          AGENT_ERROR,
        ),
        404: jsonAnswer('There are no operators here', { anyOf: [AGENT_ERROR, REFUSED] }),
        ...BODY_ANSWERS,
      },
      async handle(koa, ctx) {
        const { headers, body } = readInput<GrantInput>(koa);
        const { 'Idempotency-Key': key = randomUUID() } = headers;
        const { amount, ...terms } = body;
        const { did } = koa.params as { did: string };
        const micros = Math.round(amount * MICRO);
        const booking: Booking = { id: grantId(did, key), did, amount: micros, without: 'refuse', terms };
        const desk = open(ctx);
        const requireSame = (booked: number) => {
          if (booked !== booking.amount)
            throw ctx.refuse(422, `This Idempotency-Key has added ${booked / MICRO} credits. Send another key.`);
        };
        const booked = await desk.bookedAmount(booking.id);
        const before = (await desk.read(did))?.balance ?? 0;
        if (booked !== undefined) requireSame(booked);
        else if (before + micros > CREDITS_MAX * MICRO)
          throw ctx.refuse(422, `An account holds ${CREDITS_MAX} credits at most; this one has ${before / MICRO}.`);
        else if (micros < 0 && before + micros < 0)
          throw ctx.refuse(422, `Cannot take ${-amount} credits back: this account has ${before / MICRO}. Take less.`);
        // A grant that is sent again is noted again: the first try may have died before it was booked.
        const details = {
          did,
          credits: booking.amount / MICRO,
          repeated: booked !== undefined,
          before: before / MICRO,
          ...terms,
        };
        await audit.append({ action: 'credits.added', by: String(koa.state.operator), details });
        const { account, amount: added } = await desk.book(booking);
        gate.forget(did);
        // Another request with this key may have come meanwhile.
        requireSame(added);
        koa.status = 201;
        koa.body = viewAccount(did, account);
      },
    },
  ];
}

/** Grants of operators are noted in `audit` before they are booked. */
export function creditsPlugin(settings: CreditsSettings, audit: Pick<Audit, 'append'>): Plugin {
  const gate = creditGate(settings.heldPerRun);
  const mutex = bookingMutex();
  const open = (ctx: PluginContext) => accounts(ctx, mutex);
  return {
    name: 'credits',
    version: '1.0.0',
    kinds: [ACCOUNT, ENTRY],
    documentation: {
      description:
        'Credits of users. Without an active account and more than 10 credits, routes that need a token answer 402 with `claims`.',
    },
    routes: creditRoutes({ gate, audit, open }),
    async gate(ctx) {
      if (ctx.path !== PATH) await gate.check(ctx, open(ctx));
    },
    // What runs at the same time may cost is held first: else each of them would see the whole balance.
    async begin({ runId, owner }, ctx) {
      const held = -settings.heldPerRun * MICRO;
      const { account, amount } = await open(ctx).book({
        id: `hold/${runId}`,
        did: owner,
        amount: held,
        without: 'refuse',
      });
      if (amount < 0) return;
      gate.forget(owner);
      throw gate.refuseEmpty(ctx, account);
    },
    // A reply whose tokens cost more than was held takes what else is left, and no more.
    async settle({ runId, owner, status, usage }, ctx) {
      const desk = open(ctx);
      const held = -((await desk.bookedAmount(`hold/${runId}`)) ?? 0);
      const cost = tokensCost(settings, usage) + (status === 'finished' ? settings.perRun * MICRO : 0);
      if (held === 0 && cost === 0) return;
      await desk.book({ id: `run/${runId}`, did: owner, amount: held - cost, without: 'cut' });
      gate.forget(owner);
    },
  };
}

// Keys are the operator's: one may be used again for another account.
function grantId(did: string, key: string): string {
  const hash = createHash('sha256').update(JSON.stringify([did, key]));
  return `grant/${hash.digest('hex')}`;
}

// In millionths of a credit, so that it is a whole number.
function tokensCost({ perMillionInput, perMillionOutput }: CreditsSettings, usage: TokenUsage): number {
  return usage.inputTokens * perMillionInput + usage.outputTokens * perMillionOutput;
}
