// A machine of your own as a conversation: what a text means to it, and the screen of a snapshot. Of its values, those who watch see
// only what the author names, and none of the others is stored or logged as it is.

import type { AnyMachineSnapshot, AnyStateMachine, EventFromLogic, EventObject, SnapshotFrom } from 'xstate';
import { COMMON_LIMITS } from '../../common-limits.ts';
import { TwinlineError } from '../../errors.ts';
import { requireGiven } from '../../given.ts';
import type { JsonObject } from '../../json/json.ts';
import { listTexts, MASK } from '../../redact.ts';
import type { CallPolicy, Conversation, Reply, ShownForms, View } from '../conversation.ts';
import { checkEvent, isOwnType } from './events.ts';
import type { Statechart } from './statechart.ts';
import { compileMachine, type Machine } from './transition.ts';

/** The snapshot of XState that `read` and `render` get: `value`, `context`, `matches`, `hasTag`, `can`, `getMeta`. */
export type SnapshotOf<M> = M extends AnyStateMachine ? SnapshotFrom<M> : AnyMachineSnapshot;

/** The events that `read` may give. */
export type EventOf<M> = M extends AnyStateMachine ? EventFromLogic<M> : EventObject;

/** Options of {@link machineConversation}. */
export interface MachineOptions<M = Machine> {
  /**
   * The event that a text means where the machine rests; or words that refuse it, which the caller reads above the same screen; or
   * undefined: the same screen again. An event that the machine declares nowhere counts as undefined. Not called for an empty text, nor
   * for what is sent to a "please wait". Must be pure. @default the event whose type is the text
   */
  read?(snapshot: SnapshotOf<M>, text: string): EventOf<M> | string | undefined;
  /**
   * What the caller reads; in a final state it ends the session. Must be pure. Without it callers are programs: inputs are events, texts
   * are refused with ERR_INPUT, and the reply is the state as JSON. @default none
   */
  render?(snapshot: SnapshotOf<M>): Reply | string;
  /** What a caller reads while a call takes longer than the turn may. @default 'Please wait.\nSend 1 to go on.'; without `render`, the state */
  wait?: string;
  /**
   * Keys of the context that may be shown to those who watch and look at sessions; all others are private: masked there and in logs, and
   * sealed in the store where there is a keyring. The screen is shown while `render` reads no other. `all`: also what was typed and what
   * services answered. @default none
   */
  shown?: readonly string[] | 'all';
  /** Keys of the context that are never stored, such as a PIN: after the turn they are undefined, and calls count as secret. @default none */
  secrets?: readonly string[];
  /** @default 1 */
  version?: number;
  /** @default '' */
  hash?: string;
  calls?: { readonly [id: string]: Partial<CallPolicy> };
  migrate?: Conversation['migrate'];
}

const DEFAULT_CALL_POLICY: CallPolicy = { timeoutMs: COMMON_LIMITS.callTimeoutMs, retries: 0, secret: false };
const DEFAULT_WAIT = 'Please wait.\nSend 1 to go on.';

/**
 * A machine of XState as a conversation. `read` says what a caller's text means, `render` what the caller reads; without them inputs are
 * the machine's events, and the reply is its state as JSON. Throws ERR_CONFIG as `compileMachine` does.
 * @example
 * const light = createMachine({ id: 'light', initial: 'red', states: { red: { on: { GO: 'green' } }, green: {} } });
 * const talk = machineConversation(light, {
 *   read: (_, text) => (text === '1' ? { type: 'GO' } : 'There is only 1.'),
 *   render: ({ value }) => `It is ${value}.\n1. Go`,
 * });
 * const engine = createEngine({ store: memorySnapshots(), conversations: [talk] });
 * const begin = { kind: 'begin', conversation: 'light', inputs: ['2'] } as const;
 * (await takeTurn(engine, { key: 'crossing', decide: () => begin })).reply?.text; // → 'There is only 1.\nIt is red.\n1. Go'
 */
export function machineConversation<M extends Machine | Statechart>(
  source: M,
  options: MachineOptions<M> = {},
): Conversation {
  requireGiven(
    'make a conversation',
    { machine: source, ...options },
    { machine: 'ownMachine', read: 'function?', render: 'function?' },
  );
  const machine = 'source' in source ? (source as Machine) : compileMachine(source as Statechart);
  const { shown = [], secrets = [], render, wait } = options;
  const isOpen = shown === 'all';
  const isHidden = (name: string) => !isOpen && !shown.includes(name);
  const show =
    render && ((snapshot: AnyMachineSnapshot) => toReply(run(machine, 'render', () => render(snapshot as never))));
  return {
    id: machine.id,
    version: options.version ?? 1,
    hash: options.hash ?? '',
    machine,
    read: (view, input) => {
      const { read } = options;
      if (typeof input !== 'string' || !show) return checkEvent(machine.id, input);
      const text = input.trim();
      if (text === '' || view.waiting) return undefined;
      if (!read) return isOwnType(text) && findDescriptor(machine, text) === text ? { type: text } : undefined;
      const event = run(machine, 'read', () => read(machine.resume(view) as never, text));
      if (event === undefined || typeof event === 'string') return event;
      checkEvent(machine.id, event);
      return findDescriptor(machine, event.type) === undefined ? undefined : event;
    },
    takesWhileCalling: true,
    render: show ? (view) => show(machine.resume(view)) : renderState,
    waitText: (view) => wait ?? (show ? DEFAULT_WAIT : renderState(view).text),
    redact: (context) => (secrets.length ? omit(context, secrets) : context),
    callPolicy: (id) => ({ ...DEFAULT_CALL_POLICY, secret: secrets.length > 0, ...options.calls?.[id] }),
    ...(secrets.length > 0 && { secretsIn: (context) => secrets.flatMap((name) => listTexts(context[name] ?? null)) }),
    shown: showToWatchers(machine, { isOpen, isHidden, show, hasSecrets: secrets.length > 0 }),
    ...(!isOpen && {
      isPrivate: true,
      privateIn: (context) =>
        Object.entries(context).flatMap(([name, value]) => (isHidden(name) ? listTexts(value ?? null) : [])),
    }),
    ...(options.migrate && { migrate: options.migrate }),
  };
}

/** The state as JSON: what is shown of a machine without `render`, whose callers are programs. */
export const renderState = ({ state }: Pick<View, 'state'>): Reply => ({
  kind: 'continue',
  text: JSON.stringify(state),
});

const toReply = (screen: Reply | string): Reply =>
  typeof screen === 'string' ? { kind: 'continue', text: screen } : screen;

// What the author's function throws may quote values.
function run<T>({ id }: Machine, name: 'read' | 'render', work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw new TwinlineError('ERR_MACHINE', `Machine "${id}": its \`${name}\` threw.`, { cause });
  }
}

function omit(context: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(context).filter(([name]) => !names.includes(name)));
}

/** By which words of its config the machine may take an event of this type; undefined when by none. */
function findDescriptor({ source }: Machine, type: string): string | undefined {
  const events = source.events as readonly string[];
  if (events.includes(type)) return type;
  return events.find((one) => one === '*' || (one.endsWith('.*') && `${type}.`.startsWith(one.slice(0, -1))));
}

interface Watching {
  readonly isOpen: boolean;
  readonly isHidden: (name: string) => boolean;
  readonly show: ((snapshot: AnyMachineSnapshot) => Reply) | undefined;
  readonly hasSecrets: boolean;
}

function showToWatchers(machine: Machine, { isOpen, isHidden, show, hasSecrets }: Watching): ShownForms {
  return {
    // A type may be made of what was typed.
    event: (type) => (type.startsWith('xstate.') ? type : (findDescriptor(machine, type) ?? '*')),
    input: (_view, input) => (isOpen && !hasSecrets && typeof input === 'string' ? input : null),
    output: (_id, output) => (isOpen ? output : null),
    ...(!isOpen && {
      context: (context) =>
        Object.fromEntries(
          Object.entries(context).map(([name, value]) => [
            name,
            isHidden(name) && (value ?? null) !== null ? MASK : value!,
          ]),
        ),
      reply: (view) => {
        if (!show) return renderState(view).text;
        try {
          const { output: _, error: __, ...shown } = view;
          return show(machine.resume({ ...shown, context: refuseHidden(view.context, isHidden) })).text;
        } catch {
          return HIDDEN_SCREEN;
        }
      },
    }),
  };
}

const HIDDEN_SCREEN = `${MASK} This screen shows values that \`shown\` of the machine does not name.`;

// Masks in the place of values could lead `render` another way, to a screen that nobody has read: so it ends where it reads one.
function refuseHidden(context: JsonObject, isHidden: (name: string) => boolean): JsonObject {
  const refuse = (): never => {
    throw new Error('a hidden value');
  };
  return new Proxy(context, {
    get: (target, name) => (typeof name === 'string' && isHidden(name) ? refuse() : Reflect.get(target, name)),
    has: (target, name) => (typeof name === 'string' && isHidden(name) ? refuse() : Reflect.has(target, name)),
    ownKeys: refuse,
    getOwnPropertyDescriptor: refuse,
  });
}
