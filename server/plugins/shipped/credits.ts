// The plugin `credits`: user accounts that operators fill and runs consume, and the gate that checks them.

import { createHash, randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { TokenUsage } from '../../../lib/agent/responder.ts';
import { growing } from '../../../lib/common-limits.ts';
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
} from './credit-account.ts';

const TEXT = { type: 'string' };
const STATUSES = ['active', 'trial', 'inactive', 'processing'];
const CREDITS_MAX = 1_000_000_000;

const VIEW = record(
  'A credit account',
  {
    did: TEXT,
    totalCredits: {
      type: 'number',
      description: 'The balance, minus credits held for current runs; never negative',
    },
    status: { enum: ['none', ...STATUSES], description: '`none`: no account exists' },
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
      description: 'Credits, to a millionth; negative to take back, 0 to change only the terms',
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

/** Where users read their account: never gated, or an empty account could not be seen. */
const PATH = '/credits';

interface Desk {
  readonly gate: CreditGate;
  readonly audit: Pick<Audit, 'append'>;
  open(ctx: PluginContext): Accounts;
}

function creditRoutes(desk: Desk): readonly PluginRoute[] {
  const { open } = desk;
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
    grantRoute(desk),
  ];
}

function grantRoute({ gate, audit, open }: Desk): PluginRoute {
  return {
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
        description: 'Grants with the same key count once; another amount with the same key is refused',
        schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,200}$' },
      },
    },
    body: { types: { 'application/json': GRANT }, example: { amount: 1_000 } },
    answers: {
      201: jsonAnswer('The account', VIEW),
      422: jsonAnswer(
        'The key was used with another amount, or the balance would be too large or negative',
        AGENT_ERROR,
      ),
      404: jsonAnswer('Operators are not configured', { anyOf: [AGENT_ERROR, REFUSED] }),
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
      const requireSame = (bookedMicros: number) => {
        if (bookedMicros !== booking.amount)
          throw ctx.refuse(
            422,
            `This Idempotency-Key has already added ${bookedMicros / MICRO} credits. Use another key.`,
          );
      };
      const booked = await desk.bookedAmount(booking.id);
      const before = (await desk.read(did))?.balance ?? 0;
      if (booked !== undefined) requireSame(booked);
      else if (before + micros > CREDITS_MAX * MICRO)
        throw ctx.refuse(422, `An account holds at most ${CREDITS_MAX} credits; this one has ${before / MICRO}.`);
      else if (micros < 0 && before + micros < 0)
        throw ctx.refuse(422, `Cannot take back ${-amount} credits: this account has ${before / MICRO}. Take less.`);
      // A repeated grant is audited again: the first attempt may have died before it was booked.
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
      // Another request with this key may have come first.
      requireSame(added);
      koa.status = 201;
      koa.body = viewAccount(did, account);
    },
  };
}

/** Operator grants are recorded in `audit` before they are booked. */
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
        'User credits. Without an active account and more than 10 credits, routes that require a token answer 402 with `claims`.',
    },
    routes: creditRoutes({ gate, audit, open }),
    async gate(ctx) {
      if (ctx.path !== PATH) await gate.check(ctx, open(ctx));
    },
    // Hold the cost first, or concurrent runs would each see the whole balance.
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
    // If the tokens cost more than was held, the rest is taken from the balance, down to zero.
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

// Operators choose the keys, and may use one again for another account.
function grantId(did: string, key: string): string {
  const hash = createHash('sha256').update(JSON.stringify([did, key]));
  return `grant/${hash.digest('hex')}`;
}

// Tokens times credits per million: a whole number of millionths.
function tokensCost({ perMillionInput, perMillionOutput }: CreditsSettings, usage: TokenUsage): number {
  return usage.inputTokens * perMillionInput + usage.outputTokens * perMillionOutput;
}

/** How long an admission is cached, in milliseconds. */
const VERDICT_MS = 180_000;
const VERDICTS_KEPT = 10_000;
/** Balance, in credits, at or below which no run starts; also the minimum named in the refusal when a run holds less. */
const LEAST = 10;

const NO_ACCOUNT = 'No subscription found, please subscribe to continue';
const NOT_ACTIVE = 'User has inactive subscription, please subscribe to continue';

interface CreditGate {
  /** Throws 402 with `claims`. */
  check(ctx: PluginContext, accounts: Accounts): Promise<void>;
  /** The refusal for a user with too few credits for a run. */
  refuseEmpty(ctx: PluginContext, account: Account): Error;
  /** Drops the cached admission of a user whose account has changed. */
  forget(did: string): void;
}

/** A run needs `heldPerRun` credits. */
function creditGate(heldPerRun: number): CreditGate {
  const letIn = new LRUCache<string, number>(growing(VERDICTS_KEPT));
  const tooLittle = `User has less than ${Math.max(LEAST, heldPerRun)} credits, please top up to continue`;

  function refusal(account: Account | undefined): string | undefined {
    if (!account) return NO_ACCOUNT;
    if (account.status !== 'active' && account.status !== 'trial') return NOT_ACTIVE;
    return account.balance <= LEAST * MICRO || account.balance < heldPerRun * MICRO ? tooLittle : undefined;
  }

  return {
    async check(ctx, accounts) {
      const did = ctx.requireDid();
      const until = letIn.get(did);
      if (until !== undefined && until > ctx.clock.monotonic()) return;
      const account = await accounts.read(did);
      const why = refusal(account);
      if (why) throw ctx.refuse(402, why, listClaims(account));
      letIn.set(did, ctx.clock.monotonic() + VERDICT_MS);
    },
    refuseEmpty: (ctx, account) => ctx.refuse(402, tooLittle, listClaims(account)),
    forget: (did) => void letIn.delete(did),
  };
}

// Streams read one name, everything else the other.
function listClaims(account: Account | undefined): JsonObject {
  const claims = account?.claims ?? [];
  return { claims, outstandingClaims: claims };
}
