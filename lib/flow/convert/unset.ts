// Variables of converted flows that are read and that nothing gives a value: fields of a contact, or results of a flow that is not in the
// file. Texts print nothing there, and conditions see null.

import type { Flow } from '../format/flow.ts';
import { DOOR_NAMES } from '../format/names.ts';
import { collectParts } from '../lint/parts.ts';
import type { Report } from './report.ts';

const REASON =
  'Nothing in these flows gives it a value, so it prints nothing. Get it by a call of a service, or give it a "default".';

/** Reports each such variable once, at the flow that reads it. */
export function reportUnset(flows: readonly Flow[], report: Report): void {
  const parts = new Map(flows.map((flow) => [flow.flow, collectParts(flow)]));
  const writes = [...parts.values()].flatMap(({ expressions, writes }) => [
    ...writes,
    ...expressions.flatMap(({ into }) => (typeof into === 'object' ? [into] : [])),
  ]);
  for (const flow of flows) {
    const { wordings, expressions } = parts.get(flow.flow)!;
    const own = parts.get(flow.flow)!.writes;
    const given = new Set<string>([
      ...Object.keys(DOOR_NAMES),
      ...own.filter(({ of }) => of === undefined).map(({ name }) => name),
      ...expressions.flatMap(({ into }) => (typeof into === 'object' && into.of === undefined ? [into.name] : [])),
      ...writes.filter(({ of }) => of === flow.flow).map(({ name }) => name),
    ]);
    const read = new Set([
      ...wordings.flatMap(({ compiled }) => (compiled.ok ? compiled.value.paths.map(({ root }) => root) : [])),
      ...expressions.flatMap(({ compiled }) => (compiled.ok ? compiled.value.names : [])),
    ]);
    for (const [name, variable] of Object.entries(flow.vars ?? {}))
      if (read.has(name) && !given.has(name) && variable.default === undefined)
        report.add({ flow: flow.flow, node: '', what: `variable ${name}`, reason: REASON });
  }
}
