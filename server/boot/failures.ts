// What the log is told of failures of services, flows and stored sessions.

import { failureCode } from '../../lib/engine/calls.ts';
import type { EngineProblem } from '../../lib/engine/engine.ts';
import type { Service, Services } from '../../lib/engine/service.ts';
import { isRewritten } from '../../lib/engine/session/secret-calls.ts';
import { nameSession, sessionSecret } from '../../lib/inspection/trace.ts';
import type { Keyring } from '../../lib/keyring.ts';
import { findRedactor } from '../../lib/redact.ts';
import { isBuiltIn } from '../menus/services.ts';
import { Foreign, type Log } from '../telemetry/log.ts';

const PROBLEM_WORDS: { readonly [reason in EngineProblem['reason']]?: string } = {
  background: 'background work of a session failed',
  machine:
    'a flow or machine failed on an answer or a timer: it goes on at the fail screen of the call, or its session has ended',
  task: 'what was to be done after the reply is given up',
  'other-key':
    'a stored session cannot go on: it was sealed with another PIN_ENCRYPTION_KEY. Give all instances the same keys',
};

/** A session, by its key, met a failure of the server or a service. */
export interface SessionFailure {
  readonly key: string;
  readonly reason: string;
}

export interface ProblemLogOptions {
  readonly keyring: Keyring;
  readonly log: Log;
  readonly onFailure: ((failure: SessionFailure) => void) | undefined;
  readonly onProblem: (where: 'background' | 'after') => void;
}

/** Logs problems of an engine. The key of a session has a name in the log: it may hold a phone number. */
export function problemLog({
  keyring,
  log,
  onFailure,
  onProblem,
}: ProblemLogOptions): (problem: EngineProblem) => void {
  const secret = sessionSecret(keyring);
  return ({ key, reason, error, call, service, variables, requestId }) => {
    const session = nameSession(secret, key);
    if (reason === 'memory') {
      log.warn({ session, variables }, 'what is kept of a caller does not fit these variables of its flow any more');
      return;
    }
    const code = error === undefined ? undefined : failureCode(error);
    onFailure?.({ key, reason: [reason, service, code].filter(Boolean).join(' ') });
    // The log has it from the service itself.
    if (reason === 'service') return;
    onProblem(reason === 'task' ? 'after' : 'background');
    log.error(
      { err: error, reason, session, call, ...(reason === 'task' && { service }), requestId },
      PROBLEM_WORDS[reason] ?? 'a stored session cannot go on',
    );
  };
}

/** The same services, with every failure in the log: flows only see that something failed. */
export function logFailures(
  services: Services,
  { log, production, alias }: { log: Log; production: boolean; alias: (phone: string) => string },
): Services {
  const watch = (name: string, service: Service): Service => {
    return async (input, call) => {
      try {
        return await service(input, call);
      } catch (error) {
        // In development the author reads along; in production the words of others may hold what callers typed.
        const redact = (text: string) => findRedactor(error)?.text(text) ?? text;
        const message = !production && error instanceof Error ? { message: redact(error.message) } : {};
        // Also an error of our own class is theirs when one of their services throws it.
        const err = isBuiltIn(name) || isRewritten(error) ? error : new Foreign(error);
        const { phoneNumber } = call.session;
        const caller = phoneNumber === undefined ? {} : { caller: alias(phoneNumber) };
        log.warn({ service: name, ...caller, err, ...message }, 'a service failed');
        throw error;
      }
    };
  };
  return Object.fromEntries(Object.entries(services).map(([name, service]) => [name, watch(name, service)]));
}
