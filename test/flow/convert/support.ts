// Converted fixtures for tests: their flows and report, what lint says of them, and a phone that dials one.

import { readFileSync } from 'node:fs';
import type { Services } from '../../../lib/engine/service.ts';
import { type Converted, convertFlows } from '../../../lib/flow/convert/convert.ts';
import type { Flow } from '../../../lib/flow/format/flow.ts';
import { problemLine } from '../../../lib/flow/format/problem.ts';
import { checkFlow } from '../../../lib/flow/lint/lint.ts';
import { compileFlow } from '../../../lib/flow/run/compile.ts';
import { CONTRACTS } from '../../../server/menus/contracts.ts';
import { type Phone, phone } from '../phone.ts';

export const FIXTURES = new URL('../../fixtures/convert/', import.meta.url);

export const readFixture = (name: string): string => readFileSync(new URL(name, FIXTURES), 'utf8');

export function convert(source: unknown): Converted {
  const text = typeof source === 'string' ? source : JSON.stringify(source);
  return convertFlows(text, { file: 'given.json', contracts: CONTRACTS });
}

/** What lint calls an error in these flows; none, that is what conversion promises. */
export function listErrors(flows: readonly Flow[]): string[] {
  const all = new Map(flows.map((flow) => [flow.flow, flow]));
  const problems = flows.flatMap(
    (flow) => checkFlow(JSON.stringify(flow), `${flow.flow}.flow.json`, { flows: all, contracts: CONTRACTS }).problems,
  );
  return problems.filter(({ severity }) => severity === 'error').map(problemLine);
}

/** A phone for one of the flows. */
export function phoneFor(flows: readonly Flow[], name: string, services: Services = {}): Phone {
  const all = new Map(flows.map((flow) => [flow.flow, flow]));
  return phone(compileFlow(all.get(name)!, { flows: all }), { services });
}
