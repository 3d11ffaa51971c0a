// The google.api.http option of a method: which HTTP requests lead to it.

import type { DescMethod } from '@bufbuild/protobuf';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { bytesOption } from '../descriptors/unknown-option.ts';

export interface HttpRule {
  /** `GET`, `PUT`, …, a method of its own, or `*` for any. */
  readonly method: string;
  readonly template: string;
  /** '': no body; `*`: the whole request message; else the field that the body is. */
  readonly body: string;
  /** '': the whole reply; else the field that is the answer. */
  readonly responseBody: string;
  /** An additional rule that has additional rules itself, which it may not. */
  readonly isNested: boolean;
}

const HTTP = 72_295_728;
const METHODS: { readonly [field: number]: string } = { 2: 'GET', 3: 'PUT', 4: 'POST', 5: 'DELETE', 6: 'PATCH' };
const BODY = 7;
const CUSTOM = 8;
const ADDITIONAL = 11;
const RESPONSE_BODY = 12;

/** The rule of a method and its additional ones; none when it has no such option. Throws on bytes that are no HttpRule. */
export function httpRules({ proto }: DescMethod): HttpRule[] {
  const bytes = bytesOption(proto.options, HTTP);
  return bytes ? readRule(bytes, 'additional') : [];
}

function readRule(bytes: Uint8Array, further: 'additional' | 'none'): HttpRule[] {
  const reader = new BinaryReader(bytes);
  const rule = { method: '', template: '', body: '', responseBody: '', isNested: false };
  const others: HttpRule[] = [];
  while (reader.pos < reader.len) {
    const [number, wire] = reader.tag();
    if (wire !== WireType.LengthDelimited) reader.skip(wire, number);
    else if (METHODS[number]) Object.assign(rule, { method: METHODS[number], template: reader.string() });
    else if (number === CUSTOM) Object.assign(rule, readCustom(reader.bytes()));
    else if (number === BODY) rule.body = reader.string();
    else if (number === RESPONSE_BODY) rule.responseBody = reader.string();
    else if (number === ADDITIONAL && further === 'none') {
      rule.isNested = true;
      reader.skip(wire, number);
    } else if (number === ADDITIONAL) others.push(...readRule(reader.bytes(), 'none'));
    else reader.skip(wire, number);
  }
  return [rule, ...others];
}

function readCustom(bytes: Uint8Array): { method: string; template: string } {
  const reader = new BinaryReader(bytes);
  const custom = { method: '', template: '' };
  while (reader.pos < reader.len) {
    const [number, wire] = reader.tag();
    if (wire === WireType.LengthDelimited && number === 1) custom.method = reader.string();
    else if (wire === WireType.LengthDelimited && number === 2) custom.template = reader.string();
    else reader.skip(wire, number);
  }
  return custom;
}
