// A flow with every kind of screen, another one that it calls, and services that answer by their input alone.

import type { Service, Services } from '../../lib/engine/service.ts';
import { TwinlineError } from '../../lib/errors.ts';
import { type CompiledFlow, compileFlow } from '../../lib/flow/run/compile.ts';
import { flowFixture } from '../support/flow-fixture.ts';

const pay = flowFixture('pay');

const market = flowFixture('market');

/** A newly compiled flow. */
export const marketFlow = (): CompiledFlow => compileFlow(market, { flows: new Map([['pay', pay]]) });

export const marketServices: Services = {
  goods: async ({ n, lang }) => {
    const count = Number(n);
    if (count % 5 === 4) throw new TwinlineError('ERR_NOT_FOUND', 'No goods today.');
    return Array.from({ length: (count % 3) * 12 }, (_, i) => ({ label: `${lang} thing ${i}`, price: i + 1 }));
  },
  charge: async ({ amount, due }) => {
    if (Number(amount) === 7) throw new TwinlineError('ERR_NOT_FOUND', 'No such purse.');
    if (Number(amount) === 13) throw new Error('broken');
    return { ok: Number(amount) >= Number(due), left: Number(amount) - Number(due) };
  },
} satisfies { [name: string]: Service };
