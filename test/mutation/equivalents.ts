// Changes to the source that no test can notice, because the code does the same with them: each with the reason. A row names
// the change as `npm run mutate` prints it, and the line where it begins if the same change is also made elsewhere.

import type { Equivalent } from './verdict.ts';

type Row = readonly [change: string, why: string, at?: string];

const NO_MATCH = '[] → ["Stryker was here"]';
const NO_TEXT = `'' → "Stryker was here!"`;

/** By file. */
const ROWS: { readonly [file: string]: readonly Row[] } = {
  'lib/redact.ts': [
    ['secrets.length === 0 → false', 'the pattern of no secrets matches nothing'],
    [
      'known .filter((secret) => !isLong(secret)) → known',
      'the long ones are masked anywhere, so also where they stand apart',
    ],
    [NO_TEXT, 'only compared with basic', "const [, scheme = '', rest = value] = /^(\\w+) +(.+)$/.exec(value) ?? [];"],
    [
      NO_MATCH,
      'the first element is not read',
      "const [, scheme = '', rest = value] = /^(\\w+) +(.+)$/.exec(value) ?? [];",
    ],
    [NO_MATCH, 'the first element is not read', 'const [, login] = /:\\/\\/([^@/?#]*)@/.exec(url) ?? [];'],
    [NO_MATCH, 'the first element is not read', "const [, query = ''] = /\\?([^#]*)/.exec(url) ?? [];"],
    [NO_TEXT, 'as parameters it names no credential', "const [, query = ''] = /\\?([^#]*)/.exec(url) ?? [];"],
  ],
  'lib/account/account.ts': [
    [
      "found.kind === 'account' → true",
      'what is stored of a number without an account holds no SIM',
      "const sim = found.kind === 'account' ? found.stored.body.sim : undefined;",
    ],
    [
      "createHash('sha256').update(key).digest('base64url').slice(… → createHash('sha256').update(key).digest('base64url')",
      'the whole hash tells keys apart too: only room is saved',
    ],
  ],
  'lib/account/check.ts': [[`'right' → ""`, 'only wrong and unchecked are told apart']],
  'lib/account/pin.ts': [
    [`'latin1' → ""`, 'digits have the same bytes in UTF-8'],
    [`typeof pin === 'string' → typeof pin !== 'string'`, 'a pattern is matched with the text of a buffer'],
    [`'string' → ""`, 'as above', "return PIN.test(typeof pin === 'string' ? pin : pin.toString('latin1'));"],
    ["typeof pin === 'string' → true", 'as above'],
    ["typeof pin === 'string' → false", 'a text is its own text'],
    ['/\\s+/ → /\\s/', 'an empty text is no PIN'],
    ['sealed !== undefined → true', 'no PIN has the random digest of nobody'],
    ['{ digest.fill(0); } → {}', 'a test cannot look into memory that was let go'],
    [
      NO_TEXT,
      'what is too short for a record is damaged either way',
      "const [version, kid = '', kdf, salt = '', iv = '', body = '', ...rest] = record.split('$');",
    ],
    ['{ N: 2 ** 14, r: 8, p: 1 } → {}', 'what Node takes by default: it is said for the reader'],
    ['/\\d{4}$/ → /\\d{4}/', 'a phone number ends with digits, and a PIN has only digits'],
  ],
  'lib/account/spray.ts': [
    [NO_MATCH, 'it is no bucket of this window, and is dropped'],
    ['-1 → +1', 'another bucket of the same time is begun: only sums are read'],
    ['current?.at !== at → true', 'as above'],
    ['!share → false', 'without it, what is thrown is caught'],
  ],
  'lib/store/memory/documents.ts': [
    [
      'declareIndexes(kind).filter((index) => { const known = coll… → declareIndexes(kind)',
      'an index is built again as it is',
    ],
    ['!known || !sameIndex(index, known) → true', 'as above'],
    [
      'false → true',
      'counted in the other direction',
      'for (const _ of walk(index?.places ?? collection.ids, stretches, false)) count++;',
    ],
    [NO_TEXT, 'places are compared by their key'],
  ],
  'lib/store/memory/index.ts': [
    ['old && old.filed <= expiresAt → false', 'filed anew at each write: it only takes longer'],
    ['old.filed <= expiresAt → old.filed < expiresAt', 'filed at the same time, or again at the same time'],
    ['filed !== old?.filed → true', 'taken out and filed where it was'],
    ['before === after → false', 'as above'],
    ['before !== null → true', 'no timer stands at null'],
    ['sessions.get(key)?.session → sessions.get(key).session', 'a session that lives is there'],
  ],
  'lib/engine/session/record.ts': [
    ["{ return 'malformed'; } → {}", 'what could not be read is no object, which is malformed too'],
    ['{ return false; } → {}', 'undefined is no yes either'],
  ],
  'lib/engine/session/turn.ts': [
    ['attempt.turnKey !== undefined → true', 'every stored session has a turn key'],
    [
      NO_MATCH,
      'work behind the caller takes no inputs',
      '? runTurn(engine, attempt, { opened, work: resumeWork(engine, key, opened), inputs: [] })',
    ],
    ["opened.kind === 'live' || opened.kind === 'ended' → true", 'nothing else has a record'],
    [`'conflict' → ""`, 'only whether it is text is looked at', "let result: TurnResult | Again = 'conflict';"],
    [`'none' → ""`, 'where nothing is stored, there is nothing before'],
    [
      'work.calls.length → true',
      'without calls it is settled at once',
      'if (work.calls.length) settled = await settle(engine, work, { writer, until });',
    ],
    ['work.waiting → true', 'without running calls there is nothing to deliver'],
    ["settled === 'late' → true", 'as above'],
    [`'poll' → ""`, 'only a conflict is counted', "return 'poll';"],
  ],
  'lib/delegation/guard.ts': [[`'binary' → ""`, 'a hash tells tokens apart in every encoding']],
  'lib/delegation/proof/claim.ts': [
    ['claimed[name] !== granted[name] → true', 'what is the same is deeply equal, too: it saves the time to look'],
  ],
  'lib/delegation/proof/principal.ts': [
    ['key → true', 'nothing is kept under a key without a value'],
    [
      'did.length > DELEGATION_LIMITS.resourceChars → false',
      'longer texts are no keys: it saves the time to read them',
    ],
    ['did.length > DELEGATION_LIMITS.resourceChars → did.length >= DELEGATION_LIMITS.resourceChars', 'as above'],
    ['{ return undefined; } → {}', 'a function that ends gives undefined', '} catch {'],
  ],
  'lib/delegation/token/car.ts': [
    ['bytes < 3 → bytes <= 3', 'the shortest number of four bytes ends behind the longest token'],
    ['byte === undefined → false', 'undefined is not less than anything: the loop ends without a length'],
  ],
  'lib/delegation/token/cbor.ts': [
    ['first === undefined → false', 'what is read behind the end is not at the end when it is done'],
    ['length > cursor.bytes.length - cursor.at → false', 'as above'],
    ['cursor.bytes.length - cursor.at → cursor.bytes.length + cursor.at', 'as above'],
    ['length === undefined → false', 'then no place is the end'],
    ['text?.startsWith → text.startsWith', 'what is thrown is caught'],
    ['{ return undefined; } → {}', 'a function that ends gives undefined', '} catch {'],
  ],
  'server/http/middleware/cors.ts': [
    ["{ origin: '*', credentials: false } → {}", 'what @koa/cors does by default: it is said for the reader'],
    [`'*' → ""`, 'as above', "if (listed === '*') return { origin: '*', credentials: false };"],
    [NO_TEXT, 'no list holds it', "const asks = req.headers.origin ?? '';"],
    ['more.length → true', 'the header is set again to what it was'],
  ],
  'server/domain/api-keys.ts': [
    ["{ return 'missing'; } → {}", 'any other value than a stamp'],
    [`'missing' → ""`, 'as above'],
    [NO_MATCH, 'a validation that failed has errors'],
  ],
  'server/user/authenticate.ts': [[NO_TEXT, 'neither the type ucan nor a bearer']],
  'server/http/middleware/client.ts': [
    [
      `'latin1' → ""`,
      'what is kept is an address, in ASCII',
      "const copyText = (text: string) => Buffer.from(text, 'latin1').toString('latin1');",
    ],
    [NO_MATCH, 'the first element is not read'],
    ['/%.*$/ → /%.*/', 'no header holds a line break'],
    ["address.kind() === 'ipv6' → true", 'all 32 bits are compared either way'],
  ],
  'lib/domain/voting/tally.ts': [
    [NO_TEXT, 'the group takes part in every match', "const [, whole = '', places = ''] = decimal;"],
    [NO_MATCH, 'the first element is not read'],
  ],
};

export const EQUIVALENTS: readonly Equivalent[] = Object.entries(ROWS).flatMap(([file, rows]) =>
  rows.map(([change, why, at]) => ({ file, change, why, ...(at !== undefined && { at }) })),
);
