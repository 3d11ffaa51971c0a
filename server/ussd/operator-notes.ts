// Audit log of what operators see of callers and do as simulated phones; each row is written before the action.

import type { UssdRequest } from '../../lib/ussd/request.ts';
import type { SessionDebug } from '../../lib/ussd/service.ts';
import type { Audit } from '../audit/audit.ts';

/** Each resolves once its row is stored. Rejects with ERR_STORE or ERR_CONFLICT. */
export interface OperatorNotes {
  /** An operator views a session. */
  shown(by: string, session: SessionDebug): Promise<void>;
  /** A simulated phone starts a session. */
  simulated(by: string, dialect: string, request: UssdRequest): Promise<void>;
}

export interface OperatorNotesOptions {
  /** Pseudonym of a phone number that must not be written. */
  readonly alias: (phone: string) => string;
  readonly audit: Pick<Audit, 'append'>;
}

export function operatorNotes({ alias, audit }: OperatorNotesOptions): OperatorNotes {
  return {
    async shown(by, { state, context }) {
      await audit.append({ action: 'session.shown', by, details: { phone: alias(context.phoneNumber), state } });
    },
    async simulated(by, dialect, { phoneNumber, serviceCode }) {
      const details = { phone: alias(phoneNumber), dialect, serviceCode };
      await audit.append({ action: 'session.simulated', by, details });
    },
  };
}
