// The text of a JSON file that is edited value by value: only what an edit names changes, in the style of the file.

import { evaluate, type MemberNode, parse as parseJson, type ValueNode } from '@humanwhocodes/momoa';
import { TwinlineError } from '../../errors.ts';
import type { Json } from '../../json/json.ts';
import type { TextEdit } from '../format/problem.ts';
import { parsePointer, pointerTo } from '../format/source.ts';
import { formatOnLine, formatValue, LINE_CHARS } from '../format/write.ts';
import { EditedText } from './edited-text.ts';

type Container = Extract<ValueNode, { type: 'Object' | 'Array' }>;

interface Written {
  readonly pointer: string;
  readonly offset: number;
  readonly value: Json;
  readonly indent: string;
  /** See {@link formatValue}. */
  readonly taken: number;
}

export class SourceText {
  readonly #edited: EditedText;
  #root: ValueNode | undefined;
  readonly #newline: string;
  readonly #unit: string;
  readonly #isCompact: boolean;

  /** Throws ERR_INPUT if it is not JSON. */
  constructor(text: string) {
    this.#edited = new EditedText(text);
    this.#newline = text.includes('\r\n') ? '\r\n' : '\n';
    this.#unit = /^[{[]\s*\n([ \t]+)/.exec(text.replace('\uFEFF', ''))?.[1] ?? '  ';
    this.#isCompact = !text.includes('\n') && /":\S/.test(text) && !/": /.test(text);
    this.#parse();
  }

  /** The text with all edits so far. */
  get text(): string {
    return this.#edited.text;
  }

  /** All edits so far, of the first text: in its order, and apart from each other. */
  edits(): TextEdit[] {
    return this.#edited.edits();
  }

  /** The value at a pointer; undefined if there is none. */
  value(pointer = ''): Json | undefined {
    const node = this.#find(pointer);
    return node && (evaluate(node) as Json);
  }

  /**
   * Writes a value, which replaces the one there. A new key stands before the first of `after` that comes behind it.
   * @param order All keys of its object in their usual order. @default behind all others
   */
  set(pointer: string, value: Json, order: readonly string[] = []): void {
    const old = this.#find(pointer);
    if (old) {
      this.#change(pointer, this.#span(old), value);
      return;
    }
    const { owner, step } = splitPointer(pointer);
    const parent = this.#container(owner);
    if (parent.type !== 'Object') throw noPlace(pointer);
    const rank = order.indexOf(step);
    const behind = parent.members.findIndex(({ name }) => rank >= 0 && order.indexOf(readKey(name)) > rank);
    this.#insert(owner, { at: behind < 0 ? parent.members.length : behind, key: step, value });
  }

  /** Inserts an element before the one at `at`, or at the end. */
  insert(pointer: string, at: number, value: Json): void {
    if (this.#container(pointer).type !== 'Array') throw noPlace(pointer);
    this.#insert(pointer, { at, value });
  }

  /** Inserts a member behind another one, or at the end. */
  insertAfter(pointer: string, after: string | undefined, { key, value }: { key: string; value: Json }): void {
    const parent = this.#container(pointer);
    if (parent.type !== 'Object') throw noPlace(pointer);
    const found = parent.members.findIndex(({ name }) => readKey(name) === after);
    this.#insert(pointer, { at: found < 0 ? parent.members.length : found + 1, key, value });
  }

  /** Removes a member or an element with its comma. */
  remove(pointer: string): void {
    const { owner, step } = splitPointer(pointer);
    const parent = this.#container(owner);
    const parts = listParts(parent);
    const at = findPart(parent, step);
    const part = parts[at];
    if (!part) throw noPlace(pointer);
    if (parts.length === 1) {
      const { from, to } = this.#span(parent);
      this.replace([{ from, to, insert: parent.type === 'Object' ? '{}' : '[]' }]);
      return;
    }
    const { from, to } = this.#span(part);
    const next = parts[at + 1];
    this.replace([
      next ? { from, to: this.#span(next).from, insert: '' } : { from: this.#span(parts[at - 1]!).to, to, insert: '' },
    ]);
  }

  /** Exchanges a member or an element with the one before it (-1) or behind it (1). The text of both stays as it is. */
  move(pointer: string, by: -1 | 1): void {
    const { owner, step } = splitPointer(pointer);
    const parent = this.#container(owner);
    const parts = listParts(parent);
    const at = findPart(parent, step);
    const [first, second] = by < 0 ? [parts[at - 1], parts[at]] : [parts[at], parts[at + 1]];
    if (!first || !second) return;
    const one = this.#span(first);
    const other = this.#span(second);
    const read = ({ from, to }: { from: number; to: number }) => this.text.slice(from, to);
    const insert = read(other) + read({ from: one.to, to: other.from }) + read(one);
    this.replace([{ from: one.from, to: other.to, insert }]);
  }

  /** Writes a member once more behind itself, under another key. */
  duplicate(pointer: string, key: string): void {
    const { owner, step } = splitPointer(pointer);
    const parent = this.#container(owner);
    const member = parent.type === 'Object' ? parent.members[findPart(parent, step)] : undefined;
    if (!member) throw noPlace(pointer);
    const { from, to } = this.#span(member);
    const own = JSON.stringify(key) + this.text.slice(this.#span(member.name).to, to);
    this.replace([{ from: to, to, insert: this.#between(parent, from) + own }]);
  }

  /** The edit that renames the key of a member. */
  renaming(pointer: string, key: string): TextEdit {
    const { owner, step } = splitPointer(pointer);
    const parent = this.#container(owner);
    const member = parent.type === 'Object' ? parent.members[findPart(parent, step)] : undefined;
    if (!member) throw noPlace(pointer);
    return { ...this.#span(member.name), insert: JSON.stringify(key) };
  }

  /** The edit that writes another scalar for the value at a pointer. */
  replacing(pointer: string, value: string): TextEdit {
    const node = this.#find(pointer);
    if (!node) throw noPlace(pointer);
    return { ...this.#span(node), insert: JSON.stringify(value) };
  }

  /** Applies edits of the present text, which are apart from each other. */
  replace(edits: readonly TextEdit[]): void {
    for (const edit of [...edits].sort((one, other) => other.from - one.from)) this.#edited.replace(edit);
    this.#parse();
  }

  #insert(pointer: string, { at, key, value }: { at: number; key?: string; value: Json }): void {
    const parent = this.#container(pointer);
    const parts = listParts(parent);
    if (!parts.length) {
      this.#change(pointer, this.#span(parent), key === undefined ? [value] : { [key]: value });
      return;
    }
    const next = parts[at];
    const beside = this.#span(next ?? parts.at(-1)!);
    const indent = this.#indent(beside.from);
    const name = key === undefined ? '' : `${JSON.stringify(key)}:${this.#isCompact ? '' : ' '}`;
    const between = this.#between(parent, beside.from);
    const place = next ? beside.from : beside.to;
    this.#write({ pointer, offset: place, value, indent, taken: name.length + 1 }, (text) => {
      const own = name + text;
      return { from: place, to: place, insert: next ? own + between : between + own };
    });
  }

  /** What separates the parts of a container, of which one begins at `beside`. */
  #between(parent: Container, beside: number): string {
    const { from, to } = this.#span(parent);
    if (this.text.slice(from, to).includes('\n')) return `,${this.#newline}${this.#indent(beside)}`;
    return this.#isCompact ? ',' : ', ';
  }

  #change(pointer: string, { from, to }: { from: number; to: number }, value: Json): void {
    const indent = this.#indent(from);
    const taken = from - this.#lineStart(from) - indent.length + 1;
    this.#write({ pointer, offset: from, value, indent, taken }, (insert) => ({ from, to, insert }));
  }

  /**
   * Writes a value at an offset. What stands on one line stays there, unless the line becomes too long: then all of it is written on
   * several.
   */
  #write({ pointer, offset, value, ...place }: Written, toEdit: (text: string) => TextEdit): void {
    const outer = this.#outermostOnLine(pointer);
    const wasLong = this.#lineLength(offset) > LINE_CHARS;
    this.replace([toEdit(outer === undefined ? this.#format(value, place) : this.#formatOnLine(value))]);
    if (outer === undefined || wasLong || this.#isCompact || this.#lineLength(offset) <= LINE_CHARS) return;
    const node = this.#find(outer)!;
    const { from, to } = this.#span(node);
    const indent = this.#indent(from);
    const taken = from - this.#lineStart(from) - indent.length + (this.text[to] === ',' ? 1 : 0);
    this.replace([{ from, to, insert: this.#format(evaluate(node) as Json, { indent, taken }) }]);
  }

  #outermostOnLine(pointer: string): string | undefined {
    const steps = parsePointer(pointer);
    for (let length = 0; length <= steps.length; length++) {
      const place = pointerTo(...steps.slice(0, length));
      const node = this.#find(place);
      if (node && (node.type === 'Object' || node.type === 'Array')) {
        const { from, to } = this.#span(node);
        if (!this.text.slice(from, to).includes('\n')) return place;
      }
    }
    return undefined;
  }

  #format(value: Json, place: { indent: string; taken: number }): string {
    if (this.#isCompact) return this.#formatOnLine(value);
    return formatValue(value, { ...place, unit: this.#unit }).replaceAll('\n', this.#newline);
  }

  #formatOnLine(value: Json): string {
    return this.#isCompact ? JSON.stringify(value) : formatOnLine(value);
  }

  /** The container at a pointer; one that is missing is made as an object. */
  #container(pointer: string): Container {
    let node = this.#find(pointer);
    if (!node && pointer !== '') {
      this.set(pointer, {});
      node = this.#find(pointer);
    }
    if (node?.type !== 'Object' && node?.type !== 'Array') throw noPlace(pointer);
    return node;
  }

  #find(pointer: string): ValueNode | undefined {
    let node: ValueNode | undefined = this.#root;
    for (const step of parsePointer(pointer)) {
      if (node?.type === 'Array') node = node.elements[Number(step)]?.value;
      else if (node?.type === 'Object') node = node.members.findLast(({ name }) => readKey(name) === step)?.value;
      else return undefined;
    }
    return node;
  }

  #parse(): void {
    const mark = this.#mark;
    try {
      this.#root = parseJson(mark ? this.text.slice(1) : this.text).body;
    } catch (cause) {
      throw new TwinlineError('ERR_INPUT', 'The text is not JSON. Correct it, or undo the last change of the text.', {
        cause,
      });
    }
  }

  // A byte order mark is no part of JSON.
  get #mark(): number {
    return this.text.startsWith('\uFEFF') ? 1 : 0;
  }

  #span({ loc }: { readonly loc: ValueNode['loc'] }): { from: number; to: number } {
    return { from: loc.start.offset + this.#mark, to: loc.end.offset + this.#mark };
  }

  #lineStart(offset: number): number {
    return this.text.lastIndexOf('\n', offset - 1) + 1;
  }

  #lineLength(offset: number): number {
    const end = this.text.indexOf('\n', offset);
    return (end < 0 ? this.text.length : end) - this.#lineStart(offset);
  }

  #indent(offset: number): string {
    return /^[ \t]*/.exec(this.text.slice(this.#lineStart(offset), offset))![0];
  }
}

const readKey = (name: MemberNode['name']): string => (name.type === 'String' ? name.value : name.name);

function listParts(node: Container) {
  return node.type === 'Object' ? node.members : node.elements;
}

function findPart(node: Container, step: string): number {
  return node.type === 'Object' ? node.members.findLastIndex(({ name }) => readKey(name) === step) : Number(step);
}

function splitPointer(pointer: string): { readonly owner: string; readonly step: string } {
  const steps = parsePointer(pointer);
  const step = steps.pop();
  if (step === undefined) throw noPlace(pointer);
  return { owner: pointerTo(...steps), step };
}

function noPlace(pointer: string): TwinlineError {
  return new TwinlineError('ERR_INPUT', `There is no place "${pointer}" in the flow. It may have changed meanwhile.`);
}
