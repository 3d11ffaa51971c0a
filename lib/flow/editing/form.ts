// Forms for the parts of a flow, made from the schema: a field for each key that the schema has, with the names that may stand there.

import { isObject } from '../../given.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import { FLOW_SCHEMA, type SchemaPart, schemaAt } from '../format/schema.ts';
import { parsePointer, pointerTo } from '../format/source.ts';
import type { LintContext } from '../lint/lint.ts';
import { findContract } from '../lint/shapes.ts';
import { room } from '../run/render.ts';
import { EXPRESSION_KEYS, SCREEN_KEYS } from './completion.ts';
import type { FieldChoice, FlowForm, FlowForms, FormField, TextInLanguage } from './form-field.ts';
import { describeReference, describeScreen, valueAt } from './places.ts';
import { sayExpression } from './plain-words.ts';
import { EMPTY_VALUES, firstOfType, isOfType, listValues, nameForm } from './proposals.ts';
import { listReferences, listScreens } from './references.ts';
import { SourceText } from './source-text.ts';
import { describePart } from './words.ts';

export type FormContext = Pick<LintContext, 'flows' | 'services' | 'contracts'>;

/** The form of a screen (`/screens/home`), or of the flow around them (''). Throws ERR_INPUT if the text is not JSON. */
export function flowForm(text: string, pointer: string, context: FormContext = {}): FlowForms {
  const root = new SourceText(text).value();
  return { form: makeForm(root, pointer, context) ?? null, screens: listScreens(root) };
}

function makeForm(root: Json | undefined, pointer: string, context: FormContext): FlowForm | undefined {
  const value = valueAt(root, pointer);
  if (!isObject(root) || !isObject(value)) return undefined;
  const form = new FormReader(root as JsonObject, context);
  const part = schemaAt(pointer, root);
  const type = part.properties?.type;
  const references = listReferences(root as JsonObject);
  const [top, id] = parsePointer(pointer);
  const isScreen = top === 'screens' && id !== undefined;
  return {
    pointer,
    ...(isScreen && typeof value.type === 'string' && { type: { name: value.type, about: type?.description ?? '' } }),
    fields: form.fields(pointer, part, value as JsonObject, isScreen ? TYPE : OUTSIDE),
    uses: isScreen
      ? references
          .filter(({ to }) => to === id)
          .map(({ pointer: place, screen }) => ({
            pointer: place,
            words: describeReference(root as JsonObject, place),
            ...(screen !== undefined && { screen }),
          }))
      : [],
    ways: isScreen
      ? references
          .filter(({ screen, pointer: place }) => screen === id && !place.endsWith('/back'))
          .map(({ pointer: place, to }) => ({
            pointer: place,
            words: describeReference(root as JsonObject, place),
            to,
          }))
      : [],
  };
}

const NONE: ReadonlySet<string> = new Set();
const TYPE = new Set(['type']);
const OUTSIDE = new Set(['$schema', 'flow', 'screens']);

class FormReader {
  readonly #root: JsonObject;
  readonly #context: FormContext;
  readonly #langs: readonly string[];
  readonly #screens: readonly FieldChoice[];
  readonly #vars: readonly FieldChoice[];

  constructor(root: JsonObject, context: FormContext) {
    this.#root = root;
    this.#context = context;
    this.#langs = Array.isArray(root.langs) && root.langs.length ? root.langs.map(String) : ['en'];
    this.#screens = listScreens(root).map((id) => describeScreen(root, id));
    const vars = isObject(root.vars) ? root.vars : {};
    this.#vars = Object.entries(vars).map(([value, variable]) => {
      const type = isObject(variable) ? variable.type : undefined;
      return { value, ...(typeof type === 'string' && { about: type }) };
    });
  }

  /** The keys of an object: those of the schema in its order, then others. */
  fields(pointer: string, part: SchemaPart, value: JsonObject, without: ReadonlySet<string> = NONE): FormField[] {
    const keys = Object.keys(part.properties ?? {});
    const others = Object.keys(value).filter((key) => !keys.includes(key));
    const shown = [...keys, ...others].filter((key) => !without.has(key));
    return shown.map((key) => {
      const place = pointer + pointerTo(key);
      const own = part.properties?.[key];
      const whole = { ...schemaAt(place, this.#root), ...(own?.description !== undefined && own) };
      return this.#field({ pointer: place, key, part: whole, required: part.required?.includes(key) ?? false });
    });
  }

  #field({ pointer, key, part, required }: FieldPlace): FormField {
    const value = valueAt(this.#root, pointer);
    const shared = {
      ...{ pointer, key, about: describePart({ ...part, examples: [] }) },
      ...(required && { required }),
      ...(value !== undefined && { value }),
    };
    return { ...shared, ...this.#content({ pointer, key, part, required }, value) };
  }

  #content(place: FieldPlace, value: Json | undefined): Omit<FormField, 'pointer' | 'key' | 'about'> {
    const { pointer, key, part } = place;
    const types = [part.type ?? []].flat();
    const named = this.#names(pointer, key);
    if (isTextPart(part)) return { kind: 'text', texts: this.#texts(value) };
    if (types.includes('array') && part.items?.$ref === '#/definitions/way') {
      const fields = Array.isArray(value) ? this.#elements(pointer, value) : [];
      return { kind: 'ways', choices: this.#screens, fields };
    }
    if (key === 'back' && pointer.startsWith('/screens/'))
      return { kind: 'choice', choices: [{ value: false, about: 'nowhere' }, ...this.#screens] };
    if (named) return { kind: 'choice', choices: named };
    if (EXPRESSION_KEYS.has(key)) return this.#code(key === 'when' ? 'condition' : 'expression', value);
    if (types.length > 1) return this.#union(place, value);
    return this.#single(place, value);
  }

  #single(place: FieldPlace, value: Json | undefined): Omit<FormField, 'pointer' | 'key' | 'about'> {
    const { pointer, part } = place;
    const [type] = [part.type ?? []].flat();
    const choices = listValues({ ...part, default: undefined }).map((one) => ({ value: one as Json }));
    if (type === 'boolean') return { kind: 'flag' };
    if (choices.length) return { kind: 'choice', choices };
    if (type === 'integer' || type === 'number') {
      const { minimum: min, maximum: max } = part;
      const bounds = {
        whole: type === 'integer',
        ...(min !== undefined && { min }),
        ...(max !== undefined && { max }),
      };
      return { kind: 'number', bounds };
    }
    if (type === 'string') return { kind: 'word', choices: suggestions(part) };
    if (type === 'array') {
      const fields = this.#elements(pointer, Array.isArray(value) ? value : []);
      return { kind: 'list', fields, fresh: this.#fresh(part.items ?? {}) };
    }
    if (type === 'object' && part.properties)
      return { kind: 'group', fields: this.fields(pointer, part, isObject(value) ? (value as JsonObject) : {}) };
    if (type === 'object') return this.#map(place, isObject(value) ? (value as JsonObject) : {});
    return this.#open(place, value);
  }

  // Any JSON: of the type that a variable declares, an expression, or a part of a list.
  #open(place: FieldPlace, value: Json | undefined): Omit<FormField, 'pointer' | 'key' | 'about'> {
    const steps = parsePointer(place.pointer);
    if (this.#isCode(place.pointer)) return this.#code('value', value);
    const declared = steps[0] === 'vars' ? valueAt(this.#root, pointerTo('vars', steps[1]!, 'type')) : undefined;
    if (steps.length > 3) return { kind: 'value' };
    const type = declared === 'object' ? undefined : declared;
    return typeof type === 'string' ? this.#single({ ...place, part: { type } }, value) : { kind: 'json' };
  }

  #elements(pointer: string, value: readonly Json[]): FormField[] {
    return value.map((_, at) => {
      const place = pointer + pointerTo(at);
      return this.#field({ pointer: place, key: String(at + 1), part: schemaAt(place, this.#root), required: true });
    });
  }

  // The keys are names: of variables, of inputs of a service, or of the author.
  #map({ pointer, key, part }: FieldPlace, value: JsonObject): Omit<FormField, 'pointer' | 'key' | 'about'> {
    const inputs = this.#inputs(pointer);
    const names = Object.keys({ ...Object.fromEntries(inputs.map((one) => [one.value, 0])), ...value });
    const fields = names.map((name) => {
      const place = pointer + pointerTo(name);
      const input = inputs.find((one) => one.value === name);
      const own = typeof part.additionalProperties === 'object' ? schemaAt(place, this.#root) : {};
      const about = { description: input?.about ?? own.description ?? '' };
      return this.#field({ pointer: place, key: name, part: { ...own, ...about }, required: input?.required ?? false });
    });
    const isOfAuthor = typeof part.additionalProperties === 'object' || part.patternProperties !== undefined;
    const free = isOfAuthor ? [] : this.#vars;
    const choices = key === 'words' ? this.#langs.map((lang) => ({ value: lang })) : inputs;
    return {
      kind: 'map',
      fields: fields.filter((field) => field.required || field.value !== undefined || inputs.length <= FEW),
      names: (choices.length ? choices : free).filter(({ value: name }) => !Object.hasOwn(value, String(name))),
      fresh: typeof part.additionalProperties === 'object' ? this.#fresh(part.additionalProperties) : '',
    };
  }

  // What the service of a call takes, or the variables of a called flow.
  #inputs(pointer: string): readonly (FieldChoice & { readonly required?: boolean })[] {
    const [top, id, key] = parsePointer(pointer);
    const screen = top === 'screens' && key === 'with' ? valueAt(this.#root, pointerTo('screens', id!)) : undefined;
    if (!isObject(screen)) return [];
    const contract = findContract(this.#context.contracts, String(screen.service ?? ''));
    const inputs = Object.entries(contract?.input ?? {}).map(([value, { about, required = false }]) => ({
      value,
      about,
      required,
    }));
    const called = this.#context.flows?.get(String(screen.flow ?? ''));
    return [...inputs, ...Object.keys(called?.vars ?? {}).map((value) => ({ value }))];
  }

  #union({ pointer, part, key }: FieldPlace, value: Json | undefined): Omit<FormField, 'pointer' | 'key' | 'about'> {
    const types = [part.type ?? []].flat();
    const type = types.find((one) => isOfType(value, one)) ?? types[0]!;
    const own: SchemaPart = { ...part, type };
    const forms = types.map((one) => ({ name: nameForm(one, part), value: firstOfType(part, one) }));
    if (type === 'boolean') return { kind: 'flag', forms };
    return { ...this.#single({ pointer, part: own, key, required: false }, value), forms };
  }

  // Screens, variables, services and flows where their names stand.
  #names(pointer: string, key: string): readonly FieldChoice[] | undefined {
    const steps = parsePointer(pointer);
    if (SCREEN_KEYS.has(key) || (steps[0] === 'migrate' && steps[2] === 'screens')) return this.#screens;
    if (key === 'save') return this.#vars;
    if (key === 'service') return toChoices(this.#context.services, this.#context.contracts);
    if (key === 'flow' && steps.length > 1) return toChoices(this.#context.flows?.keys());
    return undefined;
  }

  #isCode(pointer: string): boolean {
    return parsePointer(pointer).some((step) => step === 'set' || step === 'with' || step === 'output');
  }

  #code(
    kind: 'condition' | 'expression' | 'value',
    value: Json | undefined,
  ): Omit<FormField, 'pointer' | 'key' | 'about'> {
    const source = kind !== 'value' ? value : typeof value === 'string' && value.startsWith('=') ? value.slice(1) : '';
    const role = kind === 'condition' ? 'condition' : 'value';
    const says = typeof source === 'string' && source !== '' ? sayExpression(source, role) : undefined;
    return { kind, ...(says !== undefined && { says }) };
  }

  #texts(value: Json | undefined): TextInLanguage[] {
    return this.#langs.map((lang) => {
      const text = typeof value === 'string' ? value : isObject(value) ? value[lang] : undefined;
      if (typeof text !== 'string') return { lang, text: null, used: 0, isGsm: true };
      const { used, encoding } = room(text);
      return { lang, text, used, isGsm: encoding === 'gsm7' };
    });
  }

  // The least that the schema asks for.
  #fresh(part: SchemaPart): Json {
    const { $ref = '' } = part;
    const whole = FLOW_SCHEMA.definitions?.[$ref.replace('#/definitions/', '')] ?? part;
    if (isTextPart(whole)) return '';
    const [type] = [whole.type ?? []].flat();
    if (type === 'object') {
      const keys = whole.required ?? [];
      return Object.fromEntries(keys.map((key) => [key, this.#freshKey(key, whole.properties?.[key] ?? {})]));
    }
    return (whole.enum?.[0] as Json | undefined) ?? EMPTY_VALUES[type ?? ''] ?? '';
  }

  #freshKey(key: string, part: SchemaPart): Json {
    if (SCREEN_KEYS.has(key)) return this.#screens[0]?.value ?? '';
    return (part.enum?.[0] as Json | undefined) ?? EMPTY_VALUES[[part.type ?? []].flat()[0] ?? ''] ?? '';
  }
}

/** Inputs of a service are all shown up to so many. */
const FEW = 8;

interface FieldPlace {
  readonly pointer: string;
  readonly key: string;
  readonly part: SchemaPart;
  readonly required: boolean;
}

function isTextPart({ type, additionalProperties }: SchemaPart): boolean {
  const isMap = typeof additionalProperties === 'object' && additionalProperties.type === 'string';
  return Array.isArray(type) && type.includes('string') && type.includes('object') && isMap;
}

function suggestions({ examples = [], default: usual }: SchemaPart): FieldChoice[] {
  const values = [usual, ...examples].filter((one) => typeof one === 'string');
  return [...new Set(values)].map((value) => ({ value }));
}

function toChoices(names: Iterable<string> | undefined, contracts?: FormContext['contracts']): FieldChoice[] {
  return [...(names ?? [])].map((value) => {
    const about = findContract(contracts, value)?.doc;
    return { value, ...(about !== undefined && { about }) };
  });
}
