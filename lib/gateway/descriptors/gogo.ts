// What the options of gogoproto say about the JSON of a field; nodes of the Cosmos family print by them.

import type { DescField } from '@bufbuild/protobuf';
import { booleanOption, textOption } from './unknown-option.ts';

export interface GogoOptions {
  /** false: a message that is not set is printed with its defaults, not as null. */
  readonly nullable: boolean;
  /** A Timestamp that is Go's time.Time, whose default is the year 1. */
  readonly stdtime: boolean;
  /** How the Go type of the field is printed. */
  readonly type: GoType;
}

/** decimal: whole number of 10⁻¹⁸; whole: a number of any size; json: bytes that are JSON; plain: as Protobuf says. */
export type GoType = 'decimal' | 'whole' | 'json' | 'plain';

const NULLABLE = 65_001;
const CUSTOM_TYPE = 65_003;
const CAST_TYPE = 65_007;
const STD_TIME = 65_010;

// Named with the path of a Go package before, such as cosmossdk.io/math.LegacyDec.
const CUSTOM_TYPES: { readonly [name: string]: GoType } = {
  LegacyDec: 'decimal',
  Dec: 'decimal',
  Int: 'whole',
  Uint: 'whole',
};
const CAST_TYPES: { readonly [name: string]: GoType } = { RawContractMessage: 'json' };

export function gogoOptions({ proto }: DescField): GogoOptions {
  const { options } = proto;
  return {
    nullable: booleanOption(options, NULLABLE) ?? true,
    stdtime: booleanOption(options, STD_TIME) ?? false,
    type:
      named(CUSTOM_TYPES, textOption(options, CUSTOM_TYPE)) ??
      named(CAST_TYPES, textOption(options, CAST_TYPE)) ??
      'plain',
  };
}

function named(types: { readonly [name: string]: GoType }, path = ''): GoType | undefined {
  const name = path.slice(Math.max(path.lastIndexOf('.'), path.lastIndexOf('/')) + 1);
  return Object.hasOwn(types, name) ? types[name] : undefined;
}
