// Expressions and templates of flows → those of FLOIP. What it has no function for is reported, and written as close as possible.

import { type Node, parseExpression } from '../../../expression/parse.ts';
import type { Variable } from '../../../format/flow.ts';
import { nameProperty } from '../context.ts';

export type Variables = { readonly [name: string]: Variable };

/** The expression in FLOIP's words, or why there is none. */
export type Expressed = { readonly source: string } | { readonly why: string };

class Inexpressible extends Error {}

export function expressSource(source: string, variables: Variables): Expressed {
  try {
    return { source: express(parseExpression(source).root, variables) };
  } catch (error) {
    return { why: error instanceof Inexpressible ? error.message : (error as Error).message };
  }
}

function express(node: Node, variables: Variables): string {
  const inner = (part: Node) => express(part, variables);
  switch (node.kind) {
    case 'value':
      return writeConstant(node.value);
    case 'name':
      if (!Object.hasOwn(variables, node.name)) throw new Inexpressible(`FLOIP has nothing like "${node.name}"`);
      return `contact.${nameProperty(node.name)}`;
    case 'member':
      return `${inner(node.of)}.${node.name}`;
    case 'index':
      if (node.index.kind !== 'value') throw new Inexpressible('FLOIP reads no place of a list that is computed');
      return `${inner(node.of)}.${node.index.value}`;
    case 'not':
      return `IF(${inner(node.of)}, FALSE, TRUE)`;
    case 'minus':
      return `-(${inner(node.of)})`;
    case 'choice':
      return `IF(${inner(node.test)}, ${inner(node.yes)}, ${inner(node.no)})`;
    case 'binary': {
      const sign = node.sign === '+' && isText(node, variables) ? '&' : SIGNS[node.sign];
      if (node.sign === 'and' || node.sign === 'or')
        return `${node.sign.toUpperCase()}(${inner(node.left)}, ${inner(node.right)})`;
      if (node.sign === 'in' && node.right.kind === 'value')
        return `CONTAINS(${inner(node.left)}, ${inner(node.right)})`;
      if (sign === undefined) throw new Inexpressible(`FLOIP has no "${node.sign}"`);
      return `(${inner(node.left)}) ${sign} (${inner(node.right)})`.replace(/\(([\w.]+|"[^"()]*")\)/g, '$1');
    }
    case 'call': {
      const call = CALLS[node.name];
      if (!call) throw new Inexpressible(`FLOIP has no function like ${node.name}`);
      return call(node.args.map(inner));
    }
  }
}

const SIGNS: { readonly [sign: string]: string } = {
  '==': '=',
  '!=': '<>',
  '<': '<',
  '<=': '<=',
  '>': '>',
  '>=': '>=',
  '+': '+',
  '-': '-',
  '*': '*',
  '/': '/',
};

type CallWriter = (args: readonly string[]) => string;

const CALLS: { readonly [name: string]: CallWriter } = {
  len: ([value]) => `LEN(${value})`,
  num: ([value]) => value!,
  str: ([value]) => value!,
  min: (args) => `MIN(${args.join(', ')})`,
  max: (args) => `MAX(${args.join(', ')})`,
  abs: ([value]) => `ABS(${value})`,
  lower: ([value]) => `LOWER(${value})`,
  upper: ([value]) => `UPPER(${value})`,
  title: ([value]) => `PROPER(${value})`,
  startsWith: ([text, beginning]) => `LEFT(${text}, LEN(${beginning})) = ${beginning}`,
  contains: ([whole, part]) => `CONTAINS(${part}, ${whole})`,
};

function isText(node: Node, variables: Variables): boolean {
  if (node.kind === 'value') return typeof node.value === 'string';
  if (node.kind === 'name') return variables[node.name]?.type === 'string';
  if (node.kind === 'call') return ['str', 'lower', 'upper', 'title', 'trim'].includes(node.name);
  if (node.kind === 'choice') return isText(node.yes, variables) || isText(node.no, variables);
  return node.kind === 'binary' && node.sign === '+' && (isText(node.left, variables) || isText(node.right, variables));
}

export function writeConstant(value: null | boolean | number | string): string {
  if (typeof value === 'string') return `"${value.replace(/[\\"]/g, '\\$&')}"`;
  return value === null ? 'NULL' : typeof value === 'boolean' ? String(value).toUpperCase() : String(value);
}

const SLOT = /(?<!\\)(\\*)\{\{\s*([A-Za-z_]\w*(?:\.[A-Za-z_]\w*|\[\d+\])*)\s*((?:\|[^{}]*)?)\}\}|(?<!\\)(\\+)\{\{/g;

/** A template in FLOIP's words; `note` gets each filter that has no counterpart. */
export function expressTemplate(
  template: string,
  { variables, note }: { readonly variables: Variables; readonly note: (filter: string) => void },
): string {
  let text = '';
  let at = 0;
  for (const found of template.matchAll(SLOT)) {
    const [whole, slashes = '', path = '', filters = ''] = found;
    text += template.slice(at, found.index).replaceAll('@', '@@');
    at = found.index + whole.length;
    if (!path || slashes.length % 2) {
      text += whole.replace(/\\(\\|\{\{)/g, '$1').replaceAll('@', '@@');
      continue;
    }
    text += '\\'.repeat(slashes.length / 2);
    const [root = '', ...rest] = path.replace(/\[(\d+)\]/g, '.$1').split('.');
    let value = Object.hasOwn(variables, root) ? ['contact', nameProperty(root), ...rest].join('.') : '';
    if (!value) note(path);
    for (const filter of splitFilters(filters)) {
      const made = value && writeFilter(filter, value);
      if (made) value = made;
      else note(`|${filter}`);
    }
    if (value) text += `@(${value})`;
  }
  return text + template.slice(at).replaceAll('@', '@@');
}

function splitFilters(text: string): string[] {
  return (text.match(/\|(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^|'"])*/g) ?? []).map((one) => one.slice(1).trim());
}

function writeFilter(filter: string, value: string): string | undefined {
  const [name = '', ...args] = (filter.match(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^:'"]+/g) ?? []).map((one) =>
    one.trim(),
  );
  const text = (at: number) => writeConstant((args[at] ?? '').replace(/^(['"])(.*)\1$/s, '$2').replace(/\\(.)/g, '$1'));
  switch (name) {
    case 'upper':
    case 'lower':
      return `${name.toUpperCase()}(${value})`;
    case 'first':
      return `LEFT(${value}, ${args[0]})`;
    case 'number':
      return args[0] === undefined ? undefined : `FIXED(${value}, ${args[0]})`;
    case 'plural':
      return `IF(${value} = 1, ${text(0)}, ${text(1)})`;
    case 'default':
      return `IF(${value} = NULL, ${text(0)}, ${value})`;
    default:
      return undefined;
  }
}
