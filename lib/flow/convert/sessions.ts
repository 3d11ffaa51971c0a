// Sessions of other programs: what callers typed, and what webhooks answered, in the order in which it was.

import type { Json } from '../../json/json.ts';
import { asObject, asObjects, asText, type Foreign } from './source.ts';

export interface ForeignSession {
  /** Uuid of its flow; undefined where the session does not say. */
  readonly flow: string | undefined;
  readonly inputs: readonly string[];
  readonly answers: readonly ForeignAnswer[];
}

interface ForeignAnswer {
  readonly status: number;
  readonly body: Json;
}

const SESSIONS_MAX = 1_000;
const INPUTS_MAX = 200;

/** The sessions that a document holds, or is. */
export function readSessions(document: unknown): ForeignSession[] {
  const list = Array.isArray(document) ? asObjects(document) : asObjects(asObject(document).sessions);
  const all = list.length || Array.isArray(document) ? list : [asObject(document)];
  return all.slice(0, SESSIONS_MAX).flatMap((one) => {
    const session = READERS.map((read) => read(one)).find((found) => found !== undefined);
    return session ? [{ ...session, inputs: session.inputs.slice(0, INPUTS_MAX) }] : [];
  });
}

type Read = (session: Foreign) => ForeignSession | undefined;

/** A context of FLOIP: its interactions, each with a block and a value. */
const readContext: Read = ({ interactions, first_flow_id: first, flows }) => {
  if (!Array.isArray(interactions)) return undefined;
  const taken = asObjects(interactions).filter(({ value }) => value !== null && value !== undefined);
  const flow =
    asObjects(interactions)
      .map((one) => asText(one.flow_id))
      .find(Boolean) ??
    asText(first) ??
    asText(asObjects(flows)[0]?.uuid);
  return { flow, inputs: taken.map(({ value }) => String(value)), answers: [] };
};

/** A test of goflow: how it was begun, and the messages that went on with it. */
const readResumes: Read = ({ trigger, resumes, http_mocks: mocks }) => {
  if (!Array.isArray(resumes)) return undefined;
  const texts = asObjects(resumes).flatMap((resume) => readText(asObject(resume.msg)) ?? []);
  const answers = Object.values(asObject(mocks))
    .flatMap((list) => asObjects(list))
    .map(readAnswer);
  return { flow: asText(asObject(asObject(trigger).flow).uuid), inputs: texts, answers };
};

/** A session of RapidPro: its runs, with the events of each. */
const readRuns: Read = ({ runs, trigger }) => {
  const events = asObjects(runs).flatMap((run) => asObjects(run.events));
  if (events.length === 0) return undefined;
  const first = asObject(asObject(asObjects(runs)[0]).flow);
  const inputs = events.flatMap((event) =>
    event.type === 'msg_received' ? (readText(asObject(event.msg)) ?? []) : [],
  );
  const answers = events.filter(({ type }) => type === 'webhook_called').map(readCall);
  return { flow: asText(asObject(asObject(trigger).flow).uuid) ?? asText(first.uuid), inputs, answers };
};

const READERS: readonly Read[] = [readContext, readResumes, readRuns];

function readText({ text }: Foreign): string | undefined {
  return typeof text === 'string' ? text : undefined;
}

function readAnswer({ status, body }: Foreign): ForeignAnswer {
  return { status: typeof status === 'number' ? status : 200, body: parseBody(body) };
}

/** An event holds the answer as it came over the wire, head and body. */
function readCall({ status_code: code, status, response }: Foreign): ForeignAnswer {
  const text = typeof response === 'string' ? response : '';
  const at = text.indexOf('\r\n\r\n');
  const isGood = status === undefined || status === 'success';
  return {
    status: typeof code === 'number' ? code : isGood ? 200 : 500,
    body: parseBody(at < 0 ? text : text.slice(at + 4)),
  };
}

function parseBody(body: unknown): Json {
  if (typeof body !== 'string') return (body ?? null) as Json;
  try {
    return JSON.parse(body) as Json;
  } catch {
    return body;
  }
}
