// Why the library and the server throw each error code, and what to do about it: the words of /docs/errors.

import type { ErrorCode } from '../../lib/errors.ts';
import type { Advice } from './problem-words.ts';

/** Error code → advice. The compiler asks for an entry for every code that there is. */
export const CODE_ADVICE: { readonly [code in ErrorCode]: Advice } = {
  ERR_CONFIG: {
    cause: 'An environment variable, an option or a file that it names cannot be used.',
    remedy: 'Correct every line of the message; `twinline config` shows each value and where it comes from.',
  },
  ERR_FLOW_INVALID: {
    cause: 'A flow file is no JSON, has unknown keys, or leads nowhere.',
    remedy: 'Run `twinline lint`; every problem names its place in the file.',
  },
  ERR_FLOW_UNKNOWN: {
    cause: 'USSD_FLOW or a session names a flow or a version that is not in MENUS_DIR.',
    remedy: 'Put the file back, or name one that is there.',
  },
  ERR_EXPRESSION: {
    cause: 'An expression breaks its grammar, names what does not exist, or is too long.',
    remedy: 'Correct it at the place that the message gives.',
  },
  ERR_TEMPLATE: { cause: 'A text has a placeholder that does not end or cannot be read.', remedy: 'Correct the text.' },
  ERR_INPUT: {
    cause: 'A caller has given a function or a door something that it does not take.',
    remedy: 'Correct the field that the message names.',
  },
  ERR_RECORD: {
    cause: 'What is stored was written by another key, a later version or by hand, or is damaged.',
    remedy:
      'Check PIN_ENCRYPTION_KEY (older keys stay behind the first) and the version; the session is over for its caller.',
  },
  ERR_MACHINE: {
    cause: 'A guard or an action of a state machine has thrown.',
    remedy: 'See the cause of the error, and correct the machine or the service that it calls.',
  },
  ERR_TURN_LIMIT: {
    cause: 'A flow goes round in a circle without asking anything, or one session is changed by very many at once.',
    remedy: 'Look for screens that lead to each other without input; limits are in lib/limits.ts.',
  },
  ERR_CONFLICT: { cause: 'Another writer was first.', remedy: 'Load again, and decide on what is there now.' },
  ERR_EXISTS: {
    cause: 'A document with this id, or with this value of a unique field, is there already.',
    remedy: 'Read it, or use another id.',
  },
  ERR_NOT_FOUND: { cause: 'There is no document under this id.', remedy: 'Check the id; it may have been removed.' },
  ERR_STORE: {
    cause: 'Redis, MongoDB or the disk did not answer, refused, or is full.',
    remedy: 'Run `twinline doctor`: it says which and why. It counts as temporary: the same attempt may succeed later.',
  },
  ERR_TIMEOUT: {
    cause: 'Something took longer than its deadline.',
    remedy: 'Try again; if it stays, look at what is slow: the metrics have times of turns and services.',
  },
  ERR_BUSY: {
    cause: 'More is asked for at once than a bounded queue takes, such as PIN checks.',
    remedy: 'Try again in a moment; run more instances.',
  },
  ERR_SERVICE: {
    cause: 'A service that a flow calls has thrown or answered with an error.',
    remedy: 'The log names the service. Correct it, or give the call a `retry`.',
  },
  ERR_SERVICE_UNKNOWN: {
    cause: 'A flow calls a service that no module of SERVICES brings.',
    remedy: 'Add the module to SERVICES, or correct the name; `twinline lint` finds it beforehand.',
  },
  ERR_REFUSED: {
    cause: 'A rule of the domain says no. The `reason` of the error is one of the problem types above.',
    remedy: 'See the entry of that problem type.',
  },
  ERR_PIN: {
    cause: 'A PIN has the wrong form or is too easy to guess, or its stored form cannot be opened.',
    remedy: 'Ask for another PIN; check PIN_ENCRYPTION_KEY when it concerns PINs that were set before.',
  },
};
