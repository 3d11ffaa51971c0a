// What goes into variables and services: of the kind that the variable declares, and under the names that the service knows.

import type { Json } from '../../../json/json.ts';
import type { Expression } from '../../expression/expression.ts';
import type { Template } from '../../expression/template.ts';
import type { InputScreen, Screen, Variable } from '../../format/flow.ts';
import { capitalize, describePlace, type Mend, showValue } from '../../format/problem.ts';
import { pointerTo } from '../../format/source.ts';
import { findText } from '../../format/way.ts';
import { CALLBACK_NAME } from '../../screens/call.ts';
import { listServiceUses } from '../../screens/kinds.ts';
import type { VariableWrite } from '../parts.ts';
import { didYouMean, formatNames, type Lint, type LintRule, type RuleFinding } from '../rule.ts';
import { findContract, isKnown, jsonShape, KIND_WORDS, type KnownShape, type Shape, UNKNOWN } from '../shapes.ts';
import { expressionShape, readPointer, variableShapes } from './kinds.ts';

export const savedRules: readonly LintRule[] = [
  {
    code: 'wrong-save',
    severity: 'error',
    means: 'a variable is assigned a value of the wrong type, such as a text for a number',
    *find(lint) {
      const shapes = variableShapes(lint);
      for (const write of lint.parts.writes) {
        const variable =
          write.of === undefined ? lint.vars.get(write.name) : lint.flows?.get(write.of)?.vars?.[write.name];
        const shape = variable && writtenShape(lint, write, shapes);
        const finding = shape && compareKinds({ write, variable, shape }, lint);
        if (finding) yield finding;
      }
    },
  },
  {
    code: 'service-input',
    severity: 'error',
    means: 'a call passes an unknown input to a service, or omits a required one',
    *find(lint) {
      const { flow, contracts, nearest, mend } = lint;
      let shapes: ReadonlyMap<string, Shape> | undefined;
      for (const [id, screen] of Object.entries(flow.screens))
        for (const { steps, service, with: values = {} } of listServiceUses(screen)) {
          const contract = findContract(contracts, service);
          if (!contract) continue;
          const place = (...rest: readonly string[]) => pointerTo('screens', id, ...steps, 'with', ...rest);
          const names = Object.keys(values);
          const inputs = Object.keys(contract.input);
          const unknown = names.filter((name) => !inputs.includes(name));
          for (const name of unknown) {
            const similar = nearest(name, inputs);
            const message = `Screen "${id}" gives "${service}" a "${name}", which it does not know.${didYouMean(similar)}`;
            const fix = similar === undefined ? `It takes: ${formatNames(inputs)}.` : `Write "${similar}".`;
            yield { pointer: place(name), at: 'key', message, fix, ...mend(name, inputs) };
          }
          shapes ??= variableShapes(lint);
          for (const [name, value] of Object.entries(values)) {
            const kind = inputs.includes(name) ? contract.input[name]!.kind : 'any';
            const shape = valueShape(value, shapes);
            if (kind === 'any' || !isKnown(shape) || shape.kind === kind) continue;
            yield wrongInput({ id, service, name, value, kind, shape, pointer: place(name) });
          }
          const missing = inputs.filter((name) => contract.input[name]!.required && !names.includes(name));
          if (unknown.length) continue;
          for (const name of missing) {
            const message = `Screen "${id}" calls "${service}" without "${name}", which it needs.`;
            const { about } = contract.input[name]!;
            yield { pointer: place(), message, fix: `Add "${name}" to "with"${about && `: ${about}`}.` };
          }
        }
    },
  },
  {
    code: 'lost-callback',
    severity: 'error',
    means: 'a call waits for a callback whose address nobody is told',
    *find({ flow, parts }) {
      const expressions = parts.expressions.filter(
        ({ compiled }) => compiled.ok && compiled.value.names.includes(CALLBACK_NAME),
      );
      const texts = parts.wordings.filter(
        ({ compiled }) => compiled.ok && compiled.value.paths.some(({ root }) => root === CALLBACK_NAME),
      );
      const tellers = new Set([...expressions, ...texts].map(({ screen }) => screen));
      for (const [id, screen] of Object.entries(flow.screens)) {
        // Services of one's own get it beside their input.
        if (screen.type !== 'call' || screen.answer !== 'callback' || !screen.service.startsWith('http.')) continue;
        if (tellers.has(id)) continue;
        const message = `The call "${id}" waits for a callback, and "${screen.service}" tells nobody its address: it always ends with ERR_TIMEOUT.`;
        const fix = `Give the other side "=${CALLBACK_NAME}" in "with", as its interface wants it: "body": { "callbackUrl": "=${CALLBACK_NAME}" }.`;
        yield { pointer: pointerTo('screens', id, 'answer'), message, fix };
      }
    },
  },
  {
    code: 'no-public-url',
    severity: 'warning',
    means: 'a call waits for a callback, and others are not told how to reach this server',
    *find({ flow, hasAddress }) {
      const calls = Object.entries(flow.screens).filter(([, one]) => one.type === 'call' && one.answer === 'callback');
      const [first] = hasAddress === false ? calls : [];
      if (!first) return;
      const message = `The call "${first[0]}" waits for a callback, and PUBLIC_URL is not set: only programs on this machine can reach its address.`;
      const fix = 'Set PUBLIC_URL to the address by which others reach this server, such as https://ussd.example.com.';
      yield { pointer: pointerTo('screens', first[0], 'answer'), message, fix };
    },
  },
];

interface GivenInput {
  readonly id: string;
  readonly service: string;
  readonly name: string;
  readonly value: Json;
  readonly kind: KnownShape['kind'];
  readonly shape: KnownShape;
  readonly pointer: string;
}

function wrongInput({ id, service, name, value, kind, shape, pointer }: GivenInput): RuleFinding {
  const isExpression = typeof value === 'string' && value.startsWith('=');
  const what = isExpression ? `"${value.slice(1)}"` : showValue(value);
  const kindWords = KIND_WORDS[kind];
  const message = `Screen "${id}" gives "${service}" ${what}, ${KIND_WORDS[shape.kind]}, as "${name}", which is ${kindWords}.`;
  const severity = !isExpression || shape.isSure ? 'error' : 'warning';
  if (typeof value === 'number' && kind === 'text')
    return {
      pointer,
      message,
      severity,
      fix: `Write it in quotes: "${value}".`,
      mend: { old: String(value), text: `"${value}"` },
    };
  const fix =
    isExpression && shape.kind === 'number' && kind === 'text'
      ? `Write "=str(${value.slice(1)})".`
      : `Give it ${kindWords}.`;
  return { pointer, message, fix, severity };
}

/** The shape of what is written; undefined where it is null, or nothing is known of it. */
function writtenShape(
  lint: Lint,
  { pointer, isKey, screen }: VariableWrite,
  shapes: ReadonlyMap<string, Shape>,
): Shape | undefined {
  const saver = screen === undefined ? undefined : lint.graph.screens.get(screen);
  if (!isKey) return saver && saverShape(saver, lint, shapes);
  const value = readPointer(lint.flow, pointer);
  if (value === undefined || value === null) return undefined;
  return valueShape(value, shapes);
}

function valueShape(value: Json, shapes: ReadonlyMap<string, Shape>): Shape {
  if (typeof value === 'string' && value.startsWith('=')) return expressionShape(value.slice(1), shapes);
  return findText(value) === undefined ? jsonShape(value, '') : TEXT;
}

const TEXT: Shape = { kind: 'text', isSure: true };

function saverShape(screen: Screen, lint: Lint, shapes: ReadonlyMap<string, Shape>): Shape {
  if (screen.type === 'input') return answeredShape(screen);
  if (screen.type === 'flow') return lint.flows?.has(screen.flow) ? { kind: 'object', isSure: true } : UNKNOWN;
  if (screen.type === 'call') {
    const contract = findContract(lint.contracts, screen.service);
    return contract?.answer ? { kind: 'object', isSure: true } : UNKNOWN;
  }
  if (screen.type !== 'list') return UNKNOWN;
  const items = expressionShape(screen.items, shapes);
  return items.kind === 'list' ? items.of : UNKNOWN;
}

// `number` alone makes something else of what was typed.
function answeredShape({ accept }: InputScreen): Shape {
  if (accept?.number === undefined) return TEXT;
  const isAlone = ['date', 'oneOf', 'msisdn', 'check'].every((rule) => accept[rule] === undefined);
  return isAlone ? { kind: 'number', isSure: true } : UNKNOWN;
}

const KINDS: { readonly [type in Variable['type']]: KnownShape['kind'] } = {
  string: 'text',
  number: 'number',
  boolean: 'boolean',
  array: 'list',
  object: 'object',
};
const TYPES: { readonly [kind in KnownShape['kind']]: Variable['type'] } = {
  text: 'string',
  number: 'number',
  boolean: 'boolean',
  list: 'array',
  object: 'object',
};

interface Saved {
  readonly write: VariableWrite;
  readonly variable: Variable;
  readonly shape: Shape;
}

function compareKinds({ write, variable, shape }: Saved, lint: Lint): RuleFinding | undefined {
  const kind = KINDS[variable.type];
  if (!isKnown(shape) || shape.kind === kind) return undefined;
  const { name, pointer, isKey } = write;
  const value = isKey ? readPointer(lint.flow, pointer) : undefined;
  const what =
    typeof value === 'string' && value.startsWith('=')
      ? `"${value.slice(1)}"`
      : isKey
        ? showValue(value)
        : 'what it saves';
  const message = `${capitalize(describePlace(pointer))} puts ${what}, ${KIND_WORDS[shape.kind]}, into "${name}", which is ${KIND_WORDS[kind]}.`;
  const number =
    shape.kind === 'text' && kind === 'number' && !isKey
      ? 'Accept a number: "accept": { "number": true }; or declare'
      : 'Write another value, or declare';
  const isLiteral = isKey && !(typeof value === 'string' && value.startsWith('='));
  const isSure = isLiteral || shape.isSure;
  const mend = isLiteral ? mendLiteral(value, kind) : isKey ? undefined : mendSaver(write, shape, lint);
  return {
    pointer,
    message,
    fix: `${number} "${name}" as "type": "${TYPES[shape.kind]}".`,
    severity: isSure ? 'error' : 'warning',
    ...(mend && { mend }),
  };
}

const PLAIN_NUMBER = /^-?(?:0|[1-9]\d{0,14})(?:\.\d+)?$/;
const YES = /^(?:true|yes|y|on)$/i;
const NO = /^(?:false|no|n|off)$/i;

// A plain value that is written as one of another kind.
function mendLiteral(value: unknown, kind: Shape['kind']): Mend | undefined {
  if (kind === 'text') return typeof value === 'number' ? { text: JSON.stringify(String(value)) } : undefined;
  if (typeof value !== 'string') return undefined;
  if (kind === 'number') return PLAIN_NUMBER.test(value) ? { text: value } : undefined;
  if (kind !== 'boolean') return undefined;
  return YES.test(value) ? { text: 'true' } : NO.test(value) ? { text: 'false' } : undefined;
}

// The one variable of the kind that is read and that nothing fills.
function mendSaver({ name, of }: VariableWrite, { kind }: Shape, { flow, parts, vars }: Lint): Mend | undefined {
  if (of !== undefined) return undefined;
  const filled = new Set(parts.writes.filter((one) => readPointer(flow, one.pointer) !== null).map((one) => one.name));
  const read = new Set(
    [...parts.expressions, ...parts.wordings].flatMap(({ compiled: expression }) =>
      expression.ok ? listRoots(expression.value) : [],
    ),
  );
  const free = [...vars].filter(
    ([one, { type, default: initial }]) => KINDS[type] === kind && read.has(one) && !filled.has(one) && initial == null,
  );
  return free.length === 1 ? { old: name, text: free[0]![0] } : undefined;
}

function listRoots(read: Expression | Template): readonly string[] {
  return 'names' in read ? read.names : read.paths.map(({ root }) => root);
}
