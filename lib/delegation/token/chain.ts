// A token as a chain: the UCAN itself, its proof, the proof of that, with nothing left over and bounds on all of it.

import { DELEGATION_LIMITS } from '../limits.ts';
import { type Refused, refuse } from '../reason.ts';
import { type Car, type CidKey, readCar } from './car.ts';
import { readUcan, readVariant, type Ucan } from './ucan.ts';

/** The UCANs of a token from the one that was sent to the one that needs no proof; at least one. */
export interface Chain {
  readonly ok: true;
  readonly ucans: readonly [Ucan, ...Ucan[]];
}

/** Reads the bytes of a CAR. Every block is hashed, so that no chain can be a circle. */
export function readChain(bytes: Uint8Array): Chain | Refused {
  const car = readCar(bytes);
  return car.ok ? walk(car) : car;
}

function walk({ root, blocks }: Car): Chain | Refused {
  const variant = blocks.get(root);
  if (!variant) return refuse('missing-block');
  const first = readVariant(variant);
  if (typeof first !== 'string') return first;
  const ucans: Ucan[] = [];
  for (let next: CidKey | undefined = first; next !== undefined; next = ucans.at(-1)?.proof) {
    if (ucans.length === DELEGATION_LIMITS.tokenDepth) return refuse('too-deep');
    const block = blocks.get(next);
    if (!block) return refuse(ucans.length > 0 ? 'missing-proof' : 'missing-block');
    const ucan = readUcan(next, block);
    if (!ucan.ok) return ucan;
    ucans.push(ucan);
  }
  if (blocks.size > ucans.length + 1) return refuse('unreferenced-block');
  // With one proof each, a capability can be derived in as many ways as the proofs' numbers of capabilities multiply to.
  const paths = ucans.reduce((ways, { capabilities }) => ways * capabilities.length, 1);
  if (paths > DELEGATION_LIMITS.tokenPaths) return refuse('too-many-paths');
  return { ok: true, ucans: ucans as [Ucan, ...Ucan[]] };
}
