// The text of /docs/errors: the cause and the remedy of each problem type and error code.

import type { Reason } from '../../lib/domain/problems.ts';
import type { ErrorCode } from '../../lib/errors.ts';
import type { RefusalKind } from '../http/errors.ts';

export interface Advice {
  readonly cause: string;
  readonly remedy: string;
}

/** Problem type → advice. The compiler requires an entry for every problem type. */
export const PROBLEM_ADVICE: { readonly [problem in Reason | RefusalKind]: Advice } = {
  'bad-request': {
    cause: 'A parameter has an invalid value or occurs twice, or the body is empty or not JSON.',
    remedy: 'The detail names the parameter, its value and the allowed values.',
  },
  'bad-cursor': {
    cause: 'A cursor is valid only for the list that returned it, with the same filters and order.',
    remedy: 'Send `next` back unchanged with the same parameters, or start without a cursor.',
  },
  'bad-filter': {
    cause: 'The filter is malformed or too long, or compares a field that cannot be compared.',
    remedy: 'The detail says where. A filter looks like and(eq(status,"Verified"),gt(properties.size,3)).',
  },
  'bad-limit': { cause: 'The limit is not an integer or is out of range.', remedy: 'Send 1 to 1000.' },
  unauthorized: {
    cause: 'The request has no bearer token, or an unknown one.',
    remedy:
      'Send Authorization: Bearer <key>: a key from API_KEYS_FILE for /v1, the OPERATOR_TOKEN for operator routes.',
  },
  'role-missing': {
    cause: 'The key is valid but lacks the role that this request needs.',
    remedy: 'Use a key with the role named in the detail, or have the role added in API_KEYS_FILE.',
  },
  'not-controller': {
    cause: 'Only its controller or an operator can change a twin or protocol.',
    remedy: 'Use the controller’s key, or have the record transferred to you.',
  },
  'not-representative': {
    cause: 'This deployment lists its representatives, and you are not one of them.',
    remedy: 'Ask a representative to propose it. GET /v1/governance/config lists them.',
  },
  'not-eligible-voter': {
    cause: 'The list of voters is fixed when a proposal is created; you were not on it.',
    remedy: 'You cannot vote on this proposal. The next proposal uses the list of that time.',
  },
  recused: {
    cause: 'The rules of this vote exclude controllers of the domain.',
    remedy: 'None: the other voters decide.',
  },
  'not-proposer': {
    cause: 'Only the proposer can withdraw a proposal.',
    remedy: 'Use the proposer’s key, or ask an operator.',
  },
  'domain-not-verified': {
    cause: 'The activity requires a verified, unexpired domain with no sanctioned ancestor.',
    remedy: 'The details list every reason. A representative proposes a verification and the voters decide.',
  },
  'not-found': {
    cause: 'Nothing exists at this address, or it belongs to another tenant.',
    remedy:
      'Check the address, the DID and the tenant of the key. Write a DID in a path unescaped; in a DID URL with a path, escape / as %2F.',
  },
  'method-not-allowed': {
    cause: 'The address exists but does not support this method.',
    remedy: 'Use a method listed in the Allow header.',
  },
  'not-acceptable': {
    cause: 'None of the media types in Accept is available.',
    remedy: 'Accept one of the types named in the detail.',
  },
  conflict: {
    cause: 'Another request changed the same record at the same time, or the record already exists.',
    remedy: 'Read the record again and retry if still appropriate.',
  },
  'already-exists': {
    cause: 'A name in alsoKnownAs, or the externalId, belongs to another twin or protocol of the tenant.',
    remedy: 'Read that record, or use another name.',
  },
  'already-voted': {
    cause: 'The rules allow one vote, or the new vote equals the previous one.',
    remedy: 'None: your vote counts. Where re-voting is allowed, a different choice replaces it.',
  },
  'proposal-not-open': {
    cause: 'The vote is over: decided, closed, withdrawn, vetoed or invalidated.',
    remedy: 'Read the proposal: its status and reason give the outcome.',
  },
  'proposal-open': {
    cause: 'A domain can have only one undecided proposal of each kind.',
    remedy: 'Vote on that proposal, or have it withdrawn first.',
  },
  'wrong-status': {
    cause: 'The status of the domain or proposal does not allow this step.',
    remedy: 'Read it again; GET …/verification gives the current status.',
  },
  'no-electorate': {
    cause: 'With the current rules and keys, nobody could decide the proposal.',
    remedy: 'List voters in GOVERNANCE_FILE, or give keys the role voter.',
  },
  'package-unchanged': {
    cause: 'This package was already decided, and the domain has not changed since.',
    remedy: 'Change the domain or the package, then propose again.',
  },
  'last-membership-group': {
    cause: 'An organisation must have at least one membership group.',
    remedy: 'Add another group first, or deactivate the organisation itself.',
  },
  'still-referenced': {
    cause: 'Other records refer to the one you want to remove.',
    remedy: 'The details list them; change those first.',
  },
  'in-progress': {
    cause: 'A request with this Idempotency-Key is still in progress, or many requests change the same record.',
    remedy: 'Wait as long as Retry-After says, then send the same request again.',
  },
  'too-slow': {
    cause: 'Less than 60 KB of the import arrived within a minute, or the import took longer than an hour.',
    remedy: 'Send the lines after the last answered one in another import, over a faster connection.',
  },
  gone: {
    cause:
      'The record was deactivated, and its DID is never reused; or the call that a callback answers waits no more.',
    remedy:
      'The history of a record remains readable: GET …?at=<revision or time> and GET …/history. A callback cannot be repaired.',
  },
  'revision-changed': {
    cause: 'If-Match names a revision that is not the current one.',
    remedy: 'Read the record again, review what changed, and send your change with the new ETag.',
  },
  'too-large': {
    cause: 'The body, or the record that it would create, exceeds its limit.',
    remedy: 'GET /v1/limits lists the limits. Send many twins to /v1/bulk.',
  },
  'unsupported-media-type': {
    cause: 'The Content-Type, encoding or character set of the body is not supported.',
    remedy: 'Send uncompressed UTF-8 JSON with Content-Type: application/json.',
  },
  invalid: {
    cause: 'The body violates its schema or a domain rule.',
    remedy: 'Correct the fields listed in the details, which are complete.',
  },
  'idempotency-mismatch': {
    cause: 'The Idempotency-Key was used for a request with a different body.',
    remedy: 'Use a new key for a new request.',
  },
  'test-failed': {
    cause: 'A test operation of the JSON Patch failed, so nothing was changed.',
    remedy: 'Read the record again and create a new patch.',
  },
  'precondition-required': {
    cause: 'Without If-Match, the change could overwrite somebody else’s change.',
    remedy: 'Send If-Match with the ETag of the record you read.',
  },
  'too-many-requests': {
    cause: 'This address exceeded RATE_LIMIT_MAX.',
    remedy: 'Wait as long as Retry-After says. Add networks of telecom gateways to RATE_LIMIT_EXEMPT.',
  },
  internal: {
    cause: 'Internal error. The server’s log has it under the X-Request-Id of the response.',
    remedy: 'Try again. If it persists, send the X-Request-Id to the server’s operator.',
  },
  'not-implemented': {
    cause: 'The server does not implement this method.',
    remedy: 'See the list of routes in /docs.',
  },
  'bad-gateway': {
    cause: 'An upstream service failed.',
    remedy: 'Try again in a moment. The server’s log names the service.',
  },
  unavailable: {
    cause: 'A store is unavailable or the server is overloaded.',
    remedy: 'Try again after Retry-After. GET /readyz says whether a store is away.',
  },
};

/** Error code → advice. The compiler requires an entry for every code. */
export const CODE_ADVICE: { readonly [code in ErrorCode]: Advice } = {
  ERR_CONFIG: {
    cause: 'An environment variable, an option or a file that one of them names is invalid.',
    remedy: 'Correct everything the message lists; `twinline config` shows each value and its source.',
  },
  ERR_FLOW_INVALID: {
    cause: 'A flow file is not JSON, has unknown keys, or refers to missing screens.',
    remedy: 'Run `twinline lint`; every problem names its place in the file.',
  },
  ERR_FLOW_UNKNOWN: {
    cause: 'USSD_FLOW or a session names a flow or a version that is not in MENUS_DIR.',
    remedy: 'Restore the file, or name one that exists.',
  },
  ERR_EXPRESSION: {
    cause: 'An expression is malformed or too long, or uses an undefined name.',
    remedy: 'Correct it at the position given in the message.',
  },
  ERR_TEMPLATE: { cause: 'A text has a placeholder that is not closed or is malformed.', remedy: 'Correct the text.' },
  ERR_INPUT: {
    cause: 'A function or a service received an invalid argument or request.',
    remedy: 'Correct the field named in the message.',
  },
  ERR_RECORD: {
    cause: 'The stored data was written with another key, by a later version or by hand, or is damaged.',
    remedy: 'Check PIN_ENCRYPTION_KEY (old keys follow the first one) and the version; the caller’s session is lost.',
  },
  ERR_MACHINE: {
    cause: 'A guard or an action of a state machine threw an exception.',
    remedy: 'Look at the error’s cause, and correct the machine or the service it calls.',
  },
  ERR_TURN_LIMIT: {
    cause:
      'A flow or a machine goes from state to state without an input or a pause, sets too many timers, or has more in its variables than a session may hold. Callers hear that the service is temporarily unavailable.',
    remedy:
      'Look for screens, calls or states that lead to each other without an input; keep less in variables, or page what a service answers. LIMITS has the numbers.',
  },
  ERR_CONFLICT: {
    cause: 'Another writer changed the data first.',
    remedy: 'Load the data again and decide on its current state.',
  },
  ERR_EXISTS: {
    cause: 'A document with this id, or with this value of a unique field, already exists.',
    remedy: 'Read that document, or use another id.',
  },
  ERR_NOT_FOUND: { cause: 'No document has this id.', remedy: 'Check the id; it may have been removed.' },
  ERR_STORE: {
    cause: 'Redis, MongoDB or the disk is unavailable, refused the operation, or is full.',
    remedy:
      'Run `twinline doctor` to find out which and why. The error is temporary: the same operation may succeed later.',
  },
  ERR_TIMEOUT: {
    cause: 'An operation exceeded its deadline.',
    remedy: 'Try again. If it persists, find the slow part: the metrics have durations of turns and services.',
  },
  ERR_QUOTA: {
    cause:
      'A user of the agent service, or all users together, reached the daily quota, or the user has too many sessions.',
    remedy:
      'Delete sessions, or wait until tomorrow (UTC). Operators set AGENT_USER_BYTES_PER_DAY, AGENT_BYTES_PER_DAY and AGENT_SESSIONS_PER_USER.',
  },
  ERR_BUSY: {
    cause: 'A bounded queue is full, such as the one for PIN checks.',
    remedy: 'Try again in a moment, or run more instances.',
  },
  ERR_SERVICE: {
    cause: 'A service called by a flow threw an exception or returned an error.',
    remedy: 'The log names the service. Fix it, or add `retry` to the call.',
  },
  ERR_SERVICE_UNKNOWN: {
    cause: 'A flow calls a service that no module in SERVICES provides.',
    remedy: 'Add the module to SERVICES, or correct the name; `twinline lint` reports such calls.',
  },
  ERR_REFUSED: {
    cause: 'A domain rule forbids the operation. The error’s `reason` is one of the problem types above.',
    remedy: 'See the entry for that problem type.',
  },
  ERR_PIN: {
    cause: 'A PIN has the wrong format or is too easy to guess, or the stored PIN cannot be opened.',
    remedy: 'Ask for another PIN; check PIN_ENCRYPTION_KEY if it concerns existing PINs.',
  },
};
