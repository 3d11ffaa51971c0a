// An export of RapidPro or TextIt, definition version 13: its flows, nodes, exits and translations, as far as they have their shape.
// The form: goflow, "Flow Specification".

import { makeName, uniqueNames } from '../names.ts';
import { asObject, asObjects, asText, type Foreign, getOwn, NODES_MAX, refuseFile } from '../source.ts';
import type { Words } from '../steps/step.ts';

export interface ProFlow {
  readonly uuid: string;
  /** As the flow is named here. */
  readonly name: string;
  readonly title: string;
  /** The first is the one that it is written in. */
  readonly langs: readonly string[];
  readonly nodes: readonly ProNode[];
  /** What a thing says under a key, such as the `text` of an action, in every language. */
  words(thing: Foreign, key: string): Words;
  /** All texts of a list, such as the `arguments` of a case, in every language. */
  lists(thing: Foreign, key: string): readonly (readonly string[])[];
}

export interface ProNode {
  readonly uuid: string;
  readonly actions: readonly Foreign[];
  readonly router: Foreign | undefined;
  /** Uuid of an exit → that of the node behind it. */
  readonly exits: ReadonlyMap<string, string | undefined>;
  readonly firstExit: string | undefined;
}

export function isProExport(document: Foreign): boolean {
  return asObjects(document.flows).some(
    (flow) => Array.isArray(flow.nodes) || 'action_sets' in flow || 'spec_version' in flow,
  );
}

/** The version that a file is read as, in words. */
export function describeProForm(document: Foreign): string {
  const stated = asObjects(document.flows).flatMap((flow) => asText(flow.spec_version) ?? []);
  const versions = [...new Set(stated)].sort().join(', ');
  return versions ? `RapidPro ${versions}` : 'RapidPro 13; the file states no version';
}

/** The flows of an export. Throws ERR_INPUT for other versions, and for one without a flow. */
export function readProFlows(document: Foreign, file: string): ProFlow[] {
  const flows = asObjects(document.flows);
  if (flows.length === 0) throw refuseFile(file, 'it has no flows. Export at least one flow');
  const unique = uniqueNames();
  let nodes = 0;
  return flows.map((flow, at) => {
    const title = asText(flow.name) ?? asText(asObject(flow.metadata).name) ?? `flow ${at + 1}`;
    const version = asText(flow.spec_version) ?? asText(flow.version) ?? asText(document.version) ?? '13';
    if ('action_sets' in flow || 'rule_sets' in flow || !/^13(?:\.|$)/.test(version))
      throw refuseFile(
        file,
        `its flow "${title}" is of the definition version ${version}, and only 13 can be read. Open it in the editor once, which brings it to version 13, and export it again`,
      );
    nodes += asObjects(flow.nodes).length;
    if (nodes > NODES_MAX) throw refuseFile(file, `it has more than ${NODES_MAX} nodes. Export fewer flows at once`);
    return readFlow(flow, title, unique(makeName(title.toLowerCase(), `flow${at + 1}`)));
  });
}

function readFlow(flow: Foreign, title: string, name: string): ProFlow {
  const localization = asObject(flow.localization);
  const base = makeTag(asText(flow.language) ?? 'eng');
  const others = Object.keys(localization)
    .filter((lang) => isTag(makeTag(lang)) && makeTag(lang) !== base)
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
    words: (thing, key) => {
      const text = typeof thing[key] === 'string' ? thing[key] : '';
      const words = others.flatMap((lang) => {
        const [first] = listTexts(findTranslation(lang, thing, key));
        return first ? [[makeTag(lang), first] as const] : [];
      });
      return { [langs[0]!]: text, ...Object.fromEntries(words) };
    },
    lists: (thing, key) => {
      const lists = [listTexts(thing[key]), ...others.map((lang) => listTexts(findTranslation(lang, thing, key)))];
      return lists.filter((list, at) => at === 0 || list.length > 0);
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

function listTexts(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

function isTag(lang: string): boolean {
  return /^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}$/.test(lang);
}

function makeTag(lang: string): string {
  return lang === 'base' ? 'und' : lang;
}
