// Flows of other programs → flows: which format a file has, what is made of it, and which variables are read that nothing gives
// a value.

import { DEFAULT_LABELS, type Flow } from '../format/flow.ts';
import { DOOR_NAMES } from '../format/names.ts';
import { collectParts } from '../lint/parts.ts';
import type { FlowTestFile } from '../testing/file.ts';
import { recordSessions } from './dialogues.ts';
import { describeFloipForm, isContainer, readContainer } from './floip/file.ts';
import { convertFloipFlows } from './floip/flows.ts';
import { describeProForm, isProExport, readProFlows } from './rapidpro/file.ts';
import { convertProFlows } from './rapidpro/flows.ts';
import { type ConversionReport, makeReport, type ReportEntry } from './report.ts';
import { readSessions } from './sessions.ts';
import { type Foreign, readForeign, readForeignValue, refuseFile } from './source.ts';
import type { ConversionTarget } from './steps/assemble.ts';

export const SOURCES = ['floip', 'rapidpro'] as const;
export type SourceFormat = (typeof SOURCES)[number];

export interface Converted {
  readonly flows: readonly Flow[];
  readonly report: readonly ReportEntry[];
  /** The version of the format that the file was read as, in words. */
  readonly form: string;
  /** A test file for each flow that there are sessions of. */
  readonly tests: readonly FlowTestFile[];
}

export interface ConvertOptions extends Pick<ConversionTarget, 'contracts'> {
  /** Its name, for messages. */
  readonly file: string;
  readonly from: SourceFormat;
  /** The text of a file with sessions; those in the file itself are taken, too. */
  readonly sessions?: { readonly text: string; readonly file: string } | undefined;
}

/** Flows, and the names of them by the uuids that they had. */
interface ConvertedFlows {
  readonly flows: readonly Flow[];
  readonly names: ReadonlyMap<string, string>;
}

function nameFlows(read: readonly { readonly uuid: string; readonly name: string }[]): ConvertedFlows['names'] {
  return new Map(read.map(({ uuid, name }) => [uuid, name]));
}

interface Format {
  /** As people call it. */
  readonly title: string;
  isMeant(document: Foreign): boolean;
  describe(document: Foreign): string;
  convert(document: Foreign, file: string, target: ConversionTarget): ConvertedFlows;
}

const FORMATS: { readonly [source in SourceFormat]: Format } = {
  floip: {
    title: 'container of FLOIP',
    isMeant: isContainer,
    describe: describeFloipForm,
    convert: (document, file, target) => {
      const read = readContainer(document, file);
      return { flows: convertFloipFlows(read, target), names: nameFlows(read) };
    },
  },
  rapidpro: {
    title: 'file of RapidPro or TextIt',
    isMeant: isProExport,
    describe: describeProForm,
    convert: (document, file, target) => {
      const read = readProFlows(document, file);
      return { flows: convertProFlows(read, target), names: nameFlows(read) };
    },
  },
};

/**
 * The flows in the text of a file, each of them without an error of lint. Throws ERR_INPUT for a file that is none of this format,
 * and for one that is too large, too deep or broken.
 */
export async function convertFlows(
  text: string,
  { file, from, contracts, sessions }: ConvertOptions,
): Promise<Converted> {
  const document = readForeign(text, file);
  const format = FORMATS[from];
  if (!format.isMeant(document)) {
    const other = SOURCES.find((source) => source !== from && FORMATS[source].isMeant(document));
    const hint = other
      ? `It looks like a ${FORMATS[other].title}: use --from ${other}`
      : 'Give the file as that program exported it';
    throw refuseFile(file, `it is no ${format.title}. ${hint}`);
  }
  const report = makeReport();
  const { flows, names } = format.convert(document, file, { report, contracts });
  const given = sessions ? readGiven(sessions) : [];
  const tests = await recordSessions([...readSessions(document), ...given], { flows, names, report });
  reportUnset(flows, report);
  const order = new Map(flows.map(({ flow }, at) => [flow, at]));
  const entries = [...report.entries].sort((one, other) => (order.get(one.flow) ?? 0) - (order.get(other.flow) ?? 0));
  return { flows, report: entries, tests, form: format.describe(document) };
}

/** Whether all flows are nothing but ends at which nobody has written a word. */
export function isNothing({ flows }: Pick<Converted, 'flows'>): boolean {
  const screens = flows.flatMap((flow) => Object.values(flow.screens));
  return screens.every((screen) => screen.type === 'end' && screen.text === DEFAULT_LABELS.goodbye);
}

function readGiven({ text, file }: { readonly text: string; readonly file: string }) {
  const found = readSessions(readForeignValue(text, file));
  if (found.length === 0)
    throw refuseFile(file, 'it has no sessions. Give contexts of FLOIP, sessions of RapidPro, or tests of goflow');
  return found;
}

const REASON =
  'Nothing in these flows gives it a value, so it prints nothing. Get it by a call of a service, or give it a "default".';

/** Reports each such variable once, at the flow that reads it. Texts print nothing there, and conditions see null. */
function reportUnset(flows: readonly Flow[], report: ConversionReport): void {
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
