// New screens, as complete as a few answers of an author make them: what they say, ask or call, and where they lead.

import type { Json, JsonObject } from '../../json/json.ts';
import type { ScreenType } from '../format/flow.ts';
import { type Contracts, findContract } from '../lint/shapes.ts';
import { nameOption } from '../screens/option.ts';

/** What an input asks for. */
export type AnswerKind = 'text' | 'number' | 'pin' | 'phone' | 'date';

export interface NewScreen {
  readonly type: ScreenType;
  readonly id: string;
  /** What it says. @default nothing */
  readonly text?: string;
  /** The lines of a menu. @default one line "Next" */
  readonly lines?: readonly string[];
  /** What an input asks for. @default 'text' */
  readonly answer?: AnswerKind;
  /** The service of a call. */
  readonly service?: string;
  /** The flow of a `flow` screen. */
  readonly flow?: string;
  /** The array that a list shows. @default a new one of the id */
  readonly items?: string;
}

export interface ScreenSurroundings {
  /** Where it leads. */
  readonly next: string;
  /** Where a failed call leads. */
  readonly fail: string;
  /** The variables of the flow. */
  readonly vars: JsonObject;
  readonly contracts: Contracts | undefined;
}

/** A screen, and the variables that it needs. */
export interface MadeScreen {
  readonly screen: JsonObject;
  readonly vars: JsonObject;
}

export function makeScreen(wanted: NewScreen, around: ScreenSurroundings): MadeScreen {
  return MAKERS[wanted.type](wanted, around);
}

const ANSWERS: { readonly [kind in AnswerKind]: { readonly accept: JsonObject; readonly variable: JsonObject } } = {
  text: { accept: { length: { min: 1, max: 30 } }, variable: { type: 'string', max: 30 } },
  number: { accept: { number: true }, variable: { type: 'number' } },
  pin: { accept: { digits: { min: 4, max: 6 } }, variable: { type: 'string', secret: true, max: 6 } },
  phone: { accept: { msisdn: true }, variable: { type: 'string', max: 16 } },
  date: { accept: { date: true }, variable: { type: 'string', max: 10 } },
};

const MAKERS: { readonly [type in ScreenType]: (wanted: NewScreen, around: ScreenSurroundings) => MadeScreen } = {
  menu: ({ text = '', lines = [] }, { next }) => ({
    screen: { type: 'menu', text, options: makeOptions(lines.length ? lines : ['Next'], next) },
    vars: {},
  }),
  input: ({ id, text = '', answer = 'text' }, { next }) => {
    const { accept, variable } = ANSWERS[answer];
    return { screen: { type: 'input', text, save: id, accept, to: next }, vars: { [id]: variable } };
  },
  list: ({ id, text = '', items }) => ({
    screen: { type: 'list', text, items: items ?? id, row: '{{row}}' },
    vars: items === undefined ? { [id]: { type: 'array', default: [] } } : {},
  }),
  call: ({ id, service = 'http.get' }, { next, fail, vars, contracts }) => {
    const input = findContract(contracts, service)?.input ?? {};
    const needed = Object.entries(input).filter(([, { required: isRequired }]) => isRequired);
    const given = Object.fromEntries(needed.map(([name]) => [name, findValue(name, vars)]));
    return {
      screen: { type: 'call', service, ...(needed.length && { with: given }), save: id, done: next, fail },
      vars: { [id]: { type: 'object' } },
    };
  },
  branch: (_, { next }) => ({ screen: { type: 'branch', branch: [{ to: next }] }, vars: {} }),
  flow: ({ flow = '' }, { next }) => ({ screen: { type: 'flow', flow, done: next }, vars: {} }),
  end: ({ text = '' }) => ({ screen: { type: 'end', text }, vars: {} }),
};

/** Options with ids of their texts, which are different from each other. */
export function makeOptions(lines: readonly string[], to: string, present: readonly string[] = []): JsonObject[] {
  const ids = [...present];
  return lines.map((text) => {
    const id = makeUnique(nameOption({ text }) ?? 'option', ids);
    ids.push(id);
    return { id, text, to };
  });
}

/** The name, with a number where others have it. */
export function makeUnique(name: string, others: readonly string[]): string {
  if (!others.includes(name)) return name;
  for (let number = 2; ; number++) if (!others.includes(`${name}${number}`)) return `${name}${number}`;
}

// A variable of the same name; for a PIN, the only secret one.
function findValue(name: string, vars: JsonObject): Json {
  if (Object.hasOwn(vars, name)) return `=${name}`;
  const secrets = Object.keys(vars).filter((one) => (vars[one] as JsonObject | null)?.secret === true);
  return name === 'pin' && secrets.length === 1 ? `=${secrets[0]}` : '';
}
