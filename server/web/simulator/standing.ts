// Where the session of a simulated phone stands: as much as a page must know to hide what is typed, and no more.

import type { CompiledFlow } from '../../../lib/flow/run/compile.ts';
import { asksForSecret } from '../../../lib/flow/run/scope.ts';
import type { UssdService } from '../../../lib/ussd/service.ts';

/** What the page reads. */
export interface Standing {
  /** Path of the screen. */
  readonly screen: string;
  /** The answer to it is a secret. */
  readonly secret: boolean;
  /** Answers that lead somewhere from every screen of its flow, such as `0` and `*`: they are no secrets. */
  readonly keys: readonly string[];
}

/** Undefined when there is no such session, or it is over. */
export async function standingOf(
  gateway: Pick<UssdService<CompiledFlow>, 'locate'>,
  sessionId: string,
): Promise<Standing | undefined> {
  const found = await gateway.locate(sessionId);
  if (!found) return undefined;
  const { path, conversation } = found;
  const node = conversation.screens.get(path);
  // What nobody knows may be a secret.
  if (!node) return { screen: path, secret: true, keys: [] };
  const keys = Object.values(node.scope.keys).filter((key) => typeof key === 'string');
  return { screen: path, secret: asksForSecret(node), keys };
}
