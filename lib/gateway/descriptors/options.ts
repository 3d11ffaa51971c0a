// Extension options, decoded from their bytes: google.api.http on methods, and gogoproto options that determine how Cosmos
// nodes print a field.

import type { DescField, DescMethod, UnknownField } from '@bufbuild/protobuf';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';

export interface HttpRule {
  /** `GET`, `PUT`, …, a custom method, or `*` for any. */
  readonly method: string;
  readonly template: string;
  /** '': no body; `*`: the whole request message; otherwise the field for the body. */
  readonly body: string;
  /** '': the whole reply; otherwise the field to return. */
  readonly responseBody: string;
  /** An additional binding with additional bindings of its own, which is not allowed. */
  readonly isNested: boolean;
}

const HTTP = 72_295_728;
const METHODS = { 2: 'GET', 3: 'PUT', 4: 'POST', 5: 'DELETE', 6: 'PATCH' } as const;

/** A method's rule and its additional bindings; empty without the option. Throws for bytes that are not an HttpRule. */
export function readHttpRules({ proto }: DescMethod): HttpRule[] {
  const parts = findFields(proto.options, HTTP, WireType.LengthDelimited);
  // Repeated occurrences of a message option are merged.
  const bytes = Buffer.concat(parts.map(({ data }) => new BinaryReader(data).bytes()));
  return parts.length ? readRule(bytes, 'additional') : [];
}

function readRule(bytes: Uint8Array, further: 'additional' | 'none'): HttpRule[] {
  const rule = { method: '', template: '', body: '', responseBody: '', isNested: false };
  const others: HttpRule[] = [];
  const patterns = Object.entries(METHODS).map(([number, method]) => [
    number,
    (reader: BinaryReader) => Object.assign(rule, { method, template: reader.string() }),
  ]);
  readFields(bytes, {
    ...Object.fromEntries(patterns),
    7: (reader) => (rule.body = reader.string()),
    8: (custom) =>
      readFields(custom.bytes(), {
        1: (reader) => (rule.method = reader.string()),
        2: (reader) => (rule.template = reader.string()),
      }),
    11: (reader) => {
      const additional = reader.bytes();
      if (further === 'none') rule.isNested = true;
      else others.push(...readRule(additional, 'none'));
    },
    12: (reader) => (rule.responseBody = reader.string()),
  });
  return [rule, ...others];
}

export interface GogoOptions {
  /** false: an unset message is printed with its defaults, not as null. */
  readonly nullable: boolean;
  /** Whether a Timestamp is a Go time.Time, whose default is the year 1. */
  readonly stdtime: boolean;
  /** How the field's Go type is printed. */
  readonly type: GoType;
}

/** decimal: an integer in units of 10⁻¹⁸; whole: an integer of any size; json: bytes of JSON; plain: the Protobuf default. */
export type GoType = 'decimal' | 'whole' | 'json' | 'plain';

const NULLABLE = 65_001;
const CUSTOM_TYPE = 65_003;
const CAST_TYPE = 65_007;
const STD_TIME = 65_010;

// By the last part of a qualified Go name, such as cosmossdk.io/math.LegacyDec.
const CUSTOM_TYPES: { readonly [name: string]: GoType } = {
  LegacyDec: 'decimal',
  Dec: 'decimal',
  Int: 'whole',
  Uint: 'whole',
};
const CAST_TYPES: { readonly [name: string]: GoType } = { RawContractMessage: 'json' };

export function readGogoOptions({ proto }: DescField): GogoOptions {
  const { options } = proto;
  return {
    nullable: booleanOption(options, NULLABLE) ?? true,
    stdtime: booleanOption(options, STD_TIME) ?? false,
    type:
      findGoType(CUSTOM_TYPES, textOption(options, CUSTOM_TYPE)) ??
      findGoType(CAST_TYPES, textOption(options, CAST_TYPE)) ??
      'plain',
  };
}

function findGoType(types: { readonly [name: string]: GoType }, path = ''): GoType | undefined {
  const name = path.slice(Math.max(path.lastIndexOf('.'), path.lastIndexOf('/')) + 1);
  return Object.hasOwn(types, name) ? types[name] : undefined;
}

/** An options message; undeclared extensions are in its unknown fields. */
type Options = { readonly $unknown?: UnknownField[] | undefined } | undefined;

/** A string option; the last occurrence wins. */
function textOption(options: Options, number: number): string | undefined {
  const last = findFields(options, number, WireType.LengthDelimited).at(-1);
  return last && new BinaryReader(last.data).string();
}

function booleanOption(options: Options, number: number): boolean | undefined {
  const last = findFields(options, number, WireType.Varint).at(-1);
  return last && new BinaryReader(last.data).bool();
}

function findFields(options: Options, number: number, wireType: WireType): UnknownField[] {
  return (options?.$unknown ?? []).filter((field) => field.no === number && field.wireType === wireType);
}

/** Calls `readers` by field number in wire order and skips other fields. Throws for malformed bytes. */
export function readFields(
  bytes: Uint8Array,
  readers: { readonly [number: number]: (reader: BinaryReader) => void },
  wireType: WireType = WireType.LengthDelimited,
): void {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, wire] = reader.tag();
    const read = wire === wireType ? readers[number] : undefined;
    if (read) read(reader);
    else reader.skip(wire, number);
  }
}
