// Exports a watched session as a flow test: its inputs, the answers of services, and the screens of a replay.

import { ERROR_CODES, TwinlineError } from '../../../lib/errors.ts';
import { compileAccept } from '../../../lib/flow/run/accept.ts';
import type { CompiledFlow } from '../../../lib/flow/run/compile.ts';
import type { FlowTest, FlowTestFile, MockAnswer } from '../../../lib/flow/testing/file.ts';
import { hidePrivateAnswers } from '../../../lib/flow/testing/mask.ts';
import { recordFlowTest } from '../../../lib/flow/testing/run.ts';
import { DOT, type TraceEvent, type Typed } from '../../../lib/inspection/trace.ts';
import type { Json, JsonObject } from '../../../lib/json/json.ts';

/** Makes a file with one test. Throws ERR_INPUT if the events are not enough. */
export async function makeFlowTest(compiled: CompiledFlow, events: readonly TraceEvent[]): Promise<FlowTestFile> {
  const { flow } = compiled.flow;
  const turns = eventsSinceDial(events);
  const first = turns[0];
  if (!first) throw cannotMakeTest('Its beginning was not seen. Keep this page open and dial again');
  const services = listAnswers(compiled, turns);
  const name = `as ${first.label} went on ${new Date(first.at).toISOString().slice(0, 16).replace('T', ' ')}`;
  const test = await recordFlowTest(compiled, {
    name,
    now: `${new Date(first.at).toISOString().slice(0, 19)}Z`,
    inputs: ['', ...listInputs(compiled, turns)],
    ...(Object.keys(services).length && { services }),
  });
  return { $schema: './test.schema.json', flow, tests: [withNote(test, turns)] };
}

const cannotMakeTest = (why: string) => new TwinlineError('ERR_INPUT', `No test can be made of this session: ${why}.`);

function eventsSinceDial(events: readonly TraceEvent[]): readonly TraceEvent[] {
  const at = events.findLastIndex(isDial);
  return at < 0 ? [] : events.slice(at);
}

const isDial = ({ kind, edges }: TraceEvent) => kind === 'turn' && edges[0]?.from === null;

// Inputs that only waited for a call are dropped: in a test calls return at once.
function listInputs(compiled: CompiledFlow, turns: readonly TraceEvent[]): string[] {
  const secrets = secretReplacer(compiled);
  return turns.flatMap(({ typed = [], edges }, at) => {
    const waited = turns[at - 1]?.waiting === true && !edges.some(({ event }) => event === 'exit');
    return waited ? [] : typed.map((one) => one.text?.replaceAll(DOT, '0') ?? secrets(one, edges));
  });
}

const CANDIDATES = ['24680', '2468', '246802', '2468024', '24680246', '246', '24', '2', 'secret', 'a long secret'];
const REFUSED = ['?', '2', '0123456789012345678901234567890'];

/** Replacement of a secret: accepted by the screen, or refused where the secret was. */
function secretReplacer({ screens }: CompiledFlow): (typed: Typed, edges: TraceEvent['edges']) => string {
  const given = new Map<string, string>();
  return ({ at }, edges) => {
    const node = screens.get(at);
    if (node?.screen.type !== 'input') return CANDIDATES[0]!;
    const { save, accept = {} } = node.screen;
    const { sameAs, ...rule } = accept as { sameAs?: string } & JsonObject;
    const check = Object.keys(rule).length ? compileAccept(rule) : undefined;
    const fits = (text: string) => check?.check(text, 0).ok ?? true;
    const isRefused = edges.some(({ event, from, to }) => event === 'text' && from === at && to === at);
    const same = sameAs === undefined ? undefined : given.get(sameAs);
    const sample = node.scope.flow.vars?.[save]?.sample;
    const all = [...(typeof sample === 'string' ? [sample] : []), ...CANDIDATES];
    if (isRefused)
      return [...REFUSED, ...all].find((text) => !fits(text) || (same !== undefined && text !== same)) ?? '?';
    const chosen = same ?? all.find(fits);
    if (chosen === undefined)
      throw cannotMakeTest(`nothing can be put in the place of the secret that "${at}" asks for`);
    given.set(save, chosen);
    return chosen;
  };
}

function listAnswers(compiled: CompiledFlow, turns: readonly TraceEvent[]): Record<string, MockAnswer[]> {
  const services: Record<string, MockAnswer[]> = {};
  for (const { call, service, outcome } of turns.flatMap(({ answers = [] }) => answers)) {
    services[service] ??= [];
    services[service].push(
      'code' in outcome ? failure(outcome.code, compiled.callPolicy(call).retries) : mockReturn(outcome.output),
    );
  }
  return hidePrivateAnswers(compiled, services);
}

const mockReturn = (output: Json): MockAnswer => ({ return: replaceDots(output) });

function failure(code: string, retries: number): MockAnswer {
  const fail = Object.hasOwn(ERROR_CODES, code) ? code : 'ERR_SERVICE';
  return retries ? { fail, times: retries + 1 } : { fail };
}

// A masked number is not a valid number for rules and texts.
function replaceDots(output: Json): Json {
  return JSON.parse(JSON.stringify(output).replaceAll(DOT, '0')) as Json;
}

// Paths that depend on a secret or a masked number may differ in the replay.
function withNote(test: FlowTest, turns: readonly TraceEvent[]): FlowTest {
  const seen = turns.filter(({ waiting, reply }) => !waiting && reply !== undefined).at(-1)?.state;
  const last = test.steps.at(-1)?.screen;
  if (seen === undefined || seen === last) return test;
  return {
    ...test,
    note: `The session that was watched came to "${seen}"; with what stands for its secrets, this does not.`,
  };
}
