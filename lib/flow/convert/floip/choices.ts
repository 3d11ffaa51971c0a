// `SelectOneResponse` → a menu: its choices become options, with the keys that their tests ask for.

import { isName, type Values } from '../../format/flow.ts';
import { type ExcellentNode, parseExcellent } from '../excellent/parse.ts';
import { translateWords } from '../excellent/words.ts';
import { isNumbered, readListing } from '../listing.ts';
import { makeName, uniqueNames } from '../names.ts';
import { asObjects, asText, isObject } from '../source.ts';
import type { Choose, Next, Split, StepOption, Words } from '../steps/step.ts';
import type { FloipContext } from './context.ts';
import { type FloipExit, isOwn } from './file.ts';
import { type BlockPlace, exitWays, findAgain, findDefault, findWords, listTested, propertyValues } from './place.ts';

interface FloipChoice {
  readonly name: string;
  readonly words: Words | undefined;
  readonly key: string | undefined;
}

export function makeMenu(place: BlockPlace): Choose {
  const { flow, block, context, note } = place;
  const save = context.result(block.name);
  const own = context.at(save);
  const question = flow.words(block.config.question_prompt);
  const prompt = question ?? findWords(place, ['prompt', 'question_prompt']);
  const listing = question ? undefined : readListing(prompt);
  const choices = readChoices(place);
  const keys = choices.map(({ key }, at) => key ?? listing?.items[at]?.key ?? String(at + 1));
  const isKeyed = !isNumbered(keys) && new Set(keys).size === keys.length;
  const unique = uniqueNames();
  const nexts = choices.map(({ name }, at) => findNext(name, keys[at]!, { place, own }));
  const isAsked = nexts.includes(`${block.uuid}/split`);
  const options = choices.map((choice, at): StepOption => {
    const set = choiceValues(choice.name, { place, save, isAsked });
    const text = choice.words ?? listing?.items[at]?.text ?? { [flow.langs[0]!]: choice.name };
    return {
      id: unique(isName(choice.name) ? choice.name : makeName(choice.name, 'choice')),
      text: translateWords(text, block.uuid, context).words,
      ...(isKeyed && { key: keys[at]! }),
      ...(Object.keys(set).length && { set }),
      next: nexts[at],
    };
  });
  if (options.length === 0) note('choices', 'There are none; the menu ends the conversation.');
  const fallback = findDefault(block);
  const again = findAgain(place, fallback?.next);
  if (!again && listTested(block).length)
    note(`exit ${fallback?.name ?? 'default'}`, 'Any other answer left the block there; a menu asks again.');
  return {
    kind: 'choose',
    node: block.uuid,
    name: block.name,
    said: translateWords(
      listing && choices.length === listing.items.length ? listing.text : prompt,
      block.uuid,
      context,
    ),
    options: options.length ? options : [{ id: 'ok', text: { [flow.langs[0]!]: 'OK' }, next: fallback?.next }],
    ...(again?.error && { error: again.error }),
  };
}

function readChoices({ flow, block }: BlockPlace): FloipChoice[] {
  const { choices } = block.config;
  if (isObject(choices))
    return Object.entries(choices).map(([name, reference]) => ({ name, words: flow.words(reference), key: undefined }));
  return asObjects(choices).map((choice, at) => ({
    name: asText(choice.name) ?? `choice_${at + 1}`,
    words: flow.words(choice.prompt),
    key: findKey(asText(choice.test)),
  }));
}

/** What a phone types for a choice: the first number, else the first text, that its test compares `block.response` with. */
function findKey(test: string | undefined): string | undefined {
  const parsed = parseExcellent((test ?? '').replace(/^@/, ''));
  if ('why' in parsed) return undefined;
  const found = listResponses(parsed.root).filter((text) => /^\S{1,8}$/.test(text));
  return found.find((text) => /^\d+$/.test(text)) ?? found.find((text) => text.length === 1 || !/^\p{L}/u.test(text));
}

function listResponses(node: ExcellentNode): string[] {
  if (node.kind === 'call') {
    // What another mode takes is none of a phone menu.
    const isOtherMode = node.name === 'and' && node.args.some((arg) => holdsForMode(arg) === false);
    return isOtherMode ? [] : node.args.flatMap(listResponses);
  }
  if (node.kind !== 'binary') return [];
  const sides = [node.left, node.right];
  const isResponse = sides.some((side) => side.kind === 'path' && side.steps.join('.') === 'block.response');
  const constant = sides.find((side) => side.kind === 'value');
  if (node.sign === '=' && isResponse && constant?.kind === 'value') return [String(constant.value)];
  return sides.flatMap(listResponses);
}

const MODES: ReadonlySet<string> = new Set(['flow.mode', 'run.mode', 'channel.mode']);

function holdsForMode(node: ExcellentNode): boolean | undefined {
  if (node.kind !== 'binary' || node.left.kind !== 'path' || node.right.kind !== 'value') return undefined;
  const path = node.left.steps.join('.');
  if (!MODES.has(path)) return undefined;
  const isSame = ['ussd', 'text'].includes(String(node.right.value).toLowerCase());
  return node.sign === '=' ? isSame : !isSame;
}

interface Chosen {
  readonly place: BlockPlace;
  readonly save: string;
  /** The name of the choice is asked for after the menu. */
  readonly isAsked: boolean;
}

function choiceValues(name: string, { place, save, isAsked }: Chosen): Values {
  const values = propertyValues(place, place.context.at(save));
  const known = Object.entries(values).map(([key, value]) => [key, value === `=${save}` ? name : value]);
  // In containers that Twinline wrote, no other block reads the result.
  const isKept = isAsked || !isOwn(place.flow);
  return { ...(isKept && { [save]: name }), ...Object.fromEntries(known) };
}

/** Where a choice leads: through the first exit whose test holds for its name. */
function findNext(name: string, key: string, { place, own }: { place: BlockPlace; own: FloipContext }): Next {
  const { block, steps } = place;
  const tested = listTested(block);
  if (tested.length === 0) return (byName(block.exits, name) ?? findDefault(block))?.next;
  // In 1.0.0-rc1 the value of a choice may be what was typed for it.
  const typed = tested.some((exit) => holdsFor(exit.test ?? '', { name, key }) === true) ? name : key;
  for (const exit of tested) {
    const holds = holdsFor(exit.test ?? '', { name: typed, key });
    if (holds === true) return exit.next;
    if (holds === false) continue;
    const decide = `${block.uuid}/split`;
    const split: Split = {
      kind: 'split',
      node: block.uuid,
      name: `${block.name}_split`.slice(0, 60),
      ways: exitWays({ ...place, context: own }, (next) => next),
    };
    steps.set(decide, split);
    return decide;
  }
  return findDefault(block)?.next;
}

function byName(exits: readonly FloipExit[], name: string): FloipExit | undefined {
  return exits.find((exit) => exit.name.toLowerCase() === name.toLowerCase());
}

/** Whether a test holds for this answer, when it looks at nothing else. */
function holdsFor(test: string, answer: { readonly name: string; readonly key: string }): boolean | undefined {
  const parsed = parseExcellent(test.replace(/^@/, ''));
  return 'why' in parsed ? undefined : evaluate(parsed.root, answer);
}

function evaluate(node: ExcellentNode, answer: { readonly name: string; readonly key: string }): boolean | undefined {
  if (node.kind === 'call' && (node.name === 'and' || node.name === 'or')) {
    const values = node.args.map((arg) => evaluate(arg, answer));
    const decides = node.name === 'or';
    if (values.includes(decides)) return decides;
    return values.includes(undefined) ? undefined : !decides;
  }
  if (node.kind === 'value' && typeof node.value === 'boolean') return node.value;
  if (node.kind !== 'binary' || !['=', '!=', '<>'].includes(node.sign)) return undefined;
  const mode = holdsForMode(node);
  if (mode !== undefined) return mode;
  const [left, right] = [readConstant(node.left, answer), readConstant(node.right, answer)];
  if (left === undefined || right === undefined) return undefined;
  return (left.toLowerCase() === right.toLowerCase()) === (node.sign === '=');
}

function readConstant(
  node: ExcellentNode,
  { name, key }: { readonly name: string; readonly key: string },
): string | undefined {
  if (node.kind === 'value') return String(node.value);
  // Large and small letters are the same in comparisons.
  if (node.kind === 'call' && (node.name === 'lower' || node.name === 'upper') && node.args.length === 1)
    return readConstant(node.args[0]!, { name, key });
  if (node.kind !== 'path') return undefined;
  const path = node.steps.join('.');
  if (path === 'block.value') return name;
  if (path === 'block.response') return key;
  // A single word stands for itself.
  return node.steps.length === 1 ? node.steps[0] : undefined;
}
