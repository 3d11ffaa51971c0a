// Actions of operators on a session: show private values, end it. The audit log is written before the action.

import type { Engine } from '../../../lib/engine/engine.ts';
import { toPath } from '../../../lib/engine/machine/state-path.ts';
import { type SessionView, sessionKeyPages, showSession, viewLiving } from '../../../lib/engine/sessions.ts';
import { identify, nameSession } from '../../../lib/inspection/trace.ts';
import type { Json, JsonObject } from '../../../lib/json/json.ts';
import { MASK } from '../../../lib/redact.ts';
import { closeSession } from '../../../lib/ussd/hang-up.ts';
import { KEY_PREFIX } from '../../../lib/ussd/keys.ts';
import type { Audit } from '../../audit/audit.ts';
import { Refusal } from '../../http/errors.ts';
import { PAGE_LIMITS } from '../limits.ts';

export interface SessionOptions {
  readonly engine: Engine;
  readonly audit: Audit;
  /** Makes session names. */
  readonly secret: Buffer;
  /** Live sessions scanned for a name. @default PAGE_LIMITS.namesTried */
  readonly most?: number;
}

export interface SessionRequest {
  /** Name of the session in the stream. */
  readonly actor: string;
  /** The operator's name for the audit log. */
  readonly by: string;
}

/**
 * The private variables of a live session; undefined if there is none. Chats have none. Throws a refusal if there are more
 * sessions than are scanned.
 */
export async function showPrivate(
  options: SessionOptions,
  { actor, by }: SessionRequest,
): Promise<JsonObject | undefined> {
  const { engine, audit, secret } = options;
  const key = await findKey(options, { actor, prefix: '' });
  const [masked, whole] = key === undefined ? [] : [await showSession(engine, key), await viewLiving(engine, key)];
  if (key === undefined || !masked || !whole) return undefined;
  const values = listMasked(masked.rest.context, whole.rest.context);
  if (values.length === 0) return {};
  const details = { ...describeSession(key, whole, secret), names: values.map(([name]) => name) };
  await audit.append({ action: 'session.private', by, details });
  return Object.fromEntries(values);
}

/**
 * Ends a live session of a phone; false if there is none. Sessions of chats belong to their users. Throws a refusal if there
 * are more sessions than are scanned.
 */
export async function endCall(options: SessionOptions, { actor, by }: SessionRequest): Promise<boolean> {
  const { engine, audit, secret } = options;
  const key = await findKey(options, { actor, prefix: KEY_PREFIX });
  const session = key === undefined ? undefined : await showSession(engine, key);
  if (key === undefined || !session) return false;
  const details = { ...describeSession(key, session, secret), state: toPath(session.rest.state) };
  await audit.append({ action: 'session.ended', by, details });
  return closeSession(engine, key);
}

function describeSession(
  key: string,
  { door, conversation }: Pick<SessionView, 'door' | 'conversation'>,
  secret: Buffer,
) {
  const { actor, door: kind, label, caller = null } = identify(key, door, secret);
  return { actor, door: kind, session: label, caller, flow: conversation };
}

function listMasked(masked: JsonObject, whole: JsonObject): [string, Json][] {
  const hidden = Object.keys(whole).filter(
    (name) => !name.startsWith('$') && masked[name] === MASK && whole[name] !== MASK,
  );
  return hidden.map((name) => [name, whole[name]!]);
}

// A name does not reveal the key, so all keys are tried. Throws a refusal if there are too many.
async function findKey(
  { engine, secret, most = PAGE_LIMITS.namesTried }: SessionOptions,
  { actor, prefix }: { readonly actor: string; readonly prefix: string },
): Promise<string | undefined> {
  let looked = 0;
  for await (const keys of sessionKeyPages(engine)) {
    if (looked >= most)
      throw new Refusal(
        'not-found',
        `It is not among the ${looked} living sessions that were looked at; there are more`,
      );
    const key = keys.find((one) => one.startsWith(prefix) && nameSession(secret, one) === actor);
    if (key !== undefined) return key;
    looked += keys.length;
  }
  return undefined;
}
