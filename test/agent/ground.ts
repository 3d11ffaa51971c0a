// What the agent tests share: stores that outlive the processes on them, scripted responders, and short ways to ask.

import * as assert from 'uvu/assert';
import { type Agent, openAgent } from '../../lib/agent/agent.ts';
import type { AgentOptions } from '../../lib/agent/options.ts';
import type { SendRequest } from '../../lib/agent/requests.ts';
import type { Responder, ResponderPart, ResponderTurn } from '../../lib/agent/responder.ts';
import type { RunFrame } from '../../lib/agent/run/frames.ts';
import { type Clock, SimulatedClock } from '../../lib/clock.ts';
import type { Channel } from '../../lib/store/channel.ts';
import type { LogStore } from '../../lib/store/log-store.ts';
import { memoryChannel, memoryDocuments, memoryLogs, memorySnapshots } from '../../lib/store/memory/index.ts';
import type { DocumentStore, SnapshotStore } from '../../lib/store/store.ts';

export const ANN = 'did:key:ann';
export const BOB = 'did:key:bob';

export interface Ground {
  readonly clock: SimulatedClock;
  readonly documents: DocumentStore;
  readonly logs: LogStore;
  readonly channel: Channel;
  readonly snapshots: SnapshotStore;
  readonly problems: unknown[];
  /** The service as a new process would open it. */
  agent(responder: Responder, options?: Partial<AgentOptions>): Promise<Agent>;
}

export function ground(stores: Partial<Omit<Ground, 'agent'>> = {}): Ground {
  const clock = stores.clock ?? new SimulatedClock();
  const problems: unknown[] = [];
  const here = {
    clock,
    documents: memoryDocuments({ clock }),
    logs: memoryLogs({ clock }),
    channel: memoryChannel(),
    snapshots: memorySnapshots({ clock }),
    problems,
    ...stores,
  };
  const oracle = { name: 'Twinline', did: 'did:key:oracle', entityDid: 'did:ixo:entity:oracle' };
  return {
    ...here,
    agent: (responder, options) =>
      openAgent({
        documents: here.documents,
        logs: here.logs,
        channel: here.channel,
        clock,
        oracle,
        responder,
        onProblem: (error) => problems.push(error),
        ...options,
      }),
  };
}

/** A responder that gives what `script` yields. */
export function scripted(
  script: (turn: ResponderTurn) => AsyncIterable<ResponderPart>,
  more: Partial<Responder> = {},
): Responder {
  return { name: 'scripted', isResumable: true, respond: script, ...more };
}

export const saying = (...texts: string[]) =>
  scripted(async function* () {
    for (const text of texts) yield { type: 'text', text };
  });

/** Waits until its signal aborts; says `before` first. */
export const endless = (before = '', more: Partial<Responder> = {}) =>
  scripted(async function* ({ signal }) {
    if (before) yield { type: 'text', text: before };
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
  }, more);

/** A clock on which a process never wakes up: it renews nothing. */
export const asleep = (clock: Clock): Clock => ({
  now: clock.now,
  monotonic: clock.monotonic,
  wait: () => new Promise<void>(() => {}),
});

export async function newSession(agent: Agent, owner = ANN): Promise<string> {
  return (await agent.sessions.create(owner)).sessionId;
}

/** Sends and gives the id of the run; fails when it was not accepted. */
export async function say(
  agent: Agent,
  session: string,
  message: string,
  more: Partial<SendRequest> = {},
): Promise<string> {
  const sent = await agent.send({
    owner: ANN,
    session,
    requestId: `request-${message}`,
    request: { message },
    ...more,
  });
  assert.is(sent.kind, 'accepted', `${message}: ${JSON.stringify(sent)}`);
  return sent.kind === 'accepted' ? sent.run.runId : '';
}

export type SeenFrame = RunFrame & { readonly json: Record<string, unknown> };

/** All frames of a run, read to its end. */
export async function framesOf(agent: Agent, runId: string, owner = ANN, after = 0): Promise<SeenFrame[]> {
  const following = await agent.follow({ owner, runId, after });
  assert.ok(following, `there is no run ${runId}`);
  const frames: SeenFrame[] = [];
  for await (const some of following.frames)
    for (const frame of some) frames.push({ ...frame, json: JSON.parse(frame.data) as Record<string, unknown> });
  return frames;
}

/** The text that a reader has in the end, as the ecosystem's client adds it up. */
export function shownText(frames: readonly SeenFrame[]): string {
  let text = '';
  for (const { event, json } of frames) {
    if (event === 'message') text += json.content as string;
    if (event === 'run' && json.resumed) text = text.slice(0, json.partialLength as number);
    if (event === 'done' && json.status !== 'finished' && json.partialText !== undefined)
      text = json.partialText as string;
  }
  return text;
}

/** Fails unless the frames are numbered from 1 without a gap, and the last one alone is `done`. */
export function soundLog(frames: readonly SeenFrame[], first = 1): void {
  assert.equal(
    frames.map(({ n }) => n),
    frames.map((_, at) => at + first),
  );
  assert.is(frames.filter(({ event }) => event === 'done').length, 1);
  assert.is(frames.at(-1)!.event, 'done');
  for (const { data } of frames) assert.not.match(data, /[\r\n]/);
}

export async function settled(rounds = 30): Promise<void> {
  for (let i = 0; i < rounds; i++) await new Promise(setImmediate);
}
