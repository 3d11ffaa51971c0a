// Options that extend descriptors, read from their bytes: no generated code needs to know them.

import type { UnknownField } from '@bufbuild/protobuf';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';

/** An options message as the descriptors hold it; what nobody declared is kept as it came. */
export type Options = { readonly $unknown?: UnknownField[] | undefined } | undefined;

/** The bytes of a message or text option; undefined when it is not set. Repeated ones are one message in parts. */
export function bytesOption(options: Options, number: number): Uint8Array | undefined {
  const parts = fieldsOf(options, number, WireType.LengthDelimited).map(({ data }) => new BinaryReader(data).bytes());
  return parts.length ? Buffer.concat(parts) : undefined;
}

/** A text option; the last one counts. */
export function textOption(options: Options, number: number): string | undefined {
  const last = fieldsOf(options, number, WireType.LengthDelimited).at(-1);
  return last && new BinaryReader(last.data).string();
}

export function booleanOption(options: Options, number: number): boolean | undefined {
  const last = fieldsOf(options, number, WireType.Varint).at(-1);
  return last && new BinaryReader(last.data).bool();
}

function fieldsOf(options: Options, number: number, wireType: WireType): UnknownField[] {
  return (options?.$unknown ?? []).filter((field) => field.no === number && field.wireType === wireType);
}
