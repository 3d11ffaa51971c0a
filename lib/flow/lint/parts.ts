// Collects everything that rules check in one pass over a flow: targets, expressions, texts, ways, writes.

import type { TwinlineError } from '../../errors.ts';
import type { Json } from '../../json/json.ts';
import { compileExpression, type Expression } from '../expression/expression.ts';
import { compileTemplate, type Template } from '../expression/template.ts';
import type { Flow, Text, Values, Way } from '../format/flow.ts';
import { pointerTo } from '../format/source.ts';
import { findText, isBrokenText } from '../format/way.ts';
import type { PartReader, Steps } from '../screens/kind.ts';
import { findKind } from '../screens/kinds.ts';

interface Part {
  readonly pointer: string;
  /** The enclosing screen, if any. */
  readonly screen?: string | undefined;
}

/** A reference to a screen by id. */
export interface ExitTarget extends Part {
  readonly to: string;
}

export type CompileResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: TwinlineError };

export interface ExpressionPart extends Part {
  readonly source: string;
  /** Offset of the expression in its string: 1 after the `=` of a value. */
  readonly shift: 0 | 1;
  readonly role: 'condition' | 'items' | 'value';
  /** Names in scope besides the variables. */
  readonly also: readonly string[];
  /** Destination of a value: a variable of this or of a called flow, a service, or the output. */
  readonly into?: VariableWrite | 'service' | 'task' | 'output' | 'bound' | undefined;
  readonly compiled: CompileResult<Expression>;
}

/** A plain string where an expression is possible: in `with`, `set` or `output`. */
interface LiteralPart extends Part {
  readonly source: string;
  /** Names that an expression there would have in scope besides the variables. */
  readonly also: readonly string[];
  /** See {@link ExpressionPart}. */
  readonly into?: ExpressionPart['into'];
}

/** A text in one language, or in all. */
export interface Wording extends Part {
  readonly lang?: string;
  readonly source: string;
  readonly also: readonly string[];
  /** Where it goes when it is a value, and not shown. See {@link ExpressionPart}. */
  readonly into?: ExpressionPart['into'];
  readonly compiled: CompileResult<Template>;
}

export interface TextPart extends Part {
  readonly text: Text;
}

/** An assignment to a variable. */
export interface VariableWrite extends Part {
  readonly name: string;
  /** Whether the pointer refers to the name as a key, not as a value. */
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
  /** Values that would be texts. */
  readonly brokenTexts: readonly Part[];
  readonly writes: readonly VariableWrite[];
  readonly ways: readonly Ways[];
}

export function collectParts(flow: Flow): Parts {
  const parts = new Collector();
  for (const [name, label] of Object.entries(flow.labels ?? {}))
    parts.text({ pointer: pointerTo('labels', name) }, label);
  parts.text({ pointer: '/wait' }, flow.wait);
  parts.targets.push({ pointer: '/start', to: flow.start });
  for (const [id, screen] of Object.entries(flow.screens)) {
    const reader = parts.readerFor({ pointer: pointerTo('screens', id), screen: id });
    if (typeof screen.back === 'string') reader.target(['back'], screen.back);
    findKind(screen).parts(screen, reader);
  }
  for (const [version, migration] of Object.entries(flow.migrate ?? {}))
    for (const name of Object.keys(migration.set ?? {}))
      parts.writes.push({ pointer: pointerTo('migrate', version, 'set', name), name, isKey: true });
  return parts;
}

class Collector implements Parts {
  readonly targets: ExitTarget[] = [];
  readonly expressions: ExpressionPart[] = [];
  readonly literals: LiteralPart[] = [];
  readonly texts: TextPart[] = [];
  readonly wordings: Wording[] = [];
  readonly brokenTexts: Part[] = [];
  readonly writes: VariableWrite[] = [];
  readonly ways: Ways[] = [];
  readonly #expression = cacheResults(compileExpression);
  readonly #template = cacheResults(compileTemplate);

  readerFor(part: Part): PartReader {
    const at = (steps: Steps) => partAt(part, ...steps);
    return {
      text: (steps, value, also = []) => this.text(at(steps), value, { also }),
      items: (steps, source) => this.#read(at(steps), source, { role: 'items', also: [] }),
      values: (steps, value, into, also = []) => this.#values(at(steps), value ?? {}, { also, into }),
      set: (steps, changes, of) => this.#set(at(steps), changes, { also: [], of }),
      save: (steps, name) => {
        if (name !== undefined) this.writes.push({ ...at(steps), name, isKey: false });
      },
      target: (steps, id) => {
        if (id !== undefined) this.targets.push({ ...at(steps), to: id });
      },
      way: (steps, way) => this.#way(at(steps), way, []),
      ways: (steps, ways, also) => this.#ways(at(steps), ways, also),
    };
  }

  text({ pointer, screen }: Part, value: Text | undefined, more: Partial<Pick<Wording, 'also' | 'into'>> = {}): void {
    const { also = [], into } = more;
    if (value === undefined) return;
    this.texts.push({ pointer, screen, text: value });
    if (typeof value === 'string') {
      this.wordings.push({ pointer, screen, source: value, also, into, compiled: this.#template(value) });
      return;
    }
    for (const [lang, source] of Object.entries(value)) {
      const place = { pointer: pointer + pointerTo(lang), screen, lang };
      this.wordings.push({ ...place, source, also, into, compiled: this.#template(source) });
    }
  }

  #read(part: Part, source: string, more: Pick<ExpressionPart, 'role' | 'also'>): void {
    this.expressions.push({ ...part, ...more, source, shift: 0, compiled: this.#expression(source) });
  }

  #values(part: Part, value: Json, more: Pick<ExpressionPart, 'also' | 'into'>): void {
    if (typeof value === 'string' && value.startsWith('=')) {
      const source = value.slice(1);
      this.expressions.push({ ...part, ...more, role: 'value', shift: 1, source, compiled: this.#expression(source) });
    } else if (typeof value === 'string') {
      this.literals.push({ ...part, ...more, source: value });
    } else if (value !== null && typeof value === 'object') {
      const text = findText(value);
      if (text !== undefined) {
        this.text(partAt(part, '=text'), text, more);
        return;
      }
      if (isBrokenText(value)) this.brokenTexts.push(part);
      for (const [key, inner] of Object.entries(value)) this.#values(partAt(part, key), inner, more);
    }
  }

  #set(part: Part, changes: Values = {}, { also, of }: { also: readonly string[]; of?: string | undefined }): void {
    for (const [name, value] of Object.entries(changes)) {
      const into: VariableWrite = { ...partAt(part, name), name, isKey: true, ...(of !== undefined && { of }) };
      this.writes.push(into);
      this.#values(partAt(part, name), value, { also, into });
    }
  }

  #way(part: Part, { when, set, to, error }: Omit<Way, 'track'>, also: readonly string[]): void {
    this.text(partAt(part, 'error'), error);
    if (when !== undefined) this.#read(partAt(part, 'when'), when, { role: 'condition', also });
    this.#set(partAt(part, 'set'), set, { also });
    this.targets.push({ ...partAt(part, 'to'), to });
  }

  #ways(part: Part, ways: string | readonly Way[], also: readonly string[] = []): void {
    if (typeof ways === 'string') {
      this.targets.push({ ...part, to: ways });
      return;
    }
    this.ways.push({ ...part, ways });
    for (const [at, way] of ways.entries()) this.#way(partAt(part, at), way, also);
  }
}

function partAt(part: Part, ...steps: readonly (string | number)[]): Part {
  return { ...part, pointer: part.pointer + pointerTo(...steps) };
}

function cacheResults<T>(compile: (source: string) => T): (source: string) => CompileResult<T> {
  const cache = new Map<string, CompileResult<T>>();
  return (source) => {
    const result = cache.get(source) ?? attempt(() => compile(source));
    cache.set(source, result);
    return result;
  };
}

function attempt<T>(work: () => T): CompileResult<T> {
  try {
    return { ok: true, value: work() };
  } catch (error) {
    return { ok: false, error: error as TwinlineError };
  }
}
