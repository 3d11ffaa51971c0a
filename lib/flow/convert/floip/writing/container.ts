// Flows → a container of FLOIP. It is read back at once: what then differs is kept as vendor metadata of its block, so that an unchanged
// container becomes the same flow again.

import type { Json } from '../../../../json/json.ts';
import { durationMs, type Flow, findExitScreen, type Screen, type Text } from '../../../format/flow.ts';
import { type ConversionReport, makeReport, type ReportEntry } from '../../report.ts';
import { type Foreign, refuseFile } from '../../source.ts';
import { nameShownScreen } from '../../steps/screens.ts';
import { readContainer, VENDOR } from '../file.ts';
import { assembleFloipFlows } from '../flows.ts';
import { digest, type LostKey } from '../own.ts';
import { type Block, blockId, type Writer } from './exits.ts';
import { describeLanguage, makeUuid } from './ids.ts';
import { writeScreen } from './screens.ts';

export interface WrittenContainer {
  readonly container: Json;
  readonly report: readonly ReportEntry[];
}

const VERSION = '1.0.0-rc3';
const MODES = ['USSD'];
const SESSION = '180s';

/** A container of these flows, the first of which gives its name; `modified` is when they were last changed. */
export function writeContainer(flows: readonly Flow[], { modified }: { readonly modified: Date }): WrittenContainer {
  const [first] = flows;
  if (!first) throw refuseFile('no flow', 'there is none to write');
  const report = makeReport();
  const resources = new Map<string, Json>();
  const written = flows.map((flow) => writeFlow(flow, { report, resources, modified }));
  const container = (kept: Beside): Json => ({
    specification_version: VERSION,
    uuid: makeUuid(first.flow, 'container'),
    name: first.flow,
    description: first.note ?? first.flow,
    vendor_metadata: {},
    flows: written.map((flow) => addKept(flow, kept)),
    resources: [...resources.values()],
  });
  const marked = new Map(
    flows.flatMap((flow) => Object.keys(flow.screens).map((id) => [blockId(flow, id), {}] as const)),
  );
  const kept = findKept(flows, { container: container(marked), report });
  return { container: container(kept), report: report.entries };
}

/** Vendor metadata of blocks, by their uuids. */
type Beside = ReadonlyMap<string, Json>;

interface Writing {
  readonly report: ConversionReport;
  readonly resources: Map<string, Json>;
  readonly modified: Date;
}

/** Keys of a flow that FLOIP has nothing like, and why. */
const OWN_KEYS = {
  $schema: undefined,
  version: undefined,
  langs: undefined,
  keys: 'FLOIP has no keys for back, home, more and exit.',
  limits: 'FLOIP knows no room of a screen.',
  vars: undefined,
  labels: 'FLOIP adds no lines to a prompt.',
  wait: 'FLOIP shows nothing while a call goes on.',
  migrate: 'FLOIP takes no running conversation to a new version.',
  note: undefined,
} as const;

function writeFlow(flow: Flow, { report, resources, modified }: Writing): Block {
  const langs = flow.langs?.length ? flow.langs : ['en'];
  const blocks: Block[] = [];
  const note: Writer['note'] = (node, what, reason) => report.add({ flow: flow.flow, node, what, reason });
  const variables = flow.vars ?? {};
  const writer: Writer = {
    flow,
    variables,
    langs,
    note,
    block: (block) => blocks.push(block),
    flowId: (name) => makeUuid(name, 'flow'),
    resource: (texts) => {
      const uuid = makeUuid('resource', JSON.stringify(texts));
      resources.set(uuid, writeResource(uuid, texts));
      return uuid;
    },
  };
  for (const [key, reason] of Object.entries(OWN_KEYS))
    if (reason !== undefined && flow[key as keyof Flow] !== undefined) note('', key, reason);
  noteVariables(flow, note);
  const screens = Object.entries(flow.screens).map(([id, screen]) => writeScreen(screen, { writer, id }));
  const exit = findExitScreen(flow);
  return {
    uuid: makeUuid(flow.flow, 'flow'),
    name: flow.flow,
    label: flow.note ?? flow.flow,
    last_modified: modified.toISOString(),
    interaction_timeout: Math.round((durationMs(flow.limits?.session ?? SESSION) ?? 0) / 1_000),
    supported_modes: MODES,
    first_block_id: blockId(flow, flow.start),
    ...(exit !== undefined && { exit_block_id: blockId(flow, exit) }),
    languages: langs.map(describeLanguage),
    vendor_metadata: { [VENDOR]: { flow: flow.flow, keys: collectOwnKeys(flow) } },
    blocks: [...screens, ...blocks],
  };
}

function noteVariables({ vars = {} }: Flow, note: Writer['note']): void {
  for (const [name, { secret, default: initial }] of Object.entries(vars)) {
    if (secret)
      note('', `vars.${name}.secret`, 'FLOIP has no secrets: another program would keep the value with the contact.');
    if (initial !== undefined && name !== 'lang')
      note('', `vars.${name}.default`, 'Properties of a contact have no value to begin with.');
  }
}

function collectOwnKeys(flow: Flow): Json {
  const entries = Object.keys(OWN_KEYS).flatMap((key) => {
    const value = flow[key as keyof Flow];
    return value === undefined ? [] : [[key, value as Json] as const];
  });
  return Object.fromEntries(entries);
}

function writeResource(uuid: string, texts: { readonly [lang: string]: string }): Json {
  const values = Object.entries(texts).map(([lang, value]) => ({
    language_id: lang,
    content_type: 'TEXT',
    mime_type: 'text/plain',
    modes: MODES,
    value,
  }));
  return { uuid, values };
}

/** What is not the same when the container is read again, by the uuid of its block. */
function findKept(
  flows: readonly Flow[],
  { container, report }: { readonly container: Json; readonly report: ConversionReport },
): Beside {
  const kept = new Map<string, Json>();
  const again = assembleFloipFlows(readContainer(container as Foreign, 'the container'), { report: makeReport() });
  for (const flow of flows) {
    const screens = again.find((one) => one.flow.flow === flow.flow)?.flow.screens ?? {};
    for (const [id, screen] of Object.entries(flow.screens)) {
      const other = [id, nameShownScreen(id)].map((name) => screens[name]).find((one) => one?.type === screen.type);
      if (!other) {
        report.add({
          flow: flow.flow,
          node: id,
          what: screen.type,
          reason: 'Nothing leads to the block; who reads it leaves it out.',
        });
        continue;
      }
      const keys = findDifferences(screen, other);
      // A block with something beside it stays a screen of its own.
      if (Object.keys(keys).length || screen.type === 'branch') kept.set(blockId(flow, id), keys);
    }
  }
  return kept;
}

function findDifferences(screen: Screen, other: Screen): { [key: string]: Json } {
  const [mine, read] = [screen, other] as unknown as [{ [key: string]: Json }, { [key: string]: Json }];
  const keys = [...new Set([...Object.keys(mine), ...Object.keys(read)])];
  return Object.fromEntries(
    keys.flatMap((key) => {
      if (JSON.stringify(plain(mine[key])) === JSON.stringify(plain(read[key]))) return [];
      const kept: LostKey = { was: digest(read[key]), is: mine[key] ?? null };
      return [[key, kept as unknown as Json] as const];
    }),
  );
}

// A text that is the same in all languages is one text.
function plain(value: Json | undefined): Json | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const texts = Object.values(value as { [lang: string]: Text });
  const [first] = texts;
  return typeof first === 'string' &&
    texts.every((one) => one === first) &&
    Object.keys(value).every((key) => /^[a-z]{2,3}(?:-|$)/i.test(key))
    ? first
    : value;
}

function addKept(flow: Block, kept: ReadonlyMap<string, Json>): Json {
  const blocks = (flow.blocks as readonly Block[]).map((block) => {
    const own = kept.get(block.uuid as string);
    return own === undefined ? block : { ...block, vendor_metadata: { [VENDOR]: { screen: own } } };
  });
  return { ...flow, blocks };
}
