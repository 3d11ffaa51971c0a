// Blocks of FLOIP → steps: a table by type. A block of another type is reported and skipped.

import type { Values } from '../../format/flow.ts';
import { toCondition } from '../excellent/made.ts';
import { toTextValue, translateValue, translateWords } from '../excellent/words.ts';
import { chooseService, readRequest } from '../request.ts';
import { asText } from '../source.ts';
import type { Assign, CallStep, Step } from '../steps/step.ts';
import { makeMenu } from './choices.ts';
import { OWN_BLOCKS } from './own.ts';
import {
  type BlockPlace,
  exitWays,
  findDefault,
  findWords,
  listTested,
  propertyValues,
  readExpression,
  setBefore,
} from './place.ts';
import { askNumber, askText, readLine } from './questions.ts';

export type MakeBlock = (place: BlockPlace) => Step | undefined;

/** Puts the steps of a block among the others, the first under its uuid. */
export function addBlock(place: BlockPlace): void {
  const { block, steps, note } = place;
  const make = [BLOCKS, OWN_BLOCKS]
    .map((table) => (Object.hasOwn(table, block.type) ? table[block.type] : undefined))
    .find(Boolean);
  const made = make?.(place);
  if (!make)
    note(
      block.type,
      Object.hasOwn(WITHOUT, block.type) ? WITHOUT[block.type]! : 'Flows have nothing like it; it is passed by.',
    );
  steps.set(block.uuid, made ?? passBy(place));
}

function passBy({ block }: BlockPlace): Step {
  return {
    kind: 'split',
    node: block.uuid,
    name: block.name,
    ways: [{ next: findDefault(block)?.next ?? block.exits[0]?.next }],
  };
}

const say =
  (waits: boolean): MakeBlock =>
  (place) => {
    const { block, context } = place;
    const said = translateWords(findWords(place, ['prompt', 'message']), block.uuid, context);
    const next = findDefault(block)?.next ?? block.exits[0]?.next;
    const base = { node: block.uuid, name: block.name, said };
    const values = propertyValues(place, context);
    if (next === undefined && Object.keys(values).length === 0) return { kind: 'end', ...base };
    return { kind: 'say', ...base, waits, next: setBefore(place, values)(next) };
  };

const assign = (place: BlockPlace, values: Values): Assign => ({
  kind: 'assign',
  node: place.block.uuid,
  name: place.block.name,
  values,
  next: findDefault(place.block)?.next ?? place.block.exits[0]?.next,
});

const BLOCKS: { readonly [type: string]: MakeBlock } = {
  'MobilePrimitives.Message': say(true),
  'ConsoleIO.Print': say(false),
  'MobilePrimitives.SelectOneResponse': makeMenu,
  'MobilePrimitives.NumericResponse': askNumber,
  'MobilePrimitives.OpenResponse': askText,
  'ConsoleIO.Read': readLine,
  'Core.Case': (place) => {
    const lead = setBefore(place, propertyValues(place, place.context));
    return { kind: 'split', node: place.block.uuid, name: place.block.name, ways: exitWays(place, lead) };
  },
  'Core.RunFlow': (place) => {
    const { block, note } = place;
    const fallback = findDefault(block);
    const done = block.exits.find((exit) => exit !== fallback && exit.next !== undefined) ?? fallback;
    if (fallback && done !== fallback && fallback.next !== done?.next)
      note(
        `exit ${fallback.name || 'default'}`,
        'A flow that was entered has no failure to come back with; this way is left out.',
      );
    const lead = setBefore(place, propertyValues(place, place.context));
    return place.enter(asText(block.config.flow_id) ?? '', lead(done?.next));
  },
  'Core.SetContactProperty': (place) => assign(place, propertyValues(place, place.context)),
  'Core.Output': (place) => {
    const { block, context, note } = place;
    const text = asText(block.config.value) ?? '';
    const made = readExpression(text, context);
    const value =
      text.includes('@') || 'why' in made
        ? translateValue(text, block.uuid, context)
        : (made.value ?? `=${made.source}`);
    if (value === undefined) note(`value ${text}`, 'It has no counterpart; the result is not set.');
    return value === undefined ? undefined : assign(place, { [context.result(block.name)]: toTextValue(value) });
  },
  'Core.Log': (place) => {
    const { block, flow, note } = place;
    const [message = ''] = Object.values(flow.words(block.config.message) ?? {});
    const isMark = /^[A-Za-z][\w.-]{0,63}$/.test(message);
    if (!isMark) note('Core.Log', `Flows keep no log: the fact "${block.name}" is published instead of the message.`);
    return { ...assign(place, {}), track: isMark ? message : block.name };
  },
  'Core.Webhook': webhook,
};

function webhook(place: BlockPlace): CallStep | undefined {
  const { block, context } = place;
  const method = (asText(block.config.method) ?? 'POST').toUpperCase();
  const request = readRequest({ ...block.config, type: block.type }, method, { language: context, node: block.uuid });
  if (!request) return undefined;
  const fallback = findDefault(block)?.next;
  const lead = setBefore(place, propertyValues(place, context));
  const tested = listTested(block);
  const done = block.exits.filter((exit) => exit.test === undefined && exit !== findDefault(block));
  const ways = tested.flatMap(({ test = '', next }) => {
    const made = readExpression(test, context);
    return 'why' in made ? [] : [{ when: toCondition(made), next: lead(next) }];
  });
  const last = { next: lead(done[0] ? done[0].next : fallback) };
  return {
    kind: 'call',
    node: block.uuid,
    name: block.name,
    service: chooseService(method, { language: context, node: block.uuid }),
    with: request,
    save: context.result(block.name),
    done: [...ways, last],
    fail: [{ next: lead(fallback) }],
  };
}

const MEDIA = 'A phone menu takes text only; it is passed by.';
const WITHOUT: { readonly [type: string]: string } = {
  'MobilePrimitives.SelectManyResponses': 'A menu takes one answer; it is passed by.',
  'MobilePrimitives.SelectManyResponse': 'A menu takes one answer; it is passed by.',
  'Core.SetGroupMembership': 'Flows know no contacts and groups; it is passed by.',
  'SmartDevices.LocationResponse': MEDIA,
  'SmartDevices.PhotoResponse': MEDIA,
};
