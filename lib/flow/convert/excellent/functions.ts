// Functions of Excellent that can be converted, by name.

import {
  type FlowExpression,
  makeConstant,
  tight,
  toAmount,
  toCondition,
  toNumber,
  toText,
  Untranslatable,
} from './made.ts';
import { TEST_NAMES, testConditions } from './tests.ts';

type FunctionWriter = (args: readonly FlowExpression[]) => FlowExpression;

const textCall =
  (name: string): FunctionWriter =>
  ([value]) => ({ source: `${name}(${toText(requireArgument(value))})`, kind: 'text' });

const numberCall =
  (name: string): FunctionWriter =>
  (args) => {
    const numbers = args.map((arg) => {
      const number = toNumber(arg);
      return arg.kind === 'number' && arg.isTight !== true ? number : guard(number);
    });
    return { source: `${name}(${numbers.join(', ')})`, kind: 'number' };
  };

// In a flow, a function that gets null instead of a number fails the turn.
function guard(number: string): string {
  return /^-?\d/.test(number) ? number : `${tight(number)} == null ? 0 : ${number}`;
}

const logic =
  (word: 'and' | 'or'): FunctionWriter =>
  (args) => {
    if (args.length === 0) throw new Untranslatable(`${word} has no arguments`);
    return { source: args.map((arg) => tightCondition(arg)).join(` ${word} `), kind: 'boolean' };
  };

const tightCondition = (argument: FlowExpression): string => {
  const condition = toCondition(argument);
  return / (?:and|or) | \? /.test(condition) ? `(${condition})` : condition;
};

const choose: FunctionWriter = ([test, yes = makeConstant(true), no = makeConstant(false)]) => {
  const kind = yes.kind === no.kind ? yes.kind : 'unknown';
  return { source: `${tight(toCondition(requireArgument(test)))} ? ${tight(yes.source)} : ${tight(no.source)}`, kind };
};

const orElse: FunctionWriter = ([value, other]) => {
  const argument = requireArgument(value);
  const text = argument.kind === 'text' || argument.kind === 'unknown' ? ` or ${tight(argument.source)} == ''` : '';
  const kind = argument.kind === requireArgument(other).kind ? argument.kind : 'unknown';
  return {
    source: `${tight(argument.source)} == null${text} ? ${tight(other!.source)} : ${tight(argument.source)}`,
    kind,
  };
};

// The remainder has the sign of the divisor, as in Excellent. In a flow, division by zero fails the turn.
const remainder: FunctionWriter = ([value, divisor]) => {
  const by = requireArgument(divisor).value;
  if (typeof by !== 'number' || by === 0)
    throw new Untranslatable('it divides by something that may be zero, which would end the conversation');
  const number = tight(toAmount(requireArgument(value)));
  return { source: `(${number} % ${by} + ${by}) % ${by}`, kind: 'number' };
};

// URNs of callers are plain phone numbers here.
const formatUrn: FunctionWriter = ([urn]) => {
  const argument = requireArgument(urn);
  if (argument.source !== 'phoneNumber') throw new Untranslatable('flows know only the phone number of a caller');
  return { ...argument, kind: 'text' };
};

const TABLE: { readonly [name: string]: FunctionWriter } = {
  upper: textCall('upper'),
  lower: textCall('lower'),
  title: textCall('title'),
  trim: textCall('trim'),
  text_length: ([value]) => ({ source: `len(${toText(requireArgument(value))})`, kind: 'number' }),
  abs: numberCall('abs'),
  max: numberCall('max'),
  min: numberCall('min'),
  round: numberCall('round'),
  mod: remainder,
  format_urn: formatUrn,
  if: choose,
  and: logic('and'),
  or: logic('or'),
  boolean: ([value]) => ({ source: toCondition(requireArgument(value)), kind: 'boolean' }),
  number: ([value]) => ({ source: toNumber(requireArgument(value)), kind: 'number', isTight: true }),
  text: ([value]) => ({ source: toText(requireArgument(value)), kind: 'text' }),
  clean: ([value]) => requireArgument(value),
  default: orElse,
};

/** By lower-case name. */
export const FUNCTION_TABLE: ReadonlyMap<string, FunctionWriter> = new Map([
  ...Object.entries(TABLE),
  ...TEST_NAMES.map((name) => [name, testCall(name)] as const),
]);

// Router tests can be called as functions too.
function testCall(name: string): FunctionWriter {
  return ([operand, ...args]) => {
    const conditions = testConditions(name, requireArgument(operand), args);
    if ('why' in conditions) throw new Untranslatable(conditions.why);
    return { source: conditions.conditions.map((one) => `(${one})`).join(' or '), kind: 'boolean' };
  };
}

function requireArgument(expression: FlowExpression | undefined): FlowExpression {
  if (!expression) throw new Untranslatable('an argument is missing');
  return expression;
}
