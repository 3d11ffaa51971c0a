// The state of a simulated phone's session that its page needs to hide secrets.

import { isFlow } from '../../../lib/flow/run/compile.ts';
import { screenKeys } from '../../../lib/flow/run/page.ts';
import { isAnswerHidden } from '../../../lib/flow/run/scope.ts';
import type { UssdService } from '../../../lib/ussd/service.ts';

export interface PhoneSessionState {
  /** Path of the screen. */
  readonly screen: string;
  /** The answer is secret or private. */
  readonly secret: boolean;
  /** Navigation keys of the screen, such as `0` and `*`; they are never secret. */
  readonly keys: readonly string[];
}

/** Undefined if the session does not exist or is over. */
export async function readSessionState(
  service: Pick<UssdService, 'locate'>,
  sessionId: string,
): Promise<PhoneSessionState | undefined> {
  const place = await service.locate(sessionId);
  if (!place) return undefined;
  const { path, conversation } = place;
  const node = isFlow(conversation) ? conversation.screens.get(path) : undefined;
  // The answer to an unknown screen may be secret.
  if (!node) return { screen: path, secret: true, keys: [] };
  const keys = Object.values(screenKeys(node)).filter((key) => typeof key === 'string');
  return { screen: path, secret: isAnswerHidden(node), keys };
}
