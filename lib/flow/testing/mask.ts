// Secrets and private values of a recorded dialogue: a number takes the place of each that was typed, and a stand-in the place of the
// number; of what services answered, a stand-in.

import { TwinlineError } from '../../errors.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import type { InputScreen } from '../format/flow.ts';
import { compileAccept } from '../run/accept.ts';
import type { CompiledFlow } from '../run/compile.ts';
import { isKey, screenKeys } from '../run/page.ts';
import { isAnswerHidden, keepsPrivate, type ScreenNode } from '../run/scope.ts';
import type { MockAnswer } from './file.ts';

/** Replaces a secret input. */
export interface Masked {
  /** 1 for the first secret of the dialogue, the same number for the same secret. */
  readonly secret: number;
  /** Whether it satisfied the rule of its screen, apart from `sameAs`. */
  readonly fits: boolean;
}

/** Numbers the secrets and private answers of one dialogue. Only this object holds them, and only meanwhile. */
export interface Masks {
  /** What may be recorded of an input on this screen. */
  mask(input: string, node: ScreenNode | undefined): string | Masked;
}

export function masks(now: () => number = Date.now): Masks {
  const texts: string[] = [];
  return {
    mask: (input, node) => {
      if (!node || !isAnswerHidden(node) || isNavigation(input, node)) return input;
      if (!texts.includes(input)) texts.push(input);
      return { secret: texts.indexOf(input) + 1, fits: compileRule(node.screen as InputScreen)(input, now()) };
    },
  };
}

/** Substitutes for the secrets of a dialogue: equal for equal secrets, and as valid on their screen. */
export function standIns(now: () => number = Date.now): (maskedText: Masked, node: ScreenNode | undefined) => string {
  const chosen = new Map<number, string>();
  return ({ secret, fits }, node) => {
    const screen = node?.screen.type === 'input' ? node.screen : undefined;
    const keeps = screen ? compileRule(screen) : () => fits;
    const options = [chosen.get(secret) ?? [], listCandidates(secret)].flat();
    const substitute = options.find((text) => keeps(text, now()) === fits && !(node && isNavigation(text, node)));
    if (substitute === undefined) throw standInError(node!, fits);
    chosen.set(secret, substitute);
    return substitute;
  };
}

function standInError({ path }: ScreenNode, fits: boolean): TwinlineError {
  const words = fits ? 'keeps' : 'breaks';
  return new TwinlineError('ERR_INPUT', `No stand-in for a secret ${words} the rule of screen "${path}".`);
}

function isNavigation(input: string, node: ScreenNode): boolean {
  return Object.values(screenKeys(node)).some((key) => isKey(input.trim(), key));
}

function compileRule({ accept = {} }: InputScreen): (text: string, now: number) => boolean {
  const { sameAs: _, ...rule } = accept as JsonObject;
  if (!Object.keys(rule).length) return () => true;
  const { check } = compileAccept(rule);
  return (text, now) => check(text, now).ok;
}

const DIGITS = '5820473916';
const LETTERS = 'kmrtbdhgnp';
const LENGTHS = [4, 5, 6, 8, 1, 2, 3, 7, 9, 10, 12, 16, 20];

// A different one for each number, as long as there are characters left.
function listCandidates(number: number): string[] {
  const at = number % DIGITS.length;
  const rotate = (text: string) => (text.slice(at) + text.slice(0, at)).repeat(2);
  const [digits, letters] = [rotate(DIGITS), rotate(LETTERS)];
  const mixed = [digits, letters, `A1${letters}`, `aA1!${letters}`];
  return mixed.flatMap((text) => LENGTHS.map((length) => text.slice(0, length)));
}

/** The services with private answers, and what may be recorded instead. */
export function listPrivateServices({ screens }: Pick<CompiledFlow, 'screens'>): Map<string, (answer: Json) => Json> {
  const masks = new Map<string, (answer: Json) => Json>();
  for (const node of screens.values()) {
    if (node.screen.type !== 'call' || !keepsPrivate(node)) continue;
    const { sample } = node.scope.flow.vars![node.screen.save!]!;
    masks.set(node.screen.service, (answer) => sample ?? standInFor(answer));
  }
  return masks;
}

/** What is kept of a caller, with stand-ins for private values. */
export function hidePrivateMemory({ flow: { vars = {} } }: Pick<CompiledFlow, 'flow'>, memory: JsonObject): JsonObject {
  const shown = Object.entries(memory).map(([name, value]) => {
    const { sample, private: isPrivate } = vars[name] ?? {};
    return [name, isPrivate ? (sample ?? standInFor(value)) : value] as const;
  });
  return Object.fromEntries(shown);
}

/** Replaces private answers of services: by the sample of their variable, else by values of the same kinds. */
export function hidePrivateAnswers(
  compiledFlow: Pick<CompiledFlow, 'screens'>,
  services: { readonly [service: string]: readonly MockAnswer[] },
): Record<string, MockAnswer[]> {
  const hidden = listPrivateServices(compiledFlow);
  const hide = (service: string, answer: MockAnswer): MockAnswer => {
    const standIn = 'return' in answer ? hidden.get(service) : undefined;
    return standIn ? { ...answer, return: standIn(answer.return ?? null) } : answer;
  };
  return Object.fromEntries(
    Object.entries(services).map(([name, answers]) => [name, answers.map((answer) => hide(name, answer))]),
  );
}

function standInFor(value: Json): Json {
  if (typeof value === 'string') return value.replace(/\p{L}/gu, 'x').replace(/\p{N}/gu, '5');
  if (typeof value === 'number') return 5;
  if (Array.isArray(value)) return value.map(standInFor);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, standInFor(part as Json)]));
}
