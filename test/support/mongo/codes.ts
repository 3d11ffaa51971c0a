// MongoDB's error codes for the SQLSTATEs of the engine: its own start with M and are numbered, the rest is PostgreSQL's.

/** An error that a MongoDB driver understands. */
export interface MongoFault {
  readonly code: number;
  readonly codeName: string;
  readonly errmsg: string;
  readonly errorLabels?: readonly string[];
}

export const INTERNAL: readonly [number, string] = [1, 'InternalError'];
export const COMMAND_NOT_FOUND: readonly [number, string] = [59, 'CommandNotFound'];
export const CURSOR_NOT_FOUND: readonly [number, string] = [43, 'CursorNotFound'];
export const NO_SUCH_TRANSACTION: readonly [number, string] = [251, 'NoSuchTransaction'];
const DUPLICATE_KEY: readonly [number, string] = [11_000, 'DuplicateKey'];
export const WRITE_CONFLICT: readonly [number, string] = [112, 'WriteConflict'];

// Only what a store can meet; any other state goes through as InternalError with the state in its text.
const CODES: Readonly<Record<string, readonly [number, string]>> = {
  M0001: [2, 'BadValue'],
  M0003: [9, 'FailedToParse'],
  M0004: [14, 'TypeMismatch'],
  M0006: [20, 'IllegalOperation'],
  M0008: [26, 'NamespaceNotFound'],
  M0009: [27, 'IndexNotFound'],
  M000A: [28, 'PathNotViable'],
  M000D: [40, 'ConflictingUpdateOperators'],
  M000E: CURSOR_NOT_FOUND,
  M000F: [48, 'NamespaceExists'],
  M000G: [52, 'DollarPrefixedFieldName'],
  M000J: [56, 'EmptyFieldName'],
  M000K: [57, 'DottedFieldName'],
  M000M: [66, 'ImmutableField'],
  M000N: [67, 'CannotCreateIndex'],
  M000O: [68, 'IndexAlreadyExists'],
  M000P: [72, 'InvalidOptions'],
  M000Q: [73, 'InvalidNamespace'],
  M000R: [85, 'IndexOptionsConflict'],
  M000S: [86, 'IndexKeySpecsConflict'],
  M000U: [115, 'CommandNotSupported'],
  M000W: [146, 'ExceededMemoryLimit'],
  M0012: [197, 'InvalidIndexSpecificationOption'],
  M0016: [263, 'OperationNotSupportedInTransaction'],
  M001B: [10_334, 'BSONObjectTooLarge'],
  M001C: DUPLICATE_KEY,
  M003A: [17_419, 'Location17419'],
  M003B: [17_420, 'Location17420'],
  M007U: [40_324, 'UnrecognizedCommand'],
  M0088: [40_415, 'Location40415'],
  M00EW: [24, 'LockTimeout'],
  M00EX: [50, 'MaxTimeMSExpired'],
  M00F1: WRITE_CONFLICT,
  M00F4: [201, 'CannotBuildIndexKeys'],
  '0A000': [115, 'CommandNotSupported'],
  '22P02': [9, 'FailedToParse'],
  22023: [2, 'BadValue'],
  23505: DUPLICATE_KEY,
  '23P01': DUPLICATE_KEY,
  40001: WRITE_CONFLICT,
  '40P01': WRITE_CONFLICT,
  '42P01': [26, 'NamespaceNotFound'],
  '42P07': [48, 'NamespaceExists'],
  '55P03': WRITE_CONFLICT,
  57014: [50, 'MaxTimeMSExpired'],
  '57P01': [91, 'ShutdownInProgress'],
};

// In a transaction these say "run it again from the start", which the driver does when it sees the label.
const TRANSIENT = new Set([WRITE_CONFLICT[0], NO_SUCH_TRANSACTION[0]]);

export function fault([code, codeName]: readonly [number, string], errmsg: string, inTransaction = false): MongoFault {
  const labels = inTransaction && TRANSIENT.has(code) ? { errorLabels: ['TransientTransactionError'] } : {};
  return { code, codeName, errmsg, ...labels };
}

/** The fault for one SQLSTATE. */
export function faultOf(state: string, message: string, inTransaction: boolean): MongoFault {
  const known = CODES[state];
  return known ? fault(known, message, inTransaction) : fault(INTERNAL, `${message} (SQLSTATE ${state})`);
}

/** PostgreSQL packs the five letters of a SQLSTATE into an integer, six bits each; write errors carry that integer. */
export function stateOf(packed: number): string {
  let state = '';
  for (let shift = 0; shift < 30; shift += 6) state += String.fromCharCode(48 + ((packed >> shift) & 0x3f));
  return state;
}
