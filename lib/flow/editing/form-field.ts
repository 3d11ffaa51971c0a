// The shape of forms for the parts of a flow.

import type { Json } from '../../json/json.ts';

/** A value to choose. */
export interface FieldChoice {
  readonly value: Json;
  /** More about it. */
  readonly about?: string;
}

export interface FormField {
  readonly pointer: string;
  /** Its key or name. */
  readonly key: string;
  readonly about: string;
  /**
   * `text`: in all languages; `word`: a string; `condition`, `expression` and `value`: code, or what may be; `ways`: one screen or ways
   * with conditions; `group`: keys of the schema; `map`: names of the author; `list`: elements; `json`: anything else.
   */
  readonly kind:
    | 'text'
    | 'word'
    | 'condition'
    | 'expression'
    | 'value'
    | 'number'
    | 'flag'
    | 'choice'
    | 'ways'
    | 'group'
    | 'map'
    | 'list'
    | 'json';
  readonly required?: boolean;
  /** Not there if it is not set. */
  readonly value?: Json;
  /** For a number, whether it is whole, and its bounds. */
  readonly bounds?: { readonly whole: boolean; readonly min?: number; readonly max?: number };
  /** What may stand there; other values too, unless the kind is `choice`. */
  readonly choices?: readonly FieldChoice[];
  readonly texts?: readonly TextInLanguage[];
  /** Code in plain words. */
  readonly says?: string;
  /** Other types that it may have, each with a first value. */
  readonly forms?: readonly { readonly name: string; readonly value: Json }[];
  /** The parts of a group, a map, a list or ways, in order. */
  readonly fields?: readonly FormField[];
  /** Names that a map may take besides. */
  readonly names?: readonly FieldChoice[];
  /** The first value of a new part of a list or map. */
  readonly fresh?: Json;
}

export interface TextInLanguage {
  readonly lang: string;
  /** Null if it is missing. */
  readonly text: string | null;
  /** Septets, or UTF-16 units outside GSM 7-bit. */
  readonly used: number;
  readonly isGsm: boolean;
}

/** The form of what is at a pointer; null if there is nothing. */
export interface FlowForms {
  readonly form: FlowForm | null;
  /** The ids of all screens. */
  readonly screens: readonly string[];
}

export interface FlowForm {
  readonly pointer: string;
  /** The type of a screen, and what that is. */
  readonly type?: { readonly name: string; readonly about: string };
  readonly fields: readonly FormField[];
  /** Where a screen is used. */
  readonly uses: readonly { readonly pointer: string; readonly words: string; readonly screen?: string }[];
  /** The ways that leave a screen. */
  readonly ways: readonly { readonly pointer: string; readonly words: string; readonly to: string }[];
}
