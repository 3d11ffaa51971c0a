// Why each problem type and each error code arises, and what to do about it: the words of /docs/errors.

import type { Reason } from '../../lib/domain/problems.ts';
import type { ErrorCode } from '../../lib/errors.ts';
import type { RefusalKind } from '../http/errors.ts';

export interface Advice {
  readonly cause: string;
  readonly remedy: string;
}

/** Problem type → advice. The compiler asks for an entry for every problem that there is. */
export const PROBLEM_ADVICE: { readonly [problem in Reason | RefusalKind]: Advice } = {
  'bad-request': {
    cause: 'A parameter has a value that it cannot have or is given twice, or the body is empty or no JSON.',
    remedy: 'Read the detail: it names the parameter, its value and the allowed ones.',
  },
  'bad-cursor': {
    cause: 'A cursor belongs to exactly one list, with its filters and its order.',
    remedy: 'Send `next` back as it came, with the same parameters; or begin without a cursor.',
  },
  'bad-filter': {
    cause: 'The filter breaks its grammar, compares a field that cannot be compared, or is too long.',
    remedy: 'Read the detail: it says where. A filter looks like and(eq(status,"Verified"),gt(properties.size,3)).',
  },
  'bad-limit': { cause: 'The limit is no whole number, or outside of its range.', remedy: 'Send 1 to 1000.' },
  unauthorized: {
    cause: 'There is no bearer token in the request, or nobody knows it.',
    remedy:
      'Send Authorization: Bearer <key>. For /v1 it is a key of API_KEYS_FILE, for operator routes the OPERATOR_TOKEN.',
  },
  'role-missing': {
    cause: 'The key is known, but what you ask for needs a role that it does not have.',
    remedy: 'Use a key with the role that the detail names, or have the role added in API_KEYS_FILE.',
  },
  'not-controller': {
    cause: 'Only who controls a twin or protocol changes it, and operators.',
    remedy: 'Use the key of the controller, or have it transferred.',
  },
  'not-representative': {
    cause: 'The rules of this deployment name the representatives, and you are not among them.',
    remedy: 'Have a representative propose it. GET /v1/governance/config names them.',
  },
  'not-eligible-voter': {
    cause: 'A proposal is made with a list of voters; who comes later is not in it.',
    remedy: 'Nothing for this proposal. The next one takes the list as it is then.',
  },
  recused: {
    cause: 'The rules of this vote keep those who control the domain from voting on it.',
    remedy: 'Nothing: others decide.',
  },
  'not-proposer': {
    cause: 'A proposal is taken back by who made it.',
    remedy: 'Use the key that proposed it, or ask an operator.',
  },
  'domain-not-verified': {
    cause: 'The activity is open to verified domains within their validity, whose ancestors are not under a sanction.',
    remedy: 'Read the details: they give every reason. A representative proposes a verification, voters decide.',
  },
  'not-found': {
    cause: 'Nothing is at this address, or it belongs to another tenant.',
    remedy:
      'Check the address, the DID and the tenant of the key. A DID stands in a path as it is written; in a DID URL with a path, %2F stands for /.',
  },
  'method-not-allowed': {
    cause: 'The address is known, but not with this method.',
    remedy: 'Use one of the methods in the header Allow.',
  },
  'not-acceptable': {
    cause: 'None of the media types in Accept can be given.',
    remedy: 'Accept one of those that the detail names.',
  },
  conflict: {
    cause: 'Something else has changed the same thing at the same moment, or what is to be made is there already.',
    remedy: 'Read it again and decide anew.',
  },
  'already-exists': {
    cause: 'A name in alsoKnownAs, or the externalId, belongs to another twin or protocol of the tenant.',
    remedy: 'Read the other one, or use another name.',
  },
  'already-voted': {
    cause: 'The rules allow one vote, or the new vote is the same as before.',
    remedy: 'Nothing: the vote counts. Where re-voting is allowed, another choice takes its place.',
  },
  'proposal-not-open': {
    cause: 'The vote is over: decided, closed, withdrawn, vetoed or invalidated.',
    remedy: 'Read the proposal: its status and reason say what became of it.',
  },
  'proposal-open': {
    cause: 'At most one proposal of a kind may be undecided for a domain.',
    remedy: 'Vote on that one, or have it withdrawn first.',
  },
  'wrong-status': {
    cause: 'The status of the domain or proposal does not allow this step.',
    remedy: 'Read it again; GET …/verification says where it stands.',
  },
  'no-electorate': {
    cause: 'With the present rules and keys nobody could decide the proposal.',
    remedy: 'Name voters in GOVERNANCE_FILE, or give keys the role voter.',
  },
  'package-unchanged': {
    cause: 'The same package was decided on, and nothing about the domain has changed since.',
    remedy: 'Change what the decision was about, then propose anew.',
  },
  'last-membership-group': {
    cause: 'An organisation always has at least one membership group.',
    remedy: 'Add another group first, or deactivate the organisation itself.',
  },
  'still-referenced': {
    cause: 'Others point at what you want to remove.',
    remedy: 'Read the details for who does, and change them first.',
  },
  'in-progress': {
    cause: 'A request with this Idempotency-Key is still worked on, or many change the same record.',
    remedy: 'Wait as long as Retry-After says, then send the same request again.',
  },
  'too-slow': {
    cause: 'Less than 60 KB of an import came in a minute of waiting for it, or the import took longer than an hour.',
    remedy: 'Send the lines after the last one that was answered in another import, from a quicker connection.',
  },
  gone: {
    cause: 'It was deactivated. Its DID is never given to another.',
    remedy: 'Its history stays readable: GET …?at=<revision or moment> and GET …/history.',
  },
  'revision-changed': {
    cause: 'If-Match names a revision that is not the present one.',
    remedy: 'Read it again, look at what has changed, and send your change with the new ETag.',
  },
  'too-large': {
    cause: 'The body, or what would be stored of it, is over its limit.',
    remedy: 'GET /v1/limits gives the limits. Send many twins to /v1/bulk.',
  },
  'unsupported-media-type': {
    cause: 'The Content-Type, the encoding or the character set of the body is not read here.',
    remedy: 'Send UTF-8 JSON with Content-Type: application/json, not compressed.',
  },
  invalid: {
    cause: 'The body breaks its schema or a rule of the domain.',
    remedy: 'Correct the fields that the details name; they hold everything that was found.',
  },
  'idempotency-mismatch': {
    cause: 'The Idempotency-Key was used for a request with another body.',
    remedy: 'Use a new key for a new request.',
  },
  'test-failed': {
    cause: 'A test operation of the JSON Patch does not hold, so nothing was changed.',
    remedy: 'Read the record again and make the patch anew.',
  },
  'precondition-required': {
    cause: 'Without If-Match, a change could undo what somebody else has done meanwhile.',
    remedy: 'Send If-Match with the ETag that you have read.',
  },
  'too-many-requests': {
    cause: 'This address has asked more often than RATE_LIMIT_MAX allows.',
    remedy: 'Wait as long as Retry-After says. Networks of telecom gateways belong in RATE_LIMIT_EXEMPT.',
  },
  internal: {
    cause: 'Something went wrong on our side. The log of the server has it under the X-Request-Id of the answer.',
    remedy: 'Try again. If it stays, give the X-Request-Id to the operator of the server.',
  },
  'not-implemented': {
    cause: 'The method is none that this server knows.',
    remedy: 'See the list of routes in /docs.',
  },
  'bad-gateway': {
    cause: 'A service that the answer depends on has failed.',
    remedy: 'Try again in a moment. The log of the server names the service.',
  },
  unavailable: {
    cause: 'A store does not answer, or the server has too much to do.',
    remedy: 'Try again as Retry-After says. GET /readyz says whether a store is away.',
  },
};

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
