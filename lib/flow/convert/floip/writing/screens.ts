// Screens → blocks: a row for each kind of screen. What FLOIP has no key for is reported, screen by screen.

import type { Json } from '../../../../json/json.ts';
import type { Screen, Text } from '../../../format/flow.ts';
import { nameProperty } from '../context.ts';
import { CALL_BLOCK, LIST_BLOCK } from '../own.ts';
import {
  againExit,
  type Block,
  blockId,
  caseExits,
  makeExit,
  makeOwnExits,
  numberExits,
  resource,
  type WrittenScreen,
  writeTexts,
} from './exits.ts';
import { writeConstant } from './express.ts';
import { makeUuid } from './ids.ts';

type FloipBlockWriter<S extends Screen> = (
  screen: S,
  place: WrittenScreen,
) => Omit<Block, 'uuid' | 'name'> & { readonly type: string };

/** The block of a screen, and those that its ways lead through. */
export function writeScreen(screen: Screen, place: WrittenScreen): Block {
  const { writer, id } = place;
  for (const key of ['back', 'track', 'note'] as const) if (screen[key] !== undefined) writer.note(id, key, LOST[key]);
  const write = SCREENS[screen.type] as FloipBlockWriter<Screen>;
  return { uuid: blockId(writer.flow, id), name: id, label: id, ...write(screen, place) };
}

const LOST = {
  back: 'FLOIP has no way back.',
  track: 'FLOIP publishes no facts when a block is entered.',
  note: 'Blocks have no notes.',
} as const;

const SCREENS: { readonly [kind in Screen['type']]: FloipBlockWriter<Screen & { readonly type: kind }> } = {
  menu: (screen, place) => {
    const { writer, id } = place;
    const options = screen.options.map((option, at) => ({ ...option, typed: option.key ?? String(at + 1) }));
    for (const { id: name, when, hidden } of options) {
      if (when !== undefined) writer.note(id, `options.${name}.when`, 'Choices of FLOIP are always there.');
      if (hidden) writer.note(id, `options.${name}.hidden`, 'Choices of FLOIP are always shown.');
    }
    const exits = options.map((option) =>
      makeExit(place, {
        name: option.id,
        key: `options.${option.id}`,
        test: `block.value = ${writeConstant(option.id)}`,
        way: option,
      }),
    );
    return {
      type: 'MobilePrimitives.SelectOneResponse',
      config: {
        prompt: writer.resource(listOptions(screen.text, options, place)),
        question_prompt: resource(screen.text, place),
        choices: options.map((option) => ({
          name: option.id,
          prompt: resource(option.text, place),
          test: `block.response = ${/^\d+$/.test(option.typed) ? option.typed : writeConstant(option.typed)}`,
        })),
      },
      exits: [...exits, againExit(screen.error, place)],
    };
  },
  input: (screen, place) => {
    const { writer, id } = place;
    const number = screen.accept?.number;
    const others = Object.keys(screen.accept ?? {}).filter((rule) => rule !== 'number');
    const { min, max, ...more } =
      typeof number === 'object' && number !== null && !Array.isArray(number)
        ? (number as { [key: string]: Json })
        : {};
    for (const rule of [...others, ...Object.keys(more).map((key) => `number.${key}`)])
      writer.note(id, `accept.${rule}`, 'FLOIP checks nothing but the range of a number.');
    if (screen.attempts !== undefined && (screen.attempts > 1 || number === undefined))
      writer.note(id, 'attempts', 'FLOIP counts no refused answers: the first one leads on where it can be refused.');
    if (screen.else !== undefined && number === undefined)
      writer.note(id, 'else', 'FLOIP refuses numbers only, so that nothing leads there.');
    if (screen.error !== undefined && (number === undefined || screen.else !== undefined))
      writer.note(id, 'error', 'FLOIP refuses numbers only, and says nothing where a refused one leads elsewhere.');
    const way = { to: screen.to, ...(screen.set && { set: screen.set }) };
    const onward = number === undefined ? [makeExit(place, { name: 'default', way })] : numberExits(screen, place, way);
    return {
      type: number === undefined ? 'MobilePrimitives.OpenResponse' : 'MobilePrimitives.NumericResponse',
      config: {
        prompt: resource(screen.text, place),
        ...(min !== undefined && { validation_minimum: min }),
        ...(max !== undefined && { validation_maximum: max }),
        set_contact_property: [{ property_key: nameProperty(screen.save), property_value: '@block.value' }],
      },
      exits: onward,
    };
  },
  list: (screen, place) => {
    place.writer.note(
      place.id,
      'list',
      `FLOIP has no lists: it is a block "${LIST_BLOCK}", which other programs pass by.`,
    );
    const way = screen.pick && {
      to: screen.pick.to,
      ...(screen.pick.set && { set: screen.pick.set }),
      ...(screen.pick.track !== undefined && { track: screen.pick.track }),
    };
    return {
      type: LIST_BLOCK,
      config: {
        prompt: resource(screen.text, place),
        items: screen.items,
        row: screen.row as Json,
        ...(screen.empty !== undefined && { empty: screen.empty as Json }),
        ...(screen.error !== undefined && { error: screen.error as Json }),
        ...(screen.pick?.save !== undefined && { save: screen.pick.save }),
      },
      exits: way ? [makeExit(place, { name: 'picked', key: 'pick', way })] : [],
    };
  },
  call: (screen, place) => {
    place.writer.note(
      place.id,
      `call ${screen.service}`,
      `FLOIP calls no services: it is a block "${CALL_BLOCK}", which other programs pass by.`,
    );
    return {
      type: CALL_BLOCK,
      config: {
        service: screen.service,
        with: (screen.with ?? {}) as Json,
        ...(screen.save !== undefined && { save: screen.save }),
        ...(screen.timeout !== undefined && { timeout: screen.timeout }),
        ...(screen.retry !== undefined && { retry: screen.retry }),
      },
      exits: [...makeOwnExits('done', screen.done, place), ...makeOwnExits('fail', screen.fail, place)],
    };
  },
  branch: (screen, place) => ({ type: 'Core.Case', config: {}, exits: caseExits(screen.branch, place) }),
  flow: (screen, place) => {
    const { writer, id } = place;
    for (const key of ['with', 'save'] as const)
      if (screen[key] !== undefined)
        writer.note(id, key, 'Flows of FLOIP share the contact, and hand each other nothing else.');
    const ways = typeof screen.done === 'string' ? [{ to: screen.done }] : screen.done;
    const last = ways.at(-1)!;
    if (ways.length > 1) writer.note(id, 'done', 'A flow of FLOIP comes back one way only; the last one is written.');
    return {
      type: 'Core.RunFlow',
      config: { flow_id: writer.flowId(screen.flow) },
      exits: [makeExit(place, { name: 'default', key: `done.${ways.length - 1}`, way: { ...last } })],
    };
  },
  end: (screen, place) => {
    if (screen.output !== undefined)
      place.writer.note(place.id, 'output', 'Flows of FLOIP give nothing back but results of blocks.');
    return {
      type: 'MobilePrimitives.Message',
      config: { prompt: resource(screen.text, place) },
      exits: [
        {
          uuid: makeUuid(place.writer.flow.flow, place.id, 'exit'),
          name: 'default',
          default: true,
          destination_block: null,
        },
      ],
    };
  },
};

/** The whole menu as one text, for programs that show nothing else. */
function listOptions(
  text: Text,
  options: readonly { readonly text: Text; readonly typed: string; readonly hidden?: boolean }[],
  place: WrittenScreen,
) {
  const whole = writeTexts(text, place);
  const shown = options
    .filter(({ hidden }) => !hidden)
    .map((option) => ({ ...option, words: writeTexts(option.text, place) }));
  return Object.fromEntries(
    Object.entries(whole).map(([lang, head]) => [
      lang,
      [head, ...shown.map(({ typed, words }) => `${typed}. ${words[lang] ?? ''}`)].join('\n'),
    ]),
  );
}
