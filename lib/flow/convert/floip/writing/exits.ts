// Exits of blocks: where a way of a screen leads, through blocks that set properties and publish what is tracked on it.

import type { Json } from '../../../../json/json.ts';
import type { Flow, Screen, Text, Values, Way } from '../../../format/flow.ts';
import { nameProperty } from '../context.ts';
import { expressSource, expressTemplate, type Variables, writeConstant } from './express.ts';
import { makeUuid } from './ids.ts';

export type Block = { readonly [key: string]: Json };

export interface Writer {
  readonly flow: Flow;
  readonly variables: Variables;
  readonly langs: readonly string[];
  /** Puts a text among the resources of the container; its uuid. */
  resource(text: { readonly [lang: string]: string }): string;
  /** Adds a block beside that of the screen. */
  block(block: Block): void;
  note(screen: string, what: string, reason: string): void;
  /** Uuid of the flow of this name. */
  flowId(name: string): string;
}

export interface WrittenScreen {
  readonly writer: Writer;
  readonly id: string;
}

export const blockId = (flow: Flow, screen: string): string => makeUuid(flow.flow, 'block', screen);

interface ExitWish {
  readonly name: string;
  /** The key of the screen that it is written for. */
  readonly key?: string;
  readonly test?: string;
  readonly way: Omit<Way, 'when'>;
}

/** An exit, through blocks that set properties and publish what is tracked on its way. */
export function makeExit({ writer, id }: WrittenScreen, { name, key, test, way }: ExitWish): Block {
  const { flow } = writer;
  let next = blockId(flow, way.to);
  const chain = (kind: string, type: string, config: Block) => {
    const uuid = makeUuid(flow.flow, id, name, kind);
    const exits = [{ uuid: makeUuid(uuid, 'exit'), name: 'default', default: true, destination_block: next }];
    writer.block({ uuid, name: `${id}_${name}_${kind}`.replace(/\W/g, '_'), type, config, exits });
    next = uuid;
  };
  if (way.track !== undefined) chain('track', 'Core.Log', { message: way.track });
  if (way.set && Object.keys(way.set).length)
    chain('set', 'Core.SetContactProperty', {
      set_contact_property: writeValues(way.set, { writer, id, key: key ? `${key}.set` : 'set' }),
    });
  return {
    uuid: makeUuid(flow.flow, id, name, 'exit'),
    name,
    ...(test === undefined ? { default: true } : { test }),
    destination_block: next,
  };
}

function writeValues(values: Values, { writer, id, key }: WrittenScreen & { readonly key: string }): Json {
  return Object.entries(values).flatMap(([name, value]) => {
    const text = writeValue(value, writer.variables);
    if ('why' in text) {
      writer.note(id, `${key}.${name}`, `It is not written: ${text.why}.`);
      return [];
    }
    return [{ property_key: nameProperty(name), property_value: text.source }];
  });
}

function writeValue(value: Json, variables: Variables) {
  if (typeof value === 'string' && value.startsWith('=')) {
    const made = expressSource(value.slice(1), variables);
    return 'why' in made ? made : { source: `@(${made.source})` };
  }
  if (typeof value === 'string') return { source: value.replaceAll('@', '@@') };
  if (typeof value === 'object' && value !== null) return { why: 'properties of a contact hold no lists and objects' };
  return { source: `@(${writeConstant(value)})` };
}

export function caseExits(ways: readonly Way[], place: WrittenScreen): Json {
  const { writer, id } = place;
  return ways.map(({ when, ...way }, at) => {
    const made = when === undefined ? undefined : expressSource(when, writer.variables);
    if (made && 'why' in made) writer.note(id, `branch.${at}.when`, `It is never taken elsewhere: ${made.why}.`);
    const test = made && ('why' in made ? 'FALSE' : made.source);
    return makeExit(place, { name: `way_${at + 1}`, key: `branch.${at}`, way, ...(test !== undefined && { test }) });
  });
}

/** Exits of a block of ours: their tests are conditions of flows. */
export function makeOwnExits(of: string, given: string | readonly Way[], place: WrittenScreen): Block[] {
  const ways: readonly Way[] = typeof given === 'string' ? [{ to: given }] : given;
  return ways.map(({ when, ...way }, at) => {
    const { default: _, ...exit } = makeExit(place, { name: `${of}_${at + 1}`, key: `${of}.${at}`, way });
    return { ...exit, ...(when === undefined ? { default: of === 'fail' } : { test: when }) };
  });
}

export function numberExits(
  screen: Screen & { readonly type: 'input' },
  place: WrittenScreen,
  way: Omit<Way, 'when'>,
): Block[] {
  const taken = makeExit(place, { name: 'taken', test: 'block.value <> NULL', way });
  if (screen.else === undefined) return [taken, againExit(screen.error, place)];
  return [taken, makeExit(place, { name: 'default', way: { to: screen.else } })];
}

/** Back to the block, through a message where there is one. */
export function againExit(error: Text | undefined, place: WrittenScreen): Block {
  const { writer, id } = place;
  const self = blockId(writer.flow, id);
  const uuid = makeUuid(writer.flow.flow, id, 'again');
  if (error !== undefined)
    writer.block({
      uuid,
      name: `${id}_again`,
      type: 'MobilePrimitives.Message',
      config: { prompt: resource(error, place) },
      exits: [{ uuid: makeUuid(uuid, 'exit'), name: 'default', default: true, destination_block: self }],
    });
  return {
    uuid: makeUuid(writer.flow.flow, id, 'default exit'),
    name: 'default',
    default: true,
    destination_block: error === undefined ? self : uuid,
  };
}

/** The text of the screen in every language, as a resource. */
export function resource(text: Text, place: WrittenScreen): string {
  return place.writer.resource(writeTexts(text, place));
}

export function writeTexts(text: Text, { writer, id }: WrittenScreen): { [lang: string]: string } {
  const write = (one: string) =>
    expressTemplate(one, {
      variables: writer.variables,
      note: (filter) =>
        writer.note(id, `text ${filter}`, 'FLOIP prints the value as it is, or nothing where it has none.'),
    });
  const texts = typeof text === 'string' ? writer.langs.map((lang) => [lang, text] as const) : Object.entries(text);
  return Object.fromEntries(texts.map(([lang, one]) => [lang, write(one)]));
}
