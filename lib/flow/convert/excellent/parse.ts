// Parser for Excellent, the expression language of RapidPro. Grammar: goflow, "Excellent3.g4".

export type ExcellentNode =
  | { readonly kind: 'value'; readonly value: null | boolean | number | string }
  | { readonly kind: 'path'; readonly steps: readonly string[] }
  | { readonly kind: 'call'; readonly name: string; readonly args: readonly ExcellentNode[] }
  | { readonly kind: 'binary'; readonly sign: string; readonly left: ExcellentNode; readonly right: ExcellentNode }
  | { readonly kind: 'minus'; readonly of: ExcellentNode };

/** The syntax tree, or the syntax error. */
export type Parsed = { readonly root: ExcellentNode } | { readonly why: string };

const DEPTH_MAX = 40;
const CHARS_MAX = 4_000;
const TOKEN =
  /\s*(?:(\d+(?:\.\d+)?)(?![\p{L}\p{N}_])|"((?:[^"\\]|\\.)*)"|([\p{L}_][\p{L}\p{N}_]*)|(<=|>=|!=|=>|[-+*/^&=<>(),.[\]]))/uy;
/** From the lowest precedence. */
const LEVELS: readonly (readonly string[])[] = [
  ['&'],
  ['=', '!='],
  ['<', '<=', '>', '>='],
  ['+', '-'],
  ['*', '/'],
  ['^'],
];
const CONSTANTS = new Map<string, null | boolean>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

interface ExcellentToken {
  readonly kind: 'number' | 'text' | 'name' | 'sign' | 'end';
  readonly text: string;
}

class Unreadable extends Error {}

/** Parses an expression without its `@`. Never throws. */
export function parseExcellent(source: string): Parsed {
  try {
    if (source.length > CHARS_MAX) throw new Unreadable(`it has more than ${CHARS_MAX} characters`);
    return { root: readTree(readTokens(source)) };
  } catch (error) {
    if (error instanceof Unreadable) return { why: error.message };
    throw error;
  }
}

function readTokens(source: string): ExcellentToken[] {
  const tokens: ExcellentToken[] = [];
  for (TOKEN.lastIndex = 0; ; ) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(source);
    if (!match) {
      const rest = source.slice(at).trim();
      if (rest) throw new Unreadable(`it has ${JSON.stringify(rest.slice(0, 20))}, which cannot be read`);
      return [...tokens, { kind: 'end', text: '' }];
    }
    const [, number, text = '', name, sign] = match;
    if (number !== undefined) tokens.push({ kind: 'number', text: number });
    else if (name !== undefined) tokens.push({ kind: 'name', text: name });
    else if (sign !== undefined) tokens.push({ kind: 'sign', text: sign });
    else tokens.push({ kind: 'text', text: readEscapes(text) });
  }
}

function readEscapes(text: string): string {
  return text.replace(/\\(.)/gsu, (_, sign: string) => ({ n: '\n', t: '\t' })[sign] ?? sign);
}

function readTree(tokens: readonly ExcellentToken[]): ExcellentNode {
  let next = 0;
  let depth = 0;
  const peek = () => tokens[next]!;
  const take = (sign: string) => peek().kind === 'sign' && peek().text === sign && ++next > 0;
  const expectSign = (sign: string) => {
    if (!take(sign)) throw new Unreadable(`"${sign}" is missing before "${peek().text || 'its end'}"`);
  };
  const binary = (level: number): ExcellentNode => {
    if (level === LEVELS.length) return prefix();
    let left = binary(level + 1);
    for (let sign = peek(); sign.kind === 'sign' && LEVELS[level]!.includes(sign.text); sign = peek()) {
      next++;
      left = { kind: 'binary', sign: sign.text, left, right: binary(level + 1) };
    }
    return left;
  };
  const deeper = <T>(read: () => T): T => {
    if (++depth > DEPTH_MAX) throw new Unreadable(`it nests deeper than ${DEPTH_MAX} levels`);
    const result = read();
    depth--;
    return result;
  };
  const prefix = (): ExcellentNode => (take('-') ? { kind: 'minus', of: deeper(prefix) } : primary());
  const primary = (): ExcellentNode => {
    const token = tokens[next++]!;
    if (token.kind === 'number') return { kind: 'value', value: Number(token.text) };
    if (token.kind === 'text') return { kind: 'value', value: token.text };
    if (token.kind === 'name') return parseNamed(token.text);
    if (token.text !== '(') throw new Unreadable(`"${token.text || 'its end'}" stands where a value should`);
    const inner = deeper(() => binary(0));
    expectSign(')');
    return inner;
  };
  const parseNamed = (name: string): ExcellentNode => {
    const constant = CONSTANTS.get(name.toLowerCase());
    if (constant !== undefined && peek().text !== '(' && peek().text !== '.') return { kind: 'value', value: constant };
    if (take('(')) return { kind: 'call', name: name.toLowerCase(), args: deeper(listArguments) };
    return { kind: 'path', steps: [name.toLowerCase(), ...listSteps()] };
  };
  const listArguments = (): ExcellentNode[] => {
    const args: ExcellentNode[] = [];
    if (take(')')) return args;
    do args.push(binary(0));
    while (take(','));
    expectSign(')');
    return args;
  };
  const listSteps = (): string[] => {
    const steps: string[] = [];
    for (;;) {
      if (take('.')) {
        const { kind, text } = tokens[next++]!;
        if (kind !== 'name' && kind !== 'number') throw new Unreadable('a name is missing after "."');
        steps.push(...text.split('.'));
      } else if (take('[')) {
        const { kind, text } = tokens[next++]!;
        if (kind !== 'number' && kind !== 'text') throw new Unreadable('only a number or text may stand in [ ]');
        steps.push(text);
        expectSign(']');
      } else return steps;
    }
  };
  const root = binary(0);
  if (peek().kind !== 'end') throw new Unreadable(`"${peek().text}" is not expected`);
  return root;
}
