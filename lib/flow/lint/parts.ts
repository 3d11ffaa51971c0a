// Everything in a flow that rules look at, collected in one walk: targets, expressions, texts, ways, writes.

import type { TwinlineError } from '../../errors.ts';
import type { Json } from '../../json/json.ts';
import { compileExpression, type Expression } from '../expression/expression.ts';
import { compileTemplate, type Template } from '../expression/template.ts';
import type { Flow, Option, Screen, Text, Values, Way } from '../format/flow.ts';
import { pointerTo } from '../format/source.ts';

interface Part {
  readonly pointer: string;
  /** The screen that it belongs to, if any. */
  readonly screen?: string | undefined;
}

/** A screen id that something leads to. */
export interface ExitTarget extends Part {
  readonly to: string;
}

export type CompileResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: TwinlineError };

export interface ExpressionPart extends Part {
  readonly source: string;
  /** Characters before it in its text: 1 for the `=` of a value. */
  readonly shift: 0 | 1;
  readonly role: 'condition' | 'items' | 'value';
  /** What is in reach besides the variables. */
  readonly also: readonly string[];
  /** What a value becomes: a variable of this or of a called flow, or something that leaves the flow. */
  readonly into?: VariableWrite | 'service' | 'output' | undefined;
  readonly compiled: CompileResult<Expression>;
}

/** A plain text where an expression could stand: in `with`, `set` or `output`. */
interface LiteralPart extends Part {
  readonly source: string;
  /** What an expression there would have in reach besides the variables. */
  readonly also: readonly string[];
  /** As of expressions. */
  readonly into?: ExpressionPart['into'];
}

/** One text in one language, or in all. */
export interface Wording extends Part {
  readonly lang?: string;
  readonly source: string;
  readonly also: readonly string[];
  readonly compiled: CompileResult<Template>;
}

export interface TextPart extends Part {
  readonly text: Text;
}

/** A variable that gets a value. */
export interface VariableWrite extends Part {
  readonly name: string;
  /** Whether the name is the key at the pointer, not the value. */
  readonly isKey: boolean;
  /** The called flow whose variable it is. */
  readonly of?: string;
}

export interface Ways extends Part {
  readonly ways: readonly Way[];
}

export interface Parts {
  readonly targets: readonly ExitTarget[];
  readonly expressions: readonly ExpressionPart[];
  readonly literals: readonly LiteralPart[];
  readonly texts: readonly TextPart[];
  readonly wordings: readonly Wording[];
  readonly writes: readonly VariableWrite[];
  readonly ways: readonly Ways[];
}

export function collectParts(flow: Flow): Parts {
  const targets: ExitTarget[] = [{ pointer: '/start', to: flow.start }];
  const expressions: ExpressionPart[] = [];
  const literals: LiteralPart[] = [];
  const texts: TextPart[] = [];
  const wordings: Wording[] = [];
  const writes: VariableWrite[] = [];
  const allWays: Ways[] = [];
  const expression = cacheResults(compileExpression);
  const template = cacheResults(compileTemplate);

  const text = ({ pointer, screen }: Part, value: Text | undefined, also: readonly string[] = []): void => {
    if (value === undefined) return;
    texts.push({ pointer, screen, text: value });
    if (typeof value === 'string') {
      wordings.push({ pointer, screen, source: value, also, compiled: template(value) });
      return;
    }
    for (const [lang, source] of Object.entries(value)) {
      wordings.push({ pointer: pointer + pointerTo(lang), screen, lang, source, also, compiled: template(source) });
    }
  };
  const read = (part: Part, source: string, more: Pick<ExpressionPart, 'role' | 'also'>): void => {
    expressions.push({ ...part, ...more, source, shift: 0, compiled: expression(source) });
  };
  const values = (part: Part, value: Json, more: Pick<ExpressionPart, 'also' | 'into'>): void => {
    if (typeof value === 'string' && value.startsWith('=')) {
      const source = value.slice(1);
      expressions.push({ ...part, ...more, role: 'value', shift: 1, source, compiled: expression(source) });
    } else if (typeof value === 'string') {
      literals.push({ ...part, ...more, source: value });
    } else if (value !== null && typeof value === 'object') {
      for (const [key, inner] of Object.entries(value))
        values({ ...part, pointer: part.pointer + pointerTo(key) }, inner, more);
    }
  };
  const set = (
    part: Part,
    given: Values | undefined,
    { also = [], of }: { also?: readonly string[]; of?: string },
  ): void => {
    for (const [name, value] of Object.entries(given ?? {})) {
      const pointer = part.pointer + pointerTo(name);
      const into: VariableWrite = { ...part, pointer, name, isKey: true, ...(of !== undefined && { of }) };
      writes.push(into);
      values({ ...part, pointer }, value, { also, into });
    }
  };
  const save = (part: Part, name: string | undefined): void => {
    if (name !== undefined) writes.push({ ...part, name, isKey: false });
  };
  const way = (part: Part, way: Omit<Way, 'track'>, also: readonly string[] = []): void => {
    if (way.when !== undefined) read(partAt(part, 'when'), way.when, { role: 'condition', also });
    set(partAt(part, 'set'), way.set, { also });
    targets.push({ ...partAt(part, 'to'), to: way.to });
  };
  const ways = (part: Part, ways: string | readonly Way[], also: readonly string[] = []): void => {
    if (typeof ways === 'string') {
      targets.push({ ...part, to: ways });
      return;
    }
    allWays.push({ ...part, ways });
    for (const [index, one] of ways.entries()) way(partAt(part, index), one, also);
  };
  const option = (part: Part, option: Option): void => {
    text(partAt(part, 'text'), option.text);
    way(part, option);
  };
  const screen = (part: Part, one: Screen): void => {
    if (typeof one.back === 'string') targets.push({ ...partAt(part, 'back'), to: one.back });
    if ('text' in one) text(partAt(part, 'text'), one.text);
    if ('error' in one) text(partAt(part, 'error'), one.error);
    if ('save' in one) save(partAt(part, 'save'), one.save);
    switch (one.type) {
      case 'menu':
        for (const [index, line] of one.options.entries()) option(partAt(part, 'options', index), line);
        break;
      case 'input':
        way(part, { to: one.to, ...(one.set && { set: one.set }) });
        if (one.else !== undefined) targets.push({ ...partAt(part, 'else'), to: one.else });
        break;
      case 'list':
        read(partAt(part, 'items'), one.items, { role: 'items', also: [] });
        text(partAt(part, 'row'), one.row, ['row']);
        text(partAt(part, 'empty'), one.empty);
        if (one.pick) save(partAt(part, 'pick', 'save'), one.pick.save);
        if (one.pick) way(partAt(part, 'pick'), one.pick);
        break;
      case 'call':
        values(partAt(part, 'with'), one.with ?? {}, { also: [], into: 'service' });
        ways(partAt(part, 'done'), one.done);
        ways(partAt(part, 'fail'), one.fail, ['error']);
        break;
      case 'branch':
        ways(partAt(part, 'branch'), one.branch);
        break;
      case 'flow':
        set(partAt(part, 'with'), one.with, { of: one.flow });
        ways(partAt(part, 'done'), one.done);
        break;
      case 'end':
        values(partAt(part, 'output'), one.output ?? {}, { also: [], into: 'output' });
        break;
    }
  };

  for (const [name, label] of Object.entries(flow.labels ?? {})) text({ pointer: pointerTo('labels', name) }, label);
  text({ pointer: '/wait' }, flow.wait);
  for (const [id, one] of Object.entries(flow.screens)) screen({ pointer: pointerTo('screens', id), screen: id }, one);
  for (const [version, { set: given }] of Object.entries(flow.migrate ?? {})) {
    for (const name of Object.keys(given ?? {}))
      writes.push({ pointer: pointerTo('migrate', version, 'set', name), name, isKey: true });
  }
  return { targets, expressions, literals, texts, wordings, writes, ways: allWays };
}

function partAt(part: Part, ...steps: readonly (string | number)[]): Part {
  return { ...part, pointer: part.pointer + pointerTo(...steps) };
}

function cacheResults<T>(compile: (source: string) => T): (source: string) => CompileResult<T> {
  const known = new Map<string, CompileResult<T>>();
  return (source) => {
    const before = known.get(source);
    if (before) return before;
    const made = attempt(() => compile(source));
    known.set(source, made);
    return made;
  };
}

function attempt<T>(work: () => T): CompileResult<T> {
  try {
    return { ok: true, value: work() };
  } catch (error) {
    return { ok: false, error: error as TwinlineError };
  }
}
