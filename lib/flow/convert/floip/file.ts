// Reads a container of FLOIP, flow specification 1.0.0-rc1 to rc4: flows, blocks, exits, languages and resources; what lacks the shape is ignored.
// The form: floip.gitbook.io/flow-specification, and github.com/FLOIP/flow-spec.

import { isName } from '../../format/flow.ts';
import { makeName, uniqueNames } from '../names.ts';
import {
  asObject,
  asObjects,
  asText,
  asTexts,
  type Foreign,
  getOwn,
  isObject,
  NODES_MAX,
  refuseFile,
} from '../source.ts';
import type { Words } from '../steps/step.ts';
import { modernizeForm } from './older.ts';

export interface FloipFlow {
  readonly uuid: string;
  /** As the flow is named here. */
  readonly name: string;
  readonly title: string;
  readonly langs: readonly string[];
  readonly first: string | undefined;
  readonly exit: string | undefined;
  readonly blocks: readonly FloipBlock[];
  /** What only flows have, as it was written into a container. */
  readonly own: Foreign;
  /** The texts of a resource, or of a text that is none; undefined where there are none. */
  words(reference: unknown): Words | undefined;
}

export interface FloipBlock {
  readonly uuid: string;
  readonly name: string;
  /** As expressions of the file call it. */
  readonly given: string;
  readonly type: string;
  readonly config: Foreign;
  readonly exits: readonly FloipExit[];
  readonly own: Foreign;
}

export interface FloipExit {
  readonly name: string;
  readonly test: string | undefined;
  readonly isDefault: boolean;
  readonly next: string | undefined;
}

/** The key of our vendor metadata. */
export const VENDOR = 'twinline';

/** Whether a flow was one of ours before it was put into a container. */
export function isOwn({ own }: FloipFlow): boolean {
  return own.flow !== undefined;
}

export function isContainer(given: Foreign): boolean {
  const { document, stated } = modernizeForm(given);
  return stated !== undefined || asObjects(document.flows).some(({ blocks }) => Array.isArray(blocks));
}

/** The version that a file is read as, in words. */
export function describeFloipForm(given: Foreign): string {
  const { stated, isCamel } = modernizeForm(given);
  if (stated === undefined) return `FLOIP ${isCamel ? OLDEST : NEWEST}; the file states no version`;
  const known = TRIED.test(stated) ? '' : `, which was never tried, as ${NEWEST}`;
  return `FLOIP ${stated}${known}${isCamel && !/rc\.?1$/.test(stated) ? `, with keys of ${OLDEST}` : ''}`;
}

const OLDEST = '1.0.0-rc1';
const NEWEST = '1.0.0-rc4';
const TRIED = /^1\.0\.0-rc\.?[1-4]$/;

/** The flows of a container. Throws ERR_INPUT for other versions, and for one without a flow. */
export function readContainer(given: Foreign, file: string): FloipFlow[] {
  const { document, stated: version = NEWEST } = modernizeForm(given);
  if (!/^1\.0(?:\.|-|$)/.test(version))
    throw refuseFile(
      file,
      `it is of the specification version ${version}, and only ${OLDEST} to ${NEWEST} can be read. Export it anew`,
    );
  const flows = asObjects(document.flows);
  if (flows.length === 0) throw refuseFile(file, 'it has no flows. Export at least one flow');
  const shared = readResources(document.resources);
  const unique = uniqueNames();
  let blocks = 0;
  return flows.map((flow, at) => {
    blocks += asObjects(flow.blocks).length;
    if (blocks > NODES_MAX) throw refuseFile(file, `it has more than ${NODES_MAX} blocks. Export fewer flows at once`);
    const title = asText(flow.name) ?? `flow ${at + 1}`;
    const own = readOwn(flow);
    const kept = asText(own.flow);
    const name = unique(
      kept !== undefined && /^[A-Za-z][\w-]{0,63}$/.test(kept) ? kept : makeName(title.toLowerCase(), `flow${at + 1}`),
    );
    return readFlow(flow, { title, name, own, resources: new Map([...shared, ...readResources(flow.resources)]) });
  });
}

interface FloipContainer {
  readonly title: string;
  readonly name: string;
  readonly own: Foreign;
  readonly resources: ReadonlyMap<string, Foreign>;
}

function readFlow(flow: Foreign, { title, name, own, resources }: FloipContainer): FloipFlow {
  const languages = readLanguages(flow.languages);
  const blocks = asObjects(flow.blocks).map(readBlock);
  return {
    uuid: asText(flow.uuid) ?? name,
    name,
    title,
    own,
    langs: [...languages.values()],
    first: asText(flow.first_block_id) ?? blocks[0]?.uuid,
    exit: asText(flow.exit_block_id),
    blocks,
    words: (reference) => {
      if (typeof reference !== 'string' || reference === '') return undefined;
      const resource = resources.get(reference);
      if (resource) return readWords(resource, languages);
      return UUID.test(reference) ? undefined : { [[...languages.values()][0]!]: reference };
    },
  };
}

const UUID = /^[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$/;

function readBlock(block: Foreign, at: number): FloipBlock {
  return {
    uuid: asText(block.uuid) ?? `block ${at + 1}`,
    name: nameBlock(asText(block.name) ?? '', asText(block.label) ?? ''),
    given: asText(block.name) ?? '',
    type: (asText(block.type) ?? 'no type').replace(/\\/g, '.'),
    config: asObject(block.config),
    exits: asObjects(block.exits).map(readExit),
    own: readOwn(block),
  };
}

function nameBlock(name: string, label: string): string {
  return isName(name) ? name : makeName(name, makeName(label, 'block'));
}

function readExit(exit: Foreign): FloipExit {
  return {
    name: asText(exit.name) ?? asText(exit.tag) ?? '',
    test: asText(exit.test),
    isDefault: exit.default === true,
    next: asText(exit.destination_block),
  };
}

function readOwn({ vendor_metadata }: Foreign): Foreign {
  return asObject(getOwn(asObject(vendor_metadata), VENDOR));
}

/** Resources by their uuid: a list of them, or an object. */
function readResources(value: unknown): [string, Foreign][] {
  const entries = isObject(value)
    ? Object.entries(value)
    : asObjects(value).map((one) => [asText(one.uuid) ?? '', one] as const);
  return entries.flatMap(([uuid, one]) => (isObject(one) ? [[uuid, one] as [string, Foreign]] : []));
}

const MODES = ['USSD', 'TEXT', 'SMS'];

/** A text for each language, best the one that is for phone menus. */
function readWords(resource: Foreign, languages: ReadonlyMap<string, string>): Words {
  const words: Record<string, string> = {};
  const ranks = new Map<string, number>();
  const offer = (id: string, text: unknown, rank: number): void => {
    const lang = languages.get(id);
    if (lang === undefined || typeof text !== 'string' || rank >= (ranks.get(lang) ?? Number.POSITIVE_INFINITY)) return;
    words[lang] = text;
    ranks.set(lang, rank);
  };
  for (const value of asObjects(resource.values)) {
    const isText = (asText(value.content_type) ?? 'TEXT').toUpperCase() === 'TEXT';
    const modes = asTexts(value.modes).map((mode) => mode.toUpperCase());
    const rank = MODES.findIndex((mode) => modes.includes(mode));
    if (isText) offer(String(value.language_id ?? ''), value.value, rank < 0 ? MODES.length : rank);
  }
  for (const [id, text] of Object.entries(asObject(resource.text))) offer(id, text, 0);
  return words;
}

const TAG = /^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}$/;
const LANGUAGES_MAX = 50;

/** Identifier of a language → its tag here. */
function readLanguages(value: unknown): Map<string, string> {
  const given = Array.isArray(value) ? value.slice(0, LANGUAGES_MAX) : [];
  const tags = new Map<string, string>();
  for (const one of given) {
    const language = typeof one === 'string' ? { id: one } : asObject(one);
    const id = String(language.id ?? language.iso_639_3 ?? '');
    const wishes = [id, language.bcp_47, language.iso_639_3, language.abbreviation, `und-l${tags.size + 1}0`];
    const taken = [...tags.values()];
    const tag = wishes.find(
      (wish): wish is string => typeof wish === 'string' && TAG.test(wish) && !taken.includes(wish),
    );
    if (id !== '' && !tags.has(id) && tag !== undefined) tags.set(id, tag);
  }
  return tags.size ? tags : new Map([['eng', 'eng']]);
}
