// Blocks that ask for something to be typed → inputs.

import type { Values } from '../../format/flow.ts';
import { translateWords } from '../excellent/words.ts';
import { asText, asTexts } from '../source.ts';
import type { Ask, Next, StepWay } from '../steps/step.ts';
import type { FloipContext } from './context.ts';
import { type BlockPlace, exitWays, findAgain, findDefault, findWords, listTested, propertyValues } from './place.ts';

/** What an input accepts, and whether it then holds a number. */
interface InputRule {
  readonly accept?: NonNullable<Ask['accept']>;
  readonly isNumber?: boolean;
}

export function askNumber(place: BlockPlace): Ask {
  const { validation_minimum: least, validation_maximum: most } = place.block.config;
  const bounds = {
    ...(typeof least === 'number' && { min: least }),
    ...(typeof most === 'number' && { max: most }),
  };
  const isSane = bounds.min === undefined || bounds.max === undefined || bounds.min <= bounds.max;
  if (!isSane) place.note('validation_minimum', 'It is larger than the maximum; every number is taken.');
  const number = isSane && Object.keys(bounds).length ? bounds : true;
  return ask(place, { accept: { number }, isNumber: true });
}

export function askText(place: BlockPlace): Ask {
  return ask(place, {});
}

/** `ConsoleIO.Read`: a line from the caller, into the first variable of its format. */
export function readLine(place: BlockPlace): Ask {
  const { block, context, note } = place;
  const [first, ...more] = asTexts(block.config.destination_variables);
  if (more.length)
    note(`destination_variables ${more.join(', ')}`, 'One answer goes into one variable; these get nothing.');
  if (first !== undefined) context.alias(block.name, context.property(first));
  const isNumber = /^\s*%(?:d|i|f|g|lf|u)\s*$/.test(asText(block.config.format_string) ?? '');
  return ask(place, isNumber ? { accept: { number: true }, isNumber } : {});
}

function ask(place: BlockPlace, { accept, isNumber }: InputRule): Ask {
  const { block, context, note } = place;
  const isRead = block.type === 'ConsoleIO.Read';
  const words = isRead ? {} : findWords(place, ['prompt', 'question_prompt']);
  const { save, set } = chooseVariable(place);
  if (isNumber) context.variables.makeNumber(save);
  const own = context.at(save);
  const fallback = findDefault(block)?.next;
  const tested = listTested(block);
  const [only] = tested;
  const isSimple = tested.length === 0 || (tested.length === 1 && isAnswered(only?.test ?? ''));
  const again = findAgain(place, fallback);
  if (accept && tested.length === 0)
    note('default exit', 'An answer that is refused left the block there; the input asks again.');
  const isElsewhere = accept !== undefined && tested.length > 0 && !again;
  return {
    kind: 'ask',
    node: block.uuid,
    name: block.name,
    said: translateWords(words, block.uuid, context),
    save,
    ...(accept && { accept }),
    ...(accept && again?.error && { error: again.error }),
    ...(isElsewhere && { otherwise: { attempts: 1, next: fallback } }),
    ...(Object.keys(set).length && { set }),
    next: isSimple ? (only ?? findDefault(block))?.next : splitAfter(place, own),
  };
}

/** The property that takes the answer as it is, or the result of the block; and what else is set. */
function chooseVariable(place: BlockPlace): { readonly save: string; readonly set: Values } {
  const { block, context } = place;
  const marker = context.variables.name(`answer ${block.uuid}`, 'answer');
  const values = propertyValues(place, context.at(marker));
  const isAnswer = (value: unknown) => value === `=${marker}`;
  const direct = Object.keys(values).find((name) => isAnswer(values[name]));
  const save = direct ?? context.result(block.name);
  if (direct !== undefined) context.alias(block.name, direct);
  const rest = Object.entries(values).filter(([name]) => name !== direct);
  const set = rest.map(([name, value]) => [
    name,
    typeof value === 'string' ? value.replace(new RegExp(`\\b${marker}\\b`, 'g'), save) : value,
  ]);
  return { save, set: Object.fromEntries(set) };
}

/** A test that every answer passes which was taken. */
function isAnswered(test: string): boolean {
  return /^@?\(?\s*(?:block\.(?:value|response)\s*(?:<>|!=)\s*(?:NULL|""|'')|ISNUMBER\(block\.value\)|ISSTRING\(block\.value\)|TRUE)\s*\)?$/i.test(
    test.trim(),
  );
}

function splitAfter(place: BlockPlace, own: FloipContext): Next {
  const { block, steps } = place;
  const key = `${block.uuid}/split`;
  const ways: readonly StepWay[] = exitWays({ ...place, context: own }, (next) => next);
  steps.set(key, { kind: 'split', node: block.uuid, name: `${block.name}_split`.slice(0, 60), ways });
  return key;
}
