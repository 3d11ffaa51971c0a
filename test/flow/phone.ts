// A phone for flow tests: dials a flow on a real engine, types, and looks at what is stored in between.

import * as assert from 'uvu/assert';
import type { Reply } from '../../lib/engine/conversation.ts';
import { createEngine, type Engine, type Fact } from '../../lib/engine/engine.ts';
import { toPath } from '../../lib/engine/machine/state-path.ts';
import type { Services } from '../../lib/engine/service.ts';
import { type Decision, type TurnResult, takeTurn } from '../../lib/engine/session/turn.ts';
import type { Flow, Screen } from '../../lib/flow/format/flow.ts';
import { type CompiledFlow, compileFlow } from '../../lib/flow/run/compile.ts';
import { drivenClock } from '../../lib/flow/testing/session.ts';
import type { Json, JsonObject } from '../../lib/json/json.ts';
import type { Keyring } from '../../lib/keyring.ts';
import { memorySnapshots } from '../../lib/store/memory/index.ts';
import type { SnapshotStore } from '../../lib/store/store.ts';

export interface PhoneOptions {
  readonly services?: Services;
  /** The session's key in the store. */
  readonly key?: string;
  /** Without it nothing is sealed, and proofs of secrets differ from engine to engine. */
  readonly keyring?: Keyring;
  /** Sees every record that is written. */
  readonly onRecord?: (record: string) => void;
}

export interface Phone {
  readonly engine: Engine;
  readonly store: SnapshotStore;
  /** Path of the screen that is shown. */
  readonly screen: string;
  /** The variables as they are stored. */
  readonly context: JsonObject;
  readonly tracked: readonly string[];
  dial(input?: JsonObject): Promise<string>;
  /** Types one after the other; the text of the last reply. */
  say(...inputs: readonly string[]): Promise<string>;
  /** One turn, as the engine answers it. */
  take(input: Json): Promise<TurnResult>;
  /** Whether the last reply ended the session. */
  readonly ended: boolean;
}

/** A phone that has not dialled yet. */
export function phone(flow: CompiledFlow | Flow, options: PhoneOptions = {}): Phone {
  const compiled = 'machine' in flow ? flow : compileFlow(flow);
  const { key = 'phone', services = {}, keyring, onRecord } = options;
  const clock = drivenClock();
  const memory = memorySnapshots({ clock });
  const store: SnapshotStore = {
    ...memory,
    commit: (at, expected, next) => {
      onRecord?.(next.record);
      return memory.commit(at, expected, next);
    },
  };
  let rest = { screen: '', context: {} as JsonObject };
  let reply: Reply = { kind: 'continue', text: '' };
  const tracked: string[] = [];
  const engine = createEngine({
    store,
    clock,
    services,
    ...(keyring && { keyring }),
    conversations: [compiled],
    onFact: ({ name, params }: Fact) => {
      if (name === 'track') tracked.push((params as { name: string }).name);
    },
    onTurn: ({ rest: { state, context } }) => {
      rest = { screen: toPath(state), context };
    },
  });
  const turn = async (decision: Decision): Promise<TurnResult> => {
    const result = await clock.drive(takeTurn(engine, { key, decide: () => decision }));
    if (result.kind === 'replied') reply = result.reply;
    return result;
  };
  const text = (result: TurnResult): string => {
    assert.is(result.kind, 'replied', JSON.stringify(result));
    return reply.text;
  };
  return {
    engine,
    store,
    tracked,
    get screen() {
      return rest.screen;
    },
    get context() {
      return rest.context;
    },
    get ended() {
      return reply.kind === 'end';
    },
    dial: async (input = {}) => text(await turn({ kind: 'begin', conversation: compiled.id, input })),
    say: async (...inputs) => {
      for (const input of inputs) text(await turn({ kind: 'input', input }));
      return reply.text;
    },
    take: (input) => turn({ kind: 'input', input }),
  };
}

/** A flow around these screens, which begins on the first of them. */
export function flowOf(screens: { readonly [id: string]: Screen }, more: Partial<Flow> = {}): Flow {
  return { flow: 'test', version: 1, start: Object.keys(screens)[0]!, screens, ...more };
}

/** A menu with one option to each of these screens. */
export function menuTo(...targets: readonly string[]): Screen & { readonly type: 'menu' } {
  return { type: 'menu', text: 'Choose', options: targets.map((to) => ({ id: to, text: `To ${to}`, to })) };
}

/** The lines of a text. */
export const lines = (text: string): string[] => text.split('\n');
