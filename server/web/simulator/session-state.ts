// Where the session of a simulated phone stands, as far as its page has to know.

import { isFlow } from '../../../lib/flow/run/compile.ts';
import { isAnswerHidden } from '../../../lib/flow/run/scope.ts';
import type { UssdService } from '../../../lib/ussd/service.ts';

/** What the page reads. */
export interface PhoneSessionState {
  /** Path of the screen. */
  readonly screen: string;
  /** The answer to it is a secret, or private. */
  readonly secret: boolean;
  /** Answers that lead somewhere from every screen of its flow, such as `0` and `*`: they are no secrets. */
  readonly keys: readonly string[];
}

/** Undefined when there is no such session, or it is over. */
export async function readSessionState(
  service: Pick<UssdService, 'locate'>,
  sessionId: string,
): Promise<PhoneSessionState | undefined> {
  const found = await service.locate(sessionId);
  if (!found) return undefined;
  const { path, conversation } = found;
  const node = isFlow(conversation) ? conversation.screens.get(path) : undefined;
  // What is unknown may be a secret.
  if (!node) return { screen: path, secret: true, keys: [] };
  const keys = Object.values(node.scope.keys).filter((key) => typeof key === 'string');
  return { screen: path, secret: isAnswerHidden(node), keys };
}
