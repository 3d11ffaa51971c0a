// What users send an agent, and what becomes of it.

import type { Json } from '../json/json.ts';
import type { TurnSecrets } from './responder.ts';
import type { RunRequest, RunView } from './run/run.ts';

/** What to do with a message while a run of the session is live. */
export type Multitask = 'reject' | 'enqueue' | 'interrupt';

/** A message from a user. */
export interface SendRequest {
  readonly owner: string;
  readonly session: string;
  readonly requestId: string;
  readonly request: RunRequest;
  /** A stand-in for the client address, which gets a share of the daily quota. @default none */
  readonly client?: string;
  /** Kept only in this process's memory. */
  readonly secrets?: TurnSecrets;
  /** @default 'reject' */
  readonly multitask?: Multitask;
  /** A UUID: sending it again while its run exists throws ERR_EXISTS. @default a new one */
  readonly runId?: string;
}

/** The outcome of sending a message. */
export type Sent =
  /** Stored: it will be answered even if this process or the connection dies. */
  | { readonly kind: 'accepted'; readonly run: RunView }
  | { readonly kind: 'busy'; readonly runId: string }
  /** AGENT_LIMITS.runsPerSession are open, or this process is already driving AGENT_LIMITS.runsAtOnce. */
  | { readonly kind: 'full' }
  /** The session belongs to another user, or does not exist. */
  | { readonly kind: 'unknown' };

/** A tool result from the client, as sent by its socket. */
export interface CallAnswer {
  /** The socket's user; the socket has joined this session. */
  readonly owner: string;
  readonly session: string;
  readonly toolCallId: string;
  readonly result?: Json;
  readonly error?: string;
}
