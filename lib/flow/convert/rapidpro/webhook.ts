// `call_webhook` → a call of `http.get` or `http.post`; other methods need a service of one's own.

import type { Values } from '../../format/flow.ts';
import { chooseService, readRequest } from '../request.ts';
import { asText, type Foreign } from '../source.ts';
import type { Call, Next } from '../steps/step.ts';
import type { Context } from './context.ts';

export interface WebhookPlace {
  readonly context: Context;
  readonly node: string;
  readonly name: string;
  readonly next: Next;
}

/** The call, and what its end means for the result of the action. */
export function webhookStep(action: Foreign, { context, node, name, next }: WebhookPlace): Call | undefined {
  const method = (asText(action.method) ?? 'GET').toUpperCase();
  const given = readRequest(action, method, { language: context, node });
  if (!given) return undefined;
  const service = chooseService(method, { language: context, node });
  const { webhook } = context;
  const result = asText(action.result_name);
  const done: Values = result
    ? {
        [context.result(result)]: `=str(${webhook}.status)`,
        [context.result(result, 'category')]: 'Success',
        [context.result(result, 'extra')]: `=${webhook}.body`,
      }
    : {};
  const fail: Values = result
    ? { [context.result(result)]: '', [context.result(result, 'category')]: 'Failure', [webhook]: null }
    : { [webhook]: null };
  return {
    kind: 'call',
    node,
    name,
    service,
    with: given,
    save: webhook,
    done: [{ next, ...(result && { set: done }) }],
    fail: [{ next, set: fail }],
  };
}
