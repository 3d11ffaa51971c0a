// What Redis and its client refuse: every form of an error is unwrapped here, and here is decided what follows from it.

import { TwinlineError } from '../../errors.ts';
import { redactor } from '../../redact.ts';

/**
 * What an error asks for besides telling it:
 * - `reconnect`: the server is no master (any more), and the address may lead to the new one by now;
 * - `send-source`: the server does not know the script, and no part of it has run;
 * - `check-login`: waiting does not help;
 * - `do-without`: this server or user has no such command.
 */
type Decision = 'reconnect' | 'send-source' | 'check-login' | 'do-without' | 'refuse';

/** The first match wins: start of the error message, what follows, advice. */
const REFUSALS: readonly (readonly [RegExp, Decision, string])[] = [
  [/^WRONGTYPE/, 'refuse', 'Other data is stored under our keys: use another database or prefix.'],
  [/^OOM/, 'refuse', 'Redis is full: raise maxmemory or add nodes; maxmemory-policy must be noeviction.'],
  [/^READONLY/, 'reconnect', 'This server is a replica: the address must lead to the master. Reconnecting.'],
  [/^UNBLOCKED/, 'reconnect', 'The server became a replica: the address must lead to the master. Reconnecting.'],
  [/^MASTERDOWN/, 'reconnect', 'The replica has lost its master: see redis-cli info replication. Reconnecting.'],
  [/^NOSCRIPT/, 'send-source', 'Try again.'],
  [/^(MOVED|ASK|CROSSSLOT)/, 'refuse', 'This is a cluster: write its address as redis+cluster://host:port,host:port.'],
  [/^(CLUSTERDOWN|TRYAGAIN|Too many Cluster)/, 'refuse', 'The cluster is incomplete: see redis-cli cluster info.'],
  [/^(NOAUTH|WRONGPASS|ERR AUTH|ERR invalid password)/, 'check-login', 'Check the user and the password in the URL.'],
  [/^NOPERM/, 'do-without', 'The user in the URL lacks permission: extend its rights with ACL SETUSER.'],
  [/^(LOADING|BUSY)/, 'refuse', 'Redis is busy loading its data or running a long script. Try again.'],
  [/^(MISCONF|NOREPLICAS)/, 'refuse', 'Redis refuses writes: see its log, and min-replicas-to-write.'],
  [/^ERR max number of clients/, 'refuse', 'Raise maxclients, or run fewer instances.'],
  [/timed out/, 'refuse', 'It may still have been executed. Check whether Redis is overloaded or unreachable.'],
  [
    /^(Connection|Reached the max|Command aborted|Socket)/,
    'refuse',
    'The connection broke; it may still have been executed.',
  ],
  [/^All sentinels/, 'refuse', 'No Sentinel answers: check that they are running, and their addresses.'],
  [/^(ERR )?unknown/i, 'do-without', 'Redis 6.2 or newer is required.'],
];
const NOT_CONNECTED = /^Stream isn't writeable|^Cluster isn't ready|^Connection is closed|^None of startup nodes/;

// Redis up to 6.2, inside a script: `ERR Error running script (call to f_…): @user_script:14: @user_script: 14: -READONLY …`.
const BEFORE = /^(ERR Error running script \([^)]*\): |EXECABORT Transaction discarded because of: |@\w+: ?\d+: |-)+/;
// Redis from 7 on, and Valkey: `READONLY … script: …, on @user_script:14.`
const BEHIND = /\.? script: \w+, ?on @\w+:\d+\.?$/;

/** What an error of Redis or of the client says, without what scripts and transactions put around it, and what follows. */
export function readRefusal(error: unknown): {
  readonly text: string;
  readonly decision: Decision;
  readonly remedy?: string | undefined;
} {
  const { message = String(error) } = (error ?? {}) as Error;
  const text = message.replace(BEFORE, '').replace(BEHIND, '');
  const [, decision = 'refuse', remedy] = REFUSALS.find(([form]) => form.test(text)) ?? [];
  return { text, decision, remedy };
}

const REASON_CHARS = 200;

export interface RefusalOptions {
  /** The address, without the password. */
  readonly name: string;
  /** Masked in every message. */
  readonly password?: string | undefined;
  /** The client's last connection error. */
  lastTrouble?: string;
}

/** The error for an `action` that Redis or the client refused. Contains no data that was sent. */
export function redisRefusal(action: string, error: unknown, options: RefusalOptions): TwinlineError {
  if (error instanceof TwinlineError) return error;
  const message = describeReason(error, options.password);
  const away = NOT_CONNECTED.test(message);
  const reason = away ? `not connected${options.lastTrouble ? ` (${options.lastTrouble})` : ''}` : message;
  const remedy = away
    ? (readRefusal(options.lastTrouble).remedy ?? 'Check that it is running there; we keep retrying.')
    : readRefusal(error).remedy;
  return new TwinlineError(
    'ERR_STORE',
    `Redis ${options.name}: cannot ${action}: ${reason}. ${remedy ?? 'Try again.'}`,
  );
}

/**
 * A short description of a client error. The error itself is not passed on: it carries the command with all its arguments,
 * and Redis quotes the arguments of unknown commands.
 */
export function describeReason(error: unknown, password: string | undefined): string {
  const { lastNodeError } = error as { lastNodeError?: Error };
  const { text } = readRefusal(error);
  const whole = lastNodeError ? `${text} Last: ${lastNodeError.message}` : text;
  // Mask before cutting, because half a password is still a secret.
  return redactor([password])
    .text(whole)
    .split(/,? with args/)[0]!
    .split('\n')[0]!
    .slice(0, REASON_CHARS)
    .replace(/\.$/, '');
}
