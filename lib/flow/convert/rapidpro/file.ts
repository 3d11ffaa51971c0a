// An export of RapidPro or TextIt, or one definition alone, of version 13 or 14: its flows, nodes, exits and translations, as far as
// they have their shape. For what flows keep of it, the versions are the same.
// The form: goflow, "Flow Specification".

import { isObject } from '../../../given.ts';
import { makeName, uniqueNames } from '../names.ts';
import { asObject, asObjects, asText, type Foreign, getOwn, NODES_MAX, refuseFile } from '../source.ts';
import type { Words } from '../steps/step.ts';

export interface ProFlow {
  readonly uuid: string;
  /** Name of the converted flow. */
  readonly name: string;
  readonly title: string;
  /** The base language first. */
  readonly langs: readonly string[];
  readonly nodes: readonly ProNode[];
  /** The value of a key, such as the `text` of an action, in every language. */
  words(thing: Foreign, key: string): Words;
  /** All texts of a list, such as the `arguments` of a case, as it is written and in the languages that have their own. */
  lists(thing: Foreign, key: string): readonly LangList[];
  /** Minutes without an answer after which it ends. */
  readonly expiresAfter: number | undefined;
}

export interface LangList {
  /** Undefined for the list as it is written, which all other languages use. */
  readonly lang?: string;
  readonly texts: readonly string[];
}

export interface ProNode {
  readonly uuid: string;
  readonly actions: readonly Foreign[];
  readonly router: Foreign | undefined;
  /** Uuid of an exit → that of the node behind it. */
  readonly exits: ReadonlyMap<string, string | undefined>;
  readonly firstExit: string | undefined;
}

/** The flows of a document: an export has a list of them, and a definition is one. */
export function listDefinitions(document: Foreign): Foreign[] {
  return isDefinition(document) ? [document] : asObjects(document.flows);
}

export function isProExport(document: Foreign): boolean {
  return listDefinitions(document).some(isDefinition);
}

const isDefinition = (flow: Foreign) =>
  Array.isArray(flow.nodes) || 'action_sets' in flow || ('spec_version' in flow && !('flows' in flow));

/** A description of the format version. */
export function describeProForm(document: Foreign): string {
  const stated = listDefinitions(document).flatMap((flow) => asText(flow.spec_version) ?? []);
  const versions = [...new Set(stated)].sort().join(', ');
  return versions ? `RapidPro ${versions}` : 'RapidPro 13; the file states no version';
}

/** The flows of an export, and those that it has in a version which is not read. Throws ERR_INPUT for one without a flow. */
export function readProFlows(
  document: Foreign,
  file: string,
): { readonly flows: ProFlow[]; readonly refused: readonly { readonly name: string; readonly why: string }[] } {
  const definitions = listDefinitions(document);
  if (definitions.length === 0) throw refuseFile(file, 'it has no flows. Export at least one flow');
  const unique = uniqueNames();
  let nodes = 0;
  const flows: ProFlow[] = [];
  const refused: { name: string; why: string }[] = [];
  for (const [at, flow] of definitions.entries()) {
    const title = asText(flow.name) ?? asText(asObject(flow.metadata).name) ?? `flow ${at + 1}`;
    const name = unique(makeName(title.toLowerCase(), `flow${at + 1}`));
    const why = refuseVersion(flow, document, title);
    if (why !== undefined) {
      refused.push({ name, why });
      continue;
    }
    nodes += asObjects(flow.nodes).length;
    if (nodes > NODES_MAX) throw refuseFile(file, `it has more than ${NODES_MAX} nodes. Export fewer flows at once`);
    flows.push(readFlow(flow, title, name));
  }
  if (flows.length === 0) throw refuseFile(file, refused[0]!.why);
  return { flows, refused };
}

/** Why a flow cannot be read in the version that it has. */
function refuseVersion(flow: Foreign, document: Foreign, title: string): string | undefined {
  const stated = [flow.spec_version, flow.version, document.version].find(
    (one) => typeof one === 'number' || asText(one) !== undefined,
  );
  const version = String(stated ?? '13');
  if ('action_sets' in flow || 'rule_sets' in flow)
    return `its flow "${title}" is of the legacy definition${/^\d+$/.test(version) && Number(version) < 13 ? ` ${version}` : ''}, from before 2020, and only 13 and 14 can be read. Import it into RapidPro or TextIt, which brings it to the present version, and export it again`;
  if (/^1[34](?:\.|$)/.test(version)) return undefined;
  return `its flow "${title}" is of the definition version ${version}, and only 13 and 14 can be read. Open it in the editor once, which brings an older flow to the present version, and export it again`;
}

function readFlow(flow: Foreign, title: string, name: string): ProFlow {
  const localization = asObject(flow.localization);
  const base = makeTag(asText(flow.language) ?? 'eng');
  const others = Object.keys(localization)
    .filter((lang) => lang !== 'base' && isTag(lang) && lang !== base)
    .slice(0, 49);
  const langs = [isTag(base) ? base : 'und', ...others.map(makeTag)];
  const findTranslation = (lang: string, thing: Foreign, key: string): unknown => {
    const uuid = asText(thing.uuid);
    return uuid === undefined ? undefined : getOwn(asObject(getOwn(asObject(getOwn(localization, lang)), uuid)), key);
  };
  return {
    uuid: asText(flow.uuid) ?? name,
    name,
    title,
    langs,
    nodes: asObjects(flow.nodes).map(readNode),
    expiresAfter: Number.isInteger(flow.expire_after_minutes) ? Number(flow.expire_after_minutes) : undefined,
    words: (thing, key) => {
      const text = typeof thing[key] === 'string' ? thing[key] : '';
      const words = others.flatMap((lang) => {
        const [first] = listTexts(findTranslation(lang, thing, key));
        return first ? [[makeTag(lang), first] as const] : [];
      });
      return { [langs[0]!]: text, ...Object.fromEntries(words) };
    },
    lists: (thing, key) => {
      const written = listTexts(thing[key]);
      const translated = others.flatMap((lang): LangList[] => {
        const texts = listTexts(findTranslation(lang, thing, key));
        return texts.length && texts.join('\n') !== written.join('\n') ? [{ lang: makeTag(lang), texts }] : [];
      });
      return [{ texts: written }, ...translated];
    },
  };
}

function readNode(node: Foreign, at: number): ProNode {
  const exits = asObjects(node.exits).map((exit) => [asText(exit.uuid) ?? '', asText(exit.destination_uuid)] as const);
  return {
    uuid: asText(node.uuid) ?? `node ${at + 1}`,
    actions: asObjects(node.actions),
    router: node.router === undefined || node.router === null ? undefined : asObject(node.router),
    exits: new Map(exits),
    firstExit: exits[0]?.[1],
  };
}

// Quick replies of version 14 are objects with a text.
function listTexts(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (!Array.isArray(value)) return [];
  return value.map((one) => (isObject(one) ? one.text : one)).filter((one) => typeof one === 'string');
}

function isTag(lang: string): boolean {
  return /^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}$/.test(lang);
}

function makeTag(lang: string): string {
  return lang === 'base' ? 'und' : lang;
}
