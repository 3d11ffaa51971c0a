// Completions at a position of a flow: keys and values of the format, and names from the flow, its services and other flows.

import { describeUse } from '../expression/described.ts';
import { FILTERS } from '../expression/filters.ts';
import { FUNCTIONS } from '../expression/functions.ts';
import type { Flow } from '../format/flow.ts';
import { DOOR_NAMES, LOCAL_NAMES } from '../format/names.ts';
import { schemaAt, screenTypes } from '../format/schema.ts';
import { pointerTo } from '../format/source.ts';
import type { LintContext } from '../lint/lint.ts';
import { answerShape, declaredShapes, FAILURE, findContract, type Shape, UNKNOWN } from '../lint/shapes.ts';
import type { CallScreen } from '../screens/call.ts';
import { type Cursor, readLoosely, type Sketch, sketchFlow } from './cursor.ts';
import { type Completion, type Completions, listValues, type ProposedName, proposeKeys, toNames } from './proposals.ts';

/** The editor's text and the context of its flow. */
export interface Draft extends LintContext {
  readonly text: string;
}

/** Undefined when there is nothing to propose. Never throws. */
export function completeFlow(draft: Draft, offset: number): Completions | undefined {
  const sketch = sketchFlow(draft.text, offset);
  const { cursor } = sketch;
  if (!cursor) return undefined;
  if (cursor.kind === 'key') return completeKey(draft, { ...sketch, cursor });
  const inside = expressionBefore(draft.text, offset, cursor);
  if (inside) return completeExpression(draft, { ...sketch, cursor, offset, inside });
  return completeValue(draft, { ...sketch, cursor });
}

type Placed = Sketch & { readonly cursor: Cursor };

function completeKey({ text, flows, contracts }: Draft, { cursor, vars }: Placed): Completions {
  const { path, around } = cursor;
  const names = nameKeys(path, { vars, flows, contracts, around });
  return proposeKeys(cursor, { text, names, find: (...steps) => schemaAt(pointerTo(...steps), around) });
}

type KnownNames = Pick<Sketch, 'vars'> & Pick<Draft, 'flows' | 'contracts'> & Pick<Cursor, 'around'>;

// Keys that are names: variables being set, variables of a called flow, inputs of a service.
function nameKeys(path: readonly string[], { vars, flows, contracts, around }: KnownNames): ProposedName[] {
  const owner = path.at(-1);
  if (owner === 'set') return toNames(vars, 'variable');
  if (owner === 'vars')
    return Object.entries(DOOR_NAMES).map(([label, { about }]) => ({ label, kind: 'variable', info: about }));
  if (owner !== 'with') return [];
  const { screens } = around as { screens?: { [id: string]: { type?: string; flow?: string; service?: string } } };
  const screen = screens?.[path[1]!];
  const contract = screen?.type === 'call' ? findContract(contracts, screen.service ?? '') : undefined;
  if (contract)
    return Object.entries(contract.input).map(([label, { kind, about, required: isRequired }]) => {
      return { label, kind: 'field', detail: isRequired ? `${kind}, required` : kind, info: about };
    });
  return screen?.type === 'flow' ? toNames(Object.keys(flows?.get(screen.flow ?? '')?.vars ?? {}), 'variable') : [];
}

/** Keys whose value is the id of a screen. */
export const SCREEN_KEYS: ReadonlySet<string> = new Set(['to', 'start', 'else', 'done', 'fail']);

function completeValue(
  { flows, services, contracts }: Draft,
  { cursor, screens, vars }: Placed,
): Completions | undefined {
  const { path, around, isQuoted, from, to } = cursor;
  const key = path.at(-1) ?? '';
  const part = schemaAt(pointerTo(...path), around);
  const nameServices = () =>
    toNames(services ?? [], 'service').map((name): ProposedName => {
      const contract = findContract(contracts, name.label);
      return contract ? { ...name, info: contract.doc } : name;
    });
  const names = [
    ...(SCREEN_KEYS.has(key) ? toNames(screens.keys(), 'screen') : []),
    ...(key === 'type' && path[0] === 'screens' ? toNames(screenTypes(), 'value') : []),
    ...(key === 'service' ? nameServices() : []),
    ...(key === 'save' ? toNames(vars, 'variable') : []),
    ...(key === 'flow' && path.length > 1 ? toNames(flows?.keys() ?? [], 'flow') : []),
  ];
  const labels = new Set(names.map(({ label }) => label));
  const listed = listValues(part)
    .filter((value) => !isQuoted || typeof value === 'string')
    .filter((value) => typeof value !== 'string' || !labels.has(value))
    .map(
      (value): Completion => ({
        label: typeof value === 'string' ? value : JSON.stringify(value),
        kind: 'value',
        insert: isQuoted ? String(value) : JSON.stringify(value),
      }),
    );
  const items = [
    ...names.map((name): Completion => ({ ...name, insert: isQuoted ? name.label : JSON.stringify(name.label) })),
    ...listed,
  ];
  return items.length ? { from, to, items } : undefined;
}

interface Inside {
  readonly kind: 'template' | 'expression';
  /** The expression up to the cursor. */
  readonly before: string;
}

/** Keys whose value is an expression. */
export const EXPRESSION_KEYS: ReadonlySet<string> = new Set(['when', 'items']);
const VALUES: ReadonlySet<string> = new Set(['set', 'with', 'output', 'accept']);

function expressionBefore(text: string, offset: number, { path, isQuoted, from }: Cursor): Inside | undefined {
  if (!isQuoted) return undefined;
  const before = text.slice(from, offset);
  const open = before.lastIndexOf('{{');
  if (open > before.lastIndexOf('}}')) return { kind: 'template', before: before.slice(open + 2) };
  if (EXPRESSION_KEYS.has(path.at(-1)!)) return { kind: 'expression', before };
  const isValue = path.some((step) => VALUES.has(step));
  return isValue && before.startsWith('=') ? { kind: 'expression', before: before.slice(1) } : undefined;
}

type Loose = Pick<Flow, 'vars' | 'screens'>;

const PATH = /[A-Za-z_][\w.]*$/;

function completeExpression(
  draft: Draft,
  { cursor, vars, offset, inside }: Placed & { offset: number; inside: Inside },
): Completions {
  const { kind, before } = inside;
  if (kind === 'template' && /\|\s*\w*$/.test(before)) {
    const from = offset - /\w*$/.exec(before)![0].length;
    return {
      from,
      to: wordEnd(draft.text, offset),
      items: Object.entries(FILTERS).map(([label, filter]) => ({
        label,
        kind: 'filter',
        detail: filter.usage,
        info: describeUse(filter),
        insert: label,
      })),
    };
  }
  const path = PATH.exec(before)?.[0] ?? '';
  const steps = path.split('.');
  const typed = steps.pop()!;
  const from = offset - typed.length;
  const to = wordEnd(draft.text, offset);
  const flow = readLoosely(draft.text);
  if (steps.length)
    return {
      from,
      to,
      items: listFields(findShape(steps, { flow, screen: cursor.path[1], contracts: draft.contracts })),
    };
  const local = localNames(flow, cursor.path);
  const variables = [...new Set([...vars, ...local])].map((label): Completion => {
    const type = flow?.vars?.[label]?.type;
    return { label, kind: 'variable', ...(type && { detail: type }), insert: label };
  });
  const functions = kind === 'expression' ? FUNCTION_ITEMS : [];
  return { from, to, items: [...variables, ...functions] };
}

const FUNCTION_ITEMS = Object.entries(FUNCTIONS).map(
  ([label, entry]): Completion => ({
    label,
    kind: 'function',
    detail: entry.usage,
    info: describeUse(entry),
    insert: `${label}()`,
    caret: label.length + 1,
  }),
);

// `row` of a list and `error` of a call exist only on their own screens.
function localNames(flow: Loose | undefined, [top, id]: readonly string[]): string[] {
  const type = top === 'screens' && id !== undefined ? flow?.screens[id]?.type : undefined;
  return Object.entries(LOCAL_NAMES).flatMap(([name, { screen }]) => (screen === type ? [name] : []));
}

function findShape(
  [name, ...fields]: readonly string[],
  { flow, screen, contracts }: { flow: Loose | undefined; screen: string | undefined } & Pick<Draft, 'contracts'>,
): Shape {
  if (!flow) return UNKNOWN;
  const shapes = declaredShapes(flow);
  const own = flow.screens[screen ?? ''];
  const first =
    name === 'row' && own?.type === 'list'
      ? itemShape(shapes.get(own.items))
      : name === 'error' && own?.type === 'call'
        ? FAILURE
        : (findAnswer(flow, name!, contracts) ?? shapes.get(name!));
  return fields.reduce<Shape>(
    (shape, field) => (shape.kind === 'object' ? (shape.fields?.shapes.get(field) ?? UNKNOWN) : UNKNOWN),
    first ?? UNKNOWN,
  );
}

// What the service answers whose answer a call keeps in a variable; undefined where several do, or the service is unknown.
function findAnswer({ screens }: Loose, name: string, contracts: Draft['contracts']): Shape | undefined {
  const calls = Object.values(screens).filter((one) => one.type === 'call' && one.save === name) as CallScreen[];
  const [service, ...others] = new Set(calls.map((call) => call.service));
  const contract = service === undefined || others.length ? undefined : findContract(contracts, service);
  return contract && answerShape(service!, contract);
}

const itemShape = (shape: Shape | undefined): Shape => (shape?.kind === 'list' ? shape.of : UNKNOWN);

function listFields(shape: Shape): Completion[] {
  const fields = shape.kind === 'object' ? [...(shape.fields?.shapes ?? [])] : [];
  return fields.map(([label, { kind }]) => ({ label, kind: 'field', detail: kind, insert: label }));
}

function wordEnd(text: string, offset: number): number {
  return offset + /^\w*/.exec(text.slice(offset, offset + 200))![0].length;
}
