// The token guard against @ucanto/validator alone: a token seen for the first time, again, and with a proof.

import { Delegation, delegate } from '@ucanto/core';
import type * as API from '@ucanto/interface';
import * as ed25519 from '@ucanto/principal/ed25519';
import { access, capability, Schema } from '@ucanto/validator';
import { tokenGuard } from '../../lib/delegation/index.ts';
import { type Case, type Measured, measure, type Row, us } from './measure.ts';

/** Different tokens: each is checked once by a guard. */
const TOKENS = 3_000;
const TALK = capability({ can: 'oracle/talk', with: Schema.did(), nb: Schema.struct({}) });

export async function tokenRows(): Promise<Row[]> {
  const [user, oracle, service] = await Promise.all(
    [1, 2, 3].map((seed) => ed25519.derive(new Uint8Array(32).fill(seed))),
  );
  const expiration = Math.floor(Date.now() / 1000) + 900;
  const can = [{ can: 'oracle/talk', with: user!.did() }] as const;
  const sign = (issuer: API.Signer, audience: API.Signer, more: object) =>
    delegate({ issuer, audience, capabilities: can as never, expiration, ...more });
  const own = await sign(user!, oracle!, {});
  const names = Array.from({ length: TOKENS }, (_, at) => `n${at}`);
  const single = await Promise.all(names.map(async (nonce) => text(await sign(user!, oracle!, { nonce }))));
  const chain = await Promise.all(
    names.map(async (nonce) => text(await sign(oracle!, service!, { nonce, proofs: [own] }))),
  );

  const alone = await pair(single, oracle!);
  const proof = await pair(chain, service!);
  const cold = 'token check, first time, against @ucanto/validator alone';
  return [
    row(`${cold}; one signature`, alone.first, alone.ucanto, 6),
    row('token check, repeated, against @ucanto/validator alone; one signature', alone.again, alone.ucanto, 200),
    row(`${cold}; one proof`, proof.first, proof.ucanto),
  ];
}

async function pair(tokens: readonly string[], audience: API.Signer) {
  const options = { audience: audience.did(), accepted: { resource: 'root' } } as const;
  const kept = tokenGuard(options);
  let guard = kept;
  let nth = 0;
  const next = () => tokens[nth++ % tokens.length]!;
  const first = check('first time', () => {
    if (nth % tokens.length === 0) guard = tokenGuard(options);
    return guard.checkInvocation(next());
  });
  const again = check('again', () => kept.checkInvocation(tokens[0]!));
  const ucanto = check('ucanto', () => validate(tokens[0]!, audience));
  // The floor is slow: without this the guard would be measured before it is compiled.
  await first.run(2 * tokens.length);
  const [cold, floor] = await measure([first, ucanto], { count: 300, rounds: 15 });
  const [repeated] = await measure([again], { count: 20_000, rounds: 11 });
  return { first: cold!, again: repeated!, ucanto: floor! };
}

function check(name: string, work: () => Promise<{ readonly ok?: unknown }>): Case {
  const run = async (count: number): Promise<void> => {
    for (let at = 0; at < count; at++) if (!(await work()).ok) throw new Error(`${name}: the token did not pass.`);
  };
  return { name, run };
}

async function validate(token: string, authority: API.Signer) {
  const { ok: invocation } = await Delegation.extract(new Uint8Array(Buffer.from(token, 'base64')));
  const { Verifier } = ed25519;
  const validateAuthorization = () => ({ ok: {} });
  return access(invocation as never, {
    capability: TALK,
    authority: authority as never,
    principal: Verifier,
    validateAuthorization,
  });
}

async function text(delegation: API.Delegation): Promise<string> {
  return Buffer.from((await delegation.archive()).ok!).toString('base64');
}

function row(what: string, measured: Measured, floor: Measured, atLeast?: number): Row {
  return {
    what,
    measured: `${us(measured.cpuUs)} · ${us(floor.cpuUs)}`,
    ratio: floor.cpuUs / measured.cpuUs,
    target: atLeast === undefined ? undefined : { atLeast },
  };
}
