// Mistakes of authors, written down before lint was asked about them: each is one edit of a shipped flow, as it happens at a desk.

import type { Flow } from '../../../lib/flow/format/flow.ts';

/** Which flow is edited: shipped ones, that of `twinline new ussd`, one that calls another, and one of a clinic. */
export type Base = 'wallet' | 'main' | 'ussd' | 'caller' | 'clinic';

/** What only the author knows. */
export const REASONS = {
  words: 'what callers are to read',
  screen: 'where it is to lead',
  condition: 'when it is to hold',
  value: 'what is to stand there, such as a number',
  declaration: 'whether the declaration is right, or its use',
} as const;

/** A mistake that no fix mends for certain: at least two corrections are as likely. */
export interface OpenMistake {
  readonly reason: keyof typeof REASONS;
  /** Two texts in the place of the edit; after either the flow is without mistakes. */
  readonly either: readonly [string, string];
}

export interface Mistake {
  readonly name: string;
  readonly base: Base;
  /** The first occurrence is replaced. */
  readonly edit: readonly [from: string, to: string];
  readonly code: string;
  /** The problem stands where this begins, counted from the edit. */
  readonly at: string;
  /** What the message or the fix must name. */
  readonly says: string;
  /** How a fix that is certain mends it: the text in the place of the edit. */
  readonly mended?: string;
  /** Why no fix is certain, where none is. */
  readonly open?: OpenMistake;
  /** What else the edit breaks. */
  readonly also?: readonly string[];
}

export const ADDRESS: Flow = {
  flow: 'address',
  version: 1,
  start: 'ask',
  vars: { district: { type: 'string', max: 20 } },
  screens: {
    ask: { type: 'input', text: 'District?', save: 'district', to: 'done' },
    done: { type: 'end', text: 'Thanks', output: { district: '=district' } },
  },
};

export const CALLER = `{
  "flow": "caller",
  "version": 1,
  "start": "where",
  "vars": {
    "address": { "type": "object" },
    "nrc": { "type": "string", "max": 12, "sample": "123456/10/1" },
    "depots": { "type": "array", "default": [], "sample": [{ "name": "Chongwe" }] },
    "farmer": { "type": "object", "sample": { "name": "Ann", "fee": 12.5 } }
  },
  "screens": {
    "where": { "type": "flow", "flow": "address", "save": "address", "done": "nrc" },
    "nrc": { "type": "input", "text": "Your NRC?", "save": "nrc", "accept": { "length": { "min": 9, "max": 12 } }, "to": "find" },
    "find": {
      "type": "call",
      "service": "farmers.find",
      "with": { "nrc": "=nrc", "district": "=address.district" },
      "save": "farmer",
      "done": [{ "when": "len(nrc) >= 9", "to": "depots" }, { "to": "sorry" }],
      "fail": "sorry"
    },
    "depots": { "type": "list", "text": "Near {{farmer.name}}", "items": "depots", "row": "{{row.name}}", "empty": "None", "pick": { "to": "pay" } },
    "pay": {
      "type": "call",
      "service": "payments.make",
      "with": { "amount": "=farmer.fee" },
      "done": "paid",
      "fail": "sorry"
    },
    "paid": { "type": "end", "text": "Thank you." },
    "sorry": { "type": "end", "text": "{{nrc}} is not registered." }
  }
}
`;

const mistake = (
  base: Base,
  name: string,
  edit: Mistake['edit'],
  rest: Omit<Mistake, 'name' | 'base' | 'edit'>,
): Mistake => ({
  ...{ base, name, edit },
  ...rest,
});

const withFail = (to: string) =>
  `"done": [{ "set": { "payments": "=answer.body.items", "answer": null }, "to": "payments" }],\n      "fail": "${to}"`;

export const MISTAKES: readonly Mistake[] = [
  // The six that went out to callers once.
  mistake('caller', 'a payment of the words farmer.fee', ['"=farmer.fee"', '"farmer.fee"'], {
    code: 'missing-equals',
    at: '"farmer.fee"',
    says: '=farmer.fee',
    mended: '"=farmer.fee"',
  }),
  mistake('caller', 'a name that is misspelt in a text', ['{{farmer.name}}', '{{farmer.nmae}}'], {
    code: 'unknown-field',
    at: 'nmae',
    says: '"name"',
    mended: '{{farmer.name}}',
  }),
  mistake('caller', 'a misspelt output of another flow', ['=address.district', '=address.distrct'], {
    code: 'unknown-field',
    at: 'distrct',
    says: '"district"',
    mended: '=address.district',
  }),
  mistake('caller', 'items that are an object', ['"items": "depots"', '"items": "farmer"'], {
    code: 'not-a-list',
    at: '"farmer"',
    says: 'list',
    mended: '"items": "depots"',
    also: ['unused-variable'],
  }),
  mistake('caller', 'a text that is compared with a number', ['len(nrc) >= 9', 'nrc >= 5'], {
    code: 'wrong-kind',
    at: '>= 5',
    says: 'num(nrc)',
    mended: 'num(nrc) >= 5',
  }),
  mistake('caller', 'single braces', ['{{nrc}}', '{nrc}'], {
    code: 'single-braces',
    at: '{nrc}',
    says: '{{nrc}}',
    mended: '{{nrc}}',
  }),
  // Names.
  mistake('wallet', 'a target with a letter too many', ['"to": "verifyPin"', '"to": "verifyPinn"'], {
    code: 'dangling-target',
    at: '"verifyPinn"',
    says: '"verifyPin"',
    mended: '"to": "verifyPin"',
  }),
  mistake('wallet', 'a start that is not there', ['"start": "welcome"', '"start": "wellcome"'], {
    code: 'dangling-target',
    at: '"wellcome"',
    says: '"welcome"',
    mended: '"start": "welcome"',
  }),
  mistake('wallet', 'a failure that leads nowhere', ['"fail": "unavailable"', '"fail": "unavailible"'], {
    code: 'dangling-target',
    at: '"unavailible"',
    says: '"unavailable"',
    mended: '"fail": "unavailable"',
  }),
  mistake('wallet', 'a variable in a text', ["{{name|trunc:20|default:'My", "{{nmae|trunc:20|default:'My"], {
    code: 'unknown-variable',
    at: 'nmae',
    says: '"name"',
    mended: "{{name|trunc:20|default:'My",
  }),
  mistake('wallet', 'a variable in a condition', ['"when": "isAuthenticated"', '"when": "isAuthentcated"'], {
    code: 'unknown-variable',
    at: 'isAuthentcated',
    says: '"isAuthenticated"',
    mended: '"when": "isAuthenticated"',
  }),
  mistake(
    'wallet',
    'a variable that is set',
    ['"set": { "pin": null }, "to": "locked"', '"set": { "pni": null }, "to": "locked"'],
    { code: 'unknown-variable', at: '"pni"', says: '"pin"', mended: '"set": { "pin": null }, "to": "locked"' },
  ),
  mistake(
    'wallet',
    'a variable in small letters',
    ['"query": { "phone": "=phoneNumber" }', '"query": { "phone": "=phonenumber" }'],
    {
      code: 'unknown-variable',
      at: 'phonenumber',
      says: '"phoneNumber"',
      mended: '"query": { "phone": "=phoneNumber" }',
    },
  ),
  mistake('wallet', 'what an input saves', ['"save": "pin"', '"save": "pim"'], {
    code: 'unknown-variable',
    at: '"pim"',
    says: '"pin"',
    mended: '"save": "pin"',
  }),
  mistake('wallet', 'a row outside of its list', ['"Airtime for your phone:"', '"Airtime {{row.label}}:"'], {
    code: 'unknown-variable',
    at: 'row.label',
    says: '"row"',
    open: { reason: 'value', either: ['"Airtime for your phone:"', '"Airtime, {{name}}:"'] },
  }),
  mistake('wallet', 'a field of a sample', ['Buy {{bundle.label}} for', 'Buy {{bundle.lable}} for'], {
    code: 'unknown-field',
    at: 'lable',
    says: '"label"',
    mended: 'Buy {{bundle.label}} for',
  }),
  mistake('wallet', 'a field of a row', ['{{row.price|money:KES}}', '{{row.prize|money:KES}}'], {
    code: 'unknown-field',
    at: 'prize',
    says: '"price"',
    mended: '{{row.price|money:KES}}',
  }),
  mistake('wallet', 'a service', ['"service": "http.get"', '"service": "http.gett"'], {
    code: 'unknown-service',
    at: '"http.gett"',
    says: '"http.get"',
    mended: '"service": "http.get"',
  }),
  mistake('caller', 'a flow', ['"flow": "address"', '"flow": "adress"'], {
    code: 'unknown-flow',
    at: '"adress"',
    says: '"address"',
    mended: '"flow": "address"',
  }),
  mistake('wallet', 'a screen with a space in its name', ['"locked": {', '"locked out": {'], {
    code: 'bad-name',
    at: '"locked out"',
    says: 'locked',
    mended: '"locked": {',
    also: ['dangling-target'],
  }),
  mistake('wallet', 'the name of the flow', ['"flow": "wallet"', '"flow": "walet"'], {
    code: 'name-mismatch',
    at: '"walet"',
    says: '"wallet"',
    mended: '"flow": "wallet"',
  }),
  // What services take and answer.
  mistake('main', 'an answer of a service that is ours', ['"when": "account.created"', '"when": "account.create"'], {
    code: 'unknown-field',
    at: 'create"',
    says: '"created"',
    mended: '"when": "account.created"',
  }),
  mistake(
    'main',
    'an input of a service that is ours',
    ['"with": { "phone": "=phoneNumber", "name"', '"with": { "phon": "=phoneNumber", "name"'],
    { code: 'service-input', at: '"phon"', says: '"phone"', mended: '"with": { "phone": "=phoneNumber", "name"' },
  ),
  mistake('wallet', 'the address of a request', ['"url": "=api + \'/balance\'"', '"uri": "=api + \'/balance\'"'], {
    code: 'service-input',
    at: '"uri"',
    says: '"url"',
    mended: '"url": "=api + \'/balance\'"',
  }),
  mistake('wallet', 'the body of an answer', ['num(answer.body.balance) != null', 'num(answer.bdy.balance) != null'], {
    code: 'unknown-field',
    at: 'bdy',
    says: '"body"',
    mended: 'num(answer.body.balance) != null',
  }),
  mistake('wallet', 'a value without =', ['"name": "=account.name"', '"name": "account.name"'], {
    code: 'missing-equals',
    at: '"account.name"',
    says: '=account.name',
    mended: '"name": "=account.name"',
  }),
  mistake('wallet', 'a variable without =', ['"phone": "=phoneNumber", "pin"', '"phone": "phoneNumber", "pin"'], {
    code: 'missing-equals',
    at: '"phoneNumber"',
    says: '=phoneNumber',
    mended: '"phone": "=phoneNumber", "pin"',
  }),
  // Kinds of values.
  mistake(
    'wallet',
    'a number in quotation marks',
    ['"to": "chooseBundle" }', '"when": "balance >= \'50\'", "to": "chooseBundle" }'],
    { code: 'wrong-kind', at: ">= '50'", says: '50', mended: '"when": "balance >= 50", "to": "chooseBundle" }' },
  ),
  mistake('wallet', 'a condition that is a text', ['"when": "simChanged"', '"when": "name"'], {
    code: 'wrong-kind',
    at: 'name"',
    says: 'name',
    open: { reason: 'condition', either: ['"when": "simChanged"', '"when": "simChanged or name == null"'] },
    also: ['unused-variable'],
  }),
  mistake('wallet', 'a text for true', ['"isAuthenticated": true,', '"isAuthenticated": "yes",'], {
    code: 'wrong-save',
    at: '"yes"',
    says: 'true or false',
    mended: '"isAuthenticated": true,',
  }),
  mistake('wallet', 'a text for a number', ['"balance": 0, "payments": []', '"balance": "none", "payments": []'], {
    code: 'wrong-save',
    at: '"none"',
    says: 'a number',
    open: { reason: 'value', either: ['"balance": 0, "payments": []', '"balance": null, "payments": []'] },
  }),
  mistake('wallet', 'an answer that is kept as a text', ['"save": "account"', '"save": "name"'], {
    code: 'wrong-save',
    at: '"name"',
    says: 'an object',
    mended: '"save": "account"',
  }),
  mistake('wallet', 'an item that is kept as a text', ['"save": "bundle"', '"save": "receipt"'], {
    code: 'wrong-save',
    at: '"receipt"',
    says: 'an object',
    mended: '"save": "bundle"',
    also: ['never-set'],
  }),
  mistake(
    'ussd',
    'digits that are kept as a number',
    ['"meter": { "type": "string", "max": 6, "sample": "100200" }', '"meter": { "type": "number", "sample": 100200 }'],
    {
      code: 'wrong-save',
      at: '"meter",',
      says: 'a text',
      open: {
        reason: 'declaration',
        either: [
          '"meter": { "type": "string", "max": 6, "sample": "100200" }',
          '"meter": { "type": "string", "max": 12, "sample": "100200" }',
        ],
      },
    },
  ),
  mistake(
    'wallet',
    'a default of another type',
    ['"default": 0, "sample": 1234567.89', '"default": "0", "sample": 1234567.89'],
    { code: 'wrong-default', at: '"0"', says: 'number', mended: '"default": 0, "sample": 1234567.89' },
  ),
  mistake(
    'wallet',
    'a sample beyond its length',
    ['"max": 20, "sample": "R7K2M9QXP4"', '"max": 5, "sample": "R7K2M9QXP4"'],
    {
      code: 'wrong-default',
      at: '"R7K2M9QXP4"',
      says: '5',
      open: { reason: 'declaration', either: ['"max": 10, "sample": "R7K2M9QXP4"', '"max": 5, "sample": "R7K2M"'] },
    },
  ),
  // Expressions and texts.
  mistake('wallet', 'one = too few', ["account.reason == 'locked'", "account.reason = 'locked'"], {
    code: 'expr',
    at: "= 'locked'",
    says: '==',
    mended: "account.reason == 'locked'",
  }),
  mistake('wallet', 'a quotation mark too few', ["'en' : 'sw'", "'en' : 'sw"], {
    code: 'expr',
    at: "'sw",
    says: "'",
    mended: `'en' : 'sw'`,
  }),
  mistake('wallet', 'a function that is not there', ['"=num(answer.body.balance)"', '"=number(answer.body.balance)"'], {
    code: 'expr',
    at: 'number(',
    says: 'num',
    mended: '"=num(answer.body.balance)"',
  }),
  mistake('wallet', 'signs of another language', ['"when": "not isAuthenticated"', '"when": "!isAuthenticated"'], {
    code: 'expr',
    at: '!isAuth',
    says: 'not',
    mended: '"when": "not isAuthenticated"',
  }),
  mistake(
    'wallet',
    'two conditions with &&',
    ['"when": "answer.body.ok"', '"when": "answer.body.ok && isAuthenticated"'],
    { code: 'expr', at: '&&', says: 'and', mended: '"when": "answer.body.ok and isAuthenticated"' },
  ),
  mistake('wallet', 'a filter that is misspelt', ['{{balance|money:KES}}', '{{balance|mony:KES}}'], {
    code: 'filter',
    at: 'mony',
    says: '"money"',
    mended: '{{balance|money:KES}}',
  }),
  mistake('wallet', 'a currency in small letters', ['{{balance|money:KES}}', '{{balance|money:kes}}'], {
    code: 'filter',
    at: 'money:kes',
    says: 'KES',
    mended: '{{balance|money:KES}}',
  }),
  mistake('wallet', 'a filter without what it needs', ["{{name|trunc:20|default:'My", "{{name|trunc|default:'My"], {
    code: 'filter',
    at: 'trunc',
    says: 'trunc:14',
    open: { reason: 'value', either: [`{{name|trunc:20|default:'My`, `{{name|trunc:14|default:'My`] },
  }),
  mistake('wallet', 'braces that do not close', ['{{receipt|default:none}}', '{{receipt|default:none}'], {
    code: 'template',
    at: '}",',
    says: '}}',
    mended: '{{receipt|default:none}}',
  }),
  mistake('wallet', 'a secret that is shown', ['with this PIN. New here', 'with {{pin}}. New here'], {
    code: 'secret-shown',
    at: 'pin}}',
    says: 'pin',
    open: { reason: 'words', either: ['with this PIN. New here', 'with that. New here'] },
  }),
  mistake('wallet', 'a secret that is kept', ['"name": "=account.name"', '"name": "=pin"'], {
    code: 'secret-kept',
    at: '"=pin"',
    says: 'pin',
    open: { reason: 'value', either: ['"name": "=account.name"', '"name": null'] },
  }),
  mistake('main', 'a secret that is gone', ['"pin": "=again"', '"pin": "=pin"'], {
    code: 'secret-gone',
    at: '"=pin"',
    says: 'pin',
    mended: '"pin": "=again"',
  }),
  // Languages and room.
  mistake('wallet', 'a language that is missing', ['{ "en": "Balance", "sw": "Salio" }', '{ "en": "Balance" }'], {
    code: 'missing-lang',
    at: '{ "en": "Balance" }',
    says: 'sw',
    open: { reason: 'words', either: ['{ "en": "Balance", "sw": "Salio" }', '{ "en": "Balance", "sw": "Baki" }'] },
  }),
  mistake(
    'wallet',
    'a language that the flow has not',
    ['{ "en": "Balance", "sw": "Salio" }', '{ "en": "Balance", "sw": "Salio", "fr": "Solde" }'],
    {
      code: 'unknown-lang',
      at: '"fr"',
      says: 'fr',
      open: { reason: 'words', either: ['{ "en": "Balance", "sw": "Salio" }', '{ "en": "Balance", "sw": "Solde" }'] },
    },
  ),
  mistake('wallet', 'quotation marks of a word processor', ['Welcome to your wallet', 'Welcome to “your” wallet'], {
    code: 'non-gsm',
    at: '“',
    says: 'charset',
    mended: 'Welcome to \\"your\\" wallet',
    also: ['too-long'],
  }),
  mistake('wallet', 'an end that does not fit', ['Thank you. Goodbye.', `Thank you. ${'Goodbye. '.repeat(25)}`], {
    code: 'too-long',
    at: '{ "en": "Thank',
    says: '182',
    open: { reason: 'words', either: ['Thank you. Goodbye.', 'Thank you. Goodbye. Goodbye.'] },
  }),
  mistake(
    'wallet',
    'a language that chooses none',
    ['"lang": { "type": "string", "default": "en"', '"lang": { "type": "string", "default": "fr"'],
    { code: 'lang-variable', at: '"fr"', says: 'en', mended: '"lang": { "type": "string", "default": "en"' },
  ),
  // Ways and rules.
  mistake('wallet', 'a rule that nothing fits', ['"min": 4, "max": 6', '"min": 6, "max": 4'], {
    code: 'accept',
    at: '{ "min": 6',
    says: '6',
    mended: '"min": 4, "max": 6',
  }),
  mistake('wallet', 'attempts without an else', ['"else": "welcome",', ''], {
    code: 'attempts-without-else',
    at: '3,\n      \n',
    says: 'else',
    open: { reason: 'screen', either: ['"else": "welcome",', '"else": "locked",'] },
  }),
  mistake('wallet', 'a way that is never taken', ['"when": "account.ok",', ''], {
    code: 'shadowed-way',
    at: '{ "when": "account.reason',
    says: 'never',
    open: { reason: 'condition', either: ['"when": "account.ok",', '"when": "account.ok and account.name != null",'] },
  }),
  mistake('wallet', 'a last way with a condition', ['{ "to": "buy" }', '{ "when": "isAuthenticated", "to": "buy" }'], {
    code: 'no-else',
    at: '{ "when": "isAuthenticated", "to": "buy" }',
    says: 'without',
    open: {
      reason: 'screen',
      either: ['{ "to": "buy" }', '{ "when": "isAuthenticated", "to": "buy" }, { "to": "pin" }'],
    },
  }),
  mistake('wallet', 'two options of one name', ['"id": "no"', '"id": "yes"'], {
    code: 'dup-option',
    at: '"yes"',
    says: '"yes"',
    mended: '"id": "no"',
  }),
  mistake('wallet', 'one key for two things', ['"home": "00"', '"home": "0"'], {
    code: 'key-clash',
    at: '"0", "more"',
    says: '"0"',
    mended: '"home": "00"',
  }),
  mistake('main', 'a screen that nothing leads to', ['"to": "privacy"', '"to": "about"'], {
    code: 'unreachable',
    at: '"privacy": {',
    says: '"privacy"',
    open: { reason: 'screen', either: ['"to": "privacy"', '"to": "privacy", "track": "privacy_read"'] },
  }),
  mistake('wallet', 'a condition that is always true', ['"when": "simChanged"', '"when": "true"'], {
    code: 'constant-when',
    at: '"true"',
    says: 'never changes',
    open: { reason: 'condition', either: ['"when": "simChanged"', '"when": "simChanged and isAuthenticated"'] },
    also: ['unused-variable'],
  }),
  mistake('wallet', 'a call that takes too long', ['"timeout": "10s"', '"timeout": "120s"'], {
    code: 'long-timeout',
    at: '"120s"',
    says: '60s',
    mended: '"timeout": "60s"',
  }),
  // The file.
  mistake('wallet', 'a key that is misspelt', ['"accept": {', '"acept": {'], {
    code: 'unknown-key',
    at: '"acept"',
    says: '"accept"',
    mended: '"accept": {',
  }),
  mistake(
    'wallet',
    'a call without a way for its failure',
    [
      '"done": [{ "set": { "payments": "=answer.body.items", "answer": null }, "to": "payments" }],\n      "fail": "unavailable"',
      '"done": [{ "set": { "payments": "=answer.body.items", "answer": null }, "to": "payments" }]',
    ],
    {
      code: 'missing-key',
      at: '"getPayments": {',
      says: '"fail"',
      open: {
        reason: 'screen',
        either: [withFail('unavailable'), withFail('wallet')],
      },
    },
  ),
  mistake('wallet', 'a kind of screen that is misspelt', ['"type": "input"', '"type": "imput"'], {
    code: 'bad-value',
    at: '"imput"',
    says: '"input"',
    mended: '"type": "input"',
  }),
  mistake('wallet', 'a number in quotation marks, of the version', ['"version": 1', '"version": "1"'], {
    code: 'wrong-type',
    at: '"1"',
    says: 'number',
    mended: '"version": 1',
  }),
  mistake('wallet', 'a comma too few', ['"start": "welcome",', '"start": "welcome"'], {
    code: 'syntax',
    at: '"note"',
    says: 'comma',
    mended: '"start": "welcome",',
  }),
  mistake('wallet', 'a key that stands twice', ['"version": 1,', '"version": 1,\n  "version": 1,'], {
    code: 'duplicate-key',
    at: '"version": 1,\n  "start"',
    says: 'twice',
    mended: '"version": 1,',
  }),
];
