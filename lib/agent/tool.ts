// The tools of a turn: tools of this server, of the user's browser, and actions of the user's interface.
//
// A call to the client is stored on the run before it is offered, and so is its result: whichever is stored first, answer
// or timeout, ends the call. A process that takes the run over finds both.

import type { CallResult } from '../../machines/agent-stream.ts';
import { COMMON_LIMITS } from '../common-limits.ts';
import { TwinlineError } from '../errors.ts';
import type { Json, JsonObject } from '../json/json.ts';
import { mayQuote, redactor } from '../redact.ts';
import { AGENT_LIMITS } from './limits.ts';
import type { RunnerOptions } from './options.ts';
import {
  type HostTool,
  listTurnSecrets,
  type ToolBox,
  type ToolDescription,
  type ToolKind,
  type ToolOutcome,
} from './responder.ts';
import { callEvent, fits } from './room.ts';
import type { HeldRun } from './run/lease.ts';
import type { RunTurn } from './run/reply.ts';
import type { RunRequest } from './run/run.ts';
import { fitsJson, fitsLevels, wellFormed } from './well-formed.ts';

interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly args: JsonObject;
}

/** The tools for the turn of a run. */
export function makeToolBox(options: RunnerOptions, turn: RunTurn): ToolBox {
  const { held, reply } = turn;
  const { body } = held.run;
  const hostTools = options.hostTools();
  const tools = describeTools(body.request, hostTools);
  const makers: { readonly [kind in ToolKind]: (call: ToolCall) => Promise<ToolOutcome> } = {
    host: (call) => callHost(options, turn, { ...call, tool: hostTools.find(({ name }) => name === call.name)! }),
    browser: userCaller(options, held, 'browser'),
    action: userCaller(options, held, 'action'),
  };
  let calls = 0;

  async function call(name: string, input: JsonObject, call: { readonly id?: string } = {}): Promise<ToolOutcome> {
    if (held.stop.aborted) return STOPPED;
    const tool = tools.get(name);
    const id = call.id ?? `tc-${body.requestId}-${calls}`;
    if (++calls > AGENT_LIMITS.toolCallsPerRun)
      return failure(`A run may make at most ${AGENT_LIMITS.toolCallsPerRun} tool calls.`);
    if (!tool) return failure(`There is no tool ${JSON.stringify(name.slice(0, 100))}.`);
    if (!fitsLevels(input, COMMON_LIMITS.jsonBodyDepth)) return failure('Its arguments nest too deep.');
    const args = wellFormed(input) as JsonObject;
    await reply.startCall({ kind: tool.kind === 'action' ? 'action' : 'tool', id, name, args });
    if (held.stop.aborted) return STOPPED;
    const outcome = await makers[tool.kind]({ id, name, args }).catch((error: unknown) => {
      options.onProblem(error);
      return failure('The tool failed.');
    });
    // A run that stops ends its calls itself.
    if (!held.stop.aborted) await reply.endCall(id, outcome.ok ? { output: outcome.output } : { error: outcome.error });
    return outcome;
  }
  return { tools: [...tools.values()], call };
}

const failure = (error: string): ToolOutcome => ({ ok: false, error });
const STOPPED = failure('The run has stopped.');

/** Tools by name. If names clash, tools of the server take precedence, then actions. */
function describeTools(
  { tools = [], agActions = [] }: RunRequest,
  hostTools: readonly HostTool[],
): Map<string, ToolDescription> {
  const all = [
    ...tools.map((tool) => ({ ...tool, kind: 'browser' as const })),
    ...agActions.map((tool) => ({ ...tool, kind: 'action' as const })),
    ...hostTools.map((tool) => ({ ...tool, kind: 'host' as const })),
  ];
  return new Map(all.map(({ kind, name, description, schema }) => [name, { kind, name, description, schema }]));
}

async function callHost(
  { clock, onProblem }: RunnerOptions,
  { held: lease, secrets }: RunTurn,
  { tool, id, args }: ToolCall & { readonly tool: HostTool },
): Promise<ToolOutcome> {
  const { run, stop } = lease;
  const over = new AbortController();
  const halt = () => over.abort('stopped');
  stop.addEventListener('abort', halt, { once: true });
  const { owner, session, requestId, request } = run.body;
  const ids = { owner, session, runId: run.id, requestId, idempotencyKey: id };
  const context = { ...ids, request, secrets, signal: over.signal };
  const late = clock
    .wait(tool.timeoutMs ?? AGENT_LIMITS.pluginToolMs, over.signal)
    .then(() => failure('The tool took too long.'));
  const { redact = redactor([]) } = tool;
  // A tool may quote its input.
  const ofTurn = redactor(listTurnSecrets(secrets));
  const work = Promise.resolve()
    .then(() => tool.handler(args, context))
    .then((output): ToolOutcome => ({ ok: true, output: redact.json(ofTurn.json(toJson(output))) }))
    .catch((error: unknown) => {
      // A refusal is a result for the caller, not a problem to report.
      if (!(error instanceof TwinlineError && error.code === 'ERR_REFUSED')) onProblem(mayQuote(error, ofTurn));
      return failure(error instanceof TwinlineError ? redact.text(ofTurn.text(error.message)) : 'The tool failed.');
    });
  try {
    return await Promise.race([work, late]);
  } finally {
    over.abort('over');
    stop.removeEventListener('abort', halt);
  }
}

const toJson = (output: unknown): Json => JSON.parse(JSON.stringify(output ?? null)) as Json;

const USER_CALLS = {
  browser: { ms: AGENT_LIMITS.browserToolMs, late: 'The browser did not answer in time.' },
  action: { ms: AGENT_LIMITS.actionMs, late: 'The client did not answer the action in time.' },
} as const;

function userCaller({ runs, room, clock, announce }: RunnerOptions, lease: HeldRun, kind: keyof typeof USER_CALLS) {
  const { ms, late } = USER_CALLS[kind];
  const answeredIds: string[] = [];
  return async ({ id, name, args }: ToolCall): Promise<ToolOutcome> => {
    const existing = lease.run.context.calls.find((call) => call.id === id);
    const waiting = lease.run.context.calls.filter(({ result }) => result === undefined).length;
    if (!existing && waiting >= AGENT_LIMITS.callsWaiting)
      return failure(`At most ${AGENT_LIMITS.callsWaiting} calls may wait for the client.`);
    // Do not repeat the call after a takeover: a client may be working on it.
    if (!existing) {
      const { session } = lease.run.body;
      const { event, payload } = callEvent(lease.run, { id, kind, name, args });
      if (!fits(event, payload)) return failure('Its arguments are too long to send to a client.');
      const isHeard = room.isHeard(session);
      lease.see(
        await runs.ask(lease.run, { id, kind, name, ...(!isHeard && { args }) }, { ms, seen: [...answeredIds] }),
      );
      if (isHeard) await room.tell(session, event, payload);
      else {
        room.note(session, event, payload);
        await announce(session);
      }
    }
    const left = existing ? Math.max(0, existing.until - clock.now()) : ms;
    const result = await lease.result(id, left);
    answeredIds.push(id);
    return result ? toOutcome(result, late) : STOPPED;
  };
}

function toOutcome(result: CallResult, late: string): ToolOutcome {
  if (result.ok) return { ok: true, output: result.output };
  return failure(result.timedOut ? late : result.error);
}

/** A client's tool result, as stored. Throws ERR_INPUT when it exceeds AGENT_LIMITS.toolResultBytes or nests too deep. */
export function callResult({ result, error }: { result?: Json; error?: string }): CallResult {
  if (error !== undefined) return { ok: false, error: String(wellFormed(error)).slice(0, 1_000) };
  if (!fitsLevels(result ?? null, COMMON_LIMITS.jsonBodyDepth))
    throw new TwinlineError('ERR_INPUT', `A tool result nests deeper than ${COMMON_LIMITS.jsonBodyDepth} levels.`);
  const output = wellFormed(result ?? null);
  if (fitsJson(output, AGENT_LIMITS.toolResultBytes)) return { ok: true, output };
  throw new TwinlineError(
    'ERR_INPUT',
    `A tool result has more than ${AGENT_LIMITS.toolResultBytes} bytes of JSON. Return less, or a link.`,
  );
}
