// Converts a file of RapidPro or TextIt to flows, and reports variables that are read but never set.

import { ENGLISH } from '../format/default-words.ts';
import type { Flow } from '../format/flow.ts';
import { DOOR_NAMES } from '../format/names.ts';
import { capitalize } from '../format/problem.ts';
import { collectParts } from '../lint/parts.ts';
import { describeProForm, isProExport, readProFlows } from './rapidpro/file.ts';
import { convertProFlows } from './rapidpro/flows.ts';
import { reportStarts } from './rapidpro/starts.ts';
import { type ConversionReport, makeReport, type ReportEntry } from './report.ts';
import { readForeign, refuseFile } from './source.ts';
import { type ConversionTarget, reportLeftOut } from './steps/assemble.ts';

export interface Converted {
  readonly flows: readonly Flow[];
  readonly report: readonly ReportEntry[];
  /** A description of the format version. */
  readonly form: string;
}

export interface ConvertOptions extends Pick<ConversionTarget, 'contracts'> {
  /** Its name, for messages. */
  readonly file: string;
}

/**
 * The flows in the text of a file, each of them without an error of lint; one that cannot be made is left out and reported. Throws
 * ERR_INPUT for a file that RapidPro did not export, for one that is too large, too deep or broken, and where no flow can be made.
 */
export function convertFlows(text: string, { file, contracts }: ConvertOptions): Converted {
  const document = readForeign(text, file);
  if (!isProExport(document))
    throw refuseFile(file, 'it is no file of RapidPro or TextIt. Give the file as that program exported it');
  const report = makeReport();
  const read = readProFlows(document, file);
  for (const { name, why } of read.refused) reportLeftOut(name, capitalize(why), report);
  reportStarts(document, read.flows, report);
  const flows = convertProFlows(read.flows, { report, contracts });
  if (flows.length === 0) throw refuseFile(file, report.entries[0]?.reason.replace(/\.$/, '') ?? 'no flow can be made');
  reportUnset(flows, report);
  const order = new Map(flows.map(({ flow }, at) => [flow, at]));
  const entries = [...report.entries].sort((one, other) => (order.get(one.flow) ?? 0) - (order.get(other.flow) ?? 0));
  return { flows, report: entries, form: describeProForm(document) };
}

/** Whether all flows consist of empty end screens only. */
export function isNothing({ flows }: Pick<Converted, 'flows'>): boolean {
  const screens = flows.flatMap((flow) => Object.values(flow.screens));
  return screens.every((screen) => screen.type === 'end' && screen.text === ENGLISH.goodbye);
}

const REASON =
  'Nothing in these flows gives it a value, so it prints nothing. Get it by a call of a service, or give it a "default".';

/** Reports each unset variable once, at the flow that reads it. Texts print nothing for it, and conditions see null. */
function reportUnset(flows: readonly Flow[], report: ConversionReport): void {
  const parts = new Map(flows.map((flow) => [flow.flow, collectParts(flow)]));
  const writes = [...parts.values()].flatMap(({ expressions, writes }) => [
    ...writes,
    ...expressions.flatMap(({ into }) => (typeof into === 'object' ? [into] : [])),
  ]);
  for (const flow of flows) {
    const { wordings, expressions } = parts.get(flow.flow)!;
    const own = parts.get(flow.flow)!.writes;
    const defaults = new Set<string>([
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
      if (read.has(name) && !defaults.has(name) && variable.default === undefined)
        report.add({ flow: flow.flow, node: '', what: `variable ${name}`, reason: REASON });
  }
}
