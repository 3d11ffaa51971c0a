// One mistake each, put into the worked example: which rule must see it, where, and what it must name.

import type { Flow } from '../../../lib/flow/format/flow.ts';
import type { LintContext } from '../../../lib/flow/lint/lint.ts';
import type { ServiceContract } from '../../../lib/flow/lint/shapes.ts';

export interface Seed {
  readonly code: string;
  readonly severity: 'error' | 'warning';
  /** What is replaced, everywhere in the file, and by what. */
  readonly edits: readonly (readonly [string, string])[];
  /** The problem stands where this begins in the edited file; it is there once. */
  readonly at: string;
  /** All of these are in the message or the fix. */
  readonly says: readonly string[];
  readonly known?: LintContext;
}

const error = (code: string, seed: Omit<Seed, 'code' | 'severity'>): Seed => ({ code, severity: 'error', ...seed });
const warning = (code: string, seed: Omit<Seed, 'code' | 'severity'>): Seed => ({ code, severity: 'warning', ...seed });

const LOAD_TX = `"type": "call",
      "service": "wallet.history",
      "timeout": "4s",
      "with": { "msisdn": "=msisdn" },
      "save": "tx",
      "done": "history",
      "fail": "sorry"`;
const LONG = 'x'.repeat(190);

const history: Flow = {
  flow: 'history',
  version: 1,
  start: 'list',
  vars: { phone: { type: 'string', max: 13 } },
  screens: { list: { type: 'input', text: 'Month?', save: 'phone', to: 'bye' }, bye: { type: 'end', text: 'Done' } },
};
const circular: Flow = {
  ...history,
  screens: { list: { type: 'flow', flow: 'wallet', done: 'bye' }, bye: { type: 'end', text: 'Done' } },
};
const address: Flow = {
  ...history,
  flow: 'address',
  vars: { phone: { type: 'string', max: 13 } },
  screens: {
    list: { type: 'input', text: 'District?', save: 'phone', to: 'bye' },
    bye: { type: 'end', text: 'Done', output: { district: '=phone', kind: 1 } },
  },
};
const SAMPLED = [
  '"auth": { "type": "object" }',
  '"auth": { "type": "object", "sample": { "ok": true, "name": "Tariro", "balance": 12 } }',
] as const;
// Only the called flow keeps something in "auth" then.
const NO_AUTH = [
  ['"save": "auth",\n      "done"', '"done"'],
  ['"when": "auth.ok",', '"when": "balance > 0",'],
  ['"=auth.name", "balance": "=auth.balance"', '"=name"'],
] as const;
const called = (name: string, more = '') =>
  [LOAD_TX, `"type": "flow", "flow": "${name}", ${more}"done": "history"`] as const;

const text = { kind: 'text', about: 'a text' } as const;
const VERIFY: ServiceContract = {
  doc: 'Checks a PIN.',
  input: { msisdn: text, pin: { ...text, required: true }, name: text },
  answer: {
    ok: { kind: 'boolean', about: 'whether it is right' },
    name: text,
    balance: { kind: 'number', about: 'money' },
  },
};

export const SEEDS: readonly Seed[] = [
  error('bad-name', { edits: [['"id": "login"', '"id": "log-in"']], at: '"log-in"', says: ['Option "log-in"'] }),
  error('bad-name', { edits: [['loadTx', 'load.tx']], at: '"load.tx": {', says: ['Screen "load.tx"'] }),
  error('bad-name', {
    edits: [
      ['"msisdn": {', '"2nd": {'],
      ['=msisdn', '=name'],
    ],
    at: '"2nd"',
    says: ['Variable "2nd"'],
  }),
  error('reserved-name', { edits: [['loadTx', 'toString']], at: '"toString": {', says: ['Screen "toString"'] }),
  error('reserved-name', { edits: [['msisdn', 'row']], at: '"row": {', says: ['Variable "row"'] }),
  error('reserved-name', { edits: [['"retry"', '"valueOf"']], at: '"valueOf"', says: ['Option "valueOf"'] }),

  error('dangling-target', {
    edits: [['"to": "verify"', '"to": "verifyy"']],
    at: '"verifyy"',
    says: ['verifyy', 'Did you mean "verify"?'],
  }),
  error('dangling-target', {
    edits: [['"else": "sorry"', '"else": "nowhere"']],
    at: '"nowhere"',
    says: ['"nowhere"', 'bye'],
  }),
  error('dangling-target', {
    edits: [['"back": false', '"back": "welcom"']],
    at: '"welcom",\n      "text"',
    says: ['"welcom"', '"welcome"'],
  }),
  error('dangling-target', {
    edits: [['"start": "welcome"', '"start": "wellcome"']],
    at: '"wellcome"',
    says: ['"start" is "wellcome"'],
  }),
  error('dangling-target', {
    edits: [['"mainMenu": "home"', '"mainMenu": "hime"']],
    at: '"hime"',
    says: ['"hime"', '"home"'],
  }),
  error('dangling-target', {
    edits: [['"items": "tx"', '"items": "tx", "pick": { "to": "hom" }']],
    at: '"hom"',
    says: ['"hom"', '"home"'],
  }),
  error('dangling-target', {
    edits: [['"fail": "sorry"\n    },\n    "hi', '"fail": "toString"\n    },\n    "hi']],
    at: '"toString"',
    says: ['"toString"'],
  }),
  warning('unused-migration', { edits: [['"2": {', '"3": {']], at: '"3": {', says: ['Migration "3"', 'version 3'] }),

  warning('unreachable', {
    edits: [['"bye": {', '"lost": { "type": "end", "text": "Lost" },\n    "bye": {']],
    at: '"lost"',
    says: ['screen "lost"'],
  }),
  error('no-end', {
    edits: [
      ['"to": "bye"', '"to": "home"'],
      [',\n    "bye": { "type": "end", "text": { "en": "Goodbye", "sn": "Chisarai" }, "track": "end" }', ''],
    ],
    at: '"welcome": {',
    says: ['screen "welcome"', 'home'],
  }),
  error('no-end', {
    edits: [
      ['"sorry": {', '"sorry": { "back": false,'],
      ['"to": "pin" }]', '"to": "stuck" }]'],
      [
        '"bye": {',
        '"stuck": { "type": "menu", "back": false, "text": "Hm", "options": [{ "id": "a", "text": "A", "to": "sorry" }] },\n    "bye": {',
      ],
    ],
    at: '"sorry": {',
    says: ['screen "sorry"', 'stuck'],
  }),
  error('dead-end', {
    edits: [['"items": "tx"', '"items": "tx", "back": false']],
    at: '"history": {',
    says: ['screen "history"'],
  }),
  error('dead-end', {
    edits: [['"back": "0", "home": "00"', '"back": false, "home": false']],
    at: '"history": {',
    says: ['screen "history"'],
  }),

  error('spin', {
    edits: [
      ['"fail": "sorry"\n    },\n    "home"', '"fail": "checkA"\n    },\n    "home"'],
      [
        '"bye": {',
        '"checkA": { "type": "branch", "branch": [{ "when": "balance > 1", "to": "checkB" }, { "to": "sorry" }] },\n    "checkB": { "type": "branch", "branch": [{ "to": "checkA" }] },\n    "bye": {',
      ],
    ],
    at: '"checkA": {',
    says: ['checkA → checkB → checkA'],
  }),
  warning('spin', {
    edits: [
      ['"done": "history",\n      "fail": "sorry"', '"done": "again",\n      "fail": "history"'],
      ['"bye": {', '"again": { "type": "call", "service": "x", "done": "loadTx", "fail": "sorry" },\n    "bye": {'],
    ],
    at: '"loadTx": {',
    says: ['loadTx → again → loadTx'],
  }),
  error('no-failure-path', {
    edits: [['"done": "history",\n      "fail": "sorry"', '"done": "history",\n      "fail": "loadTx"']],
    at: '"loadTx"\n    },',
    says: ['call "loadTx"'],
  }),

  error('shadowed-way', {
    edits: [['"when": "auth.ok",\n          ', '']],
    at: '{ "set": { "pin": null }, "to": "sorry"',
    says: ['"done[1]" of screen "verify"', '"done[0]"'],
  }),
  error('no-else', {
    edits: [
      ['{ "set": { "pin": null }, "to": "sorry"', '{ "when": "not auth.ok", "set": { "pin": null }, "to": "sorry"'],
    ],
    at: '{ "when": "not auth.ok"',
    says: ['"not auth.ok"', '"sorry"'],
  }),
  warning('constant-when', { edits: [['"balance >= 1"', '"1 >= 1"']], at: '"1 >= 1"', says: ['"1 >= 1"'] }),
  error('attempts-without-else', {
    edits: [[',\n      "else": "sorry"', '']],
    at: '3,\n      "text"',
    says: ['Screen "pin"', '3 attempts'],
  }),
  warning('else-without-attempts', {
    edits: [['"attempts": 3,\n      ', '']],
    at: '"sorry"\n    },\n    "verify"',
    says: ['"pin"', '"sorry"'],
  }),

  error('dup-option', {
    edits: [['"id": "logout"', '"id": "topup"']],
    at: '"topup", "text"',
    says: ['"topup"', '"home"'],
  }),
  error('key-clash', {
    edits: [['"id": "exit"', '"id": "exit", "key": "1"']],
    at: '"1", "text"',
    says: ['"exit"', '"1"'],
  }),
  error('key-clash', {
    edits: [['"id": "exit"', '"id": "exit", "key": "00"']],
    at: '"00", "text"',
    says: ['"00"', 'home'],
  }),
  error('key-clash', { edits: [['"home": "00"', '"home": "0"']], at: '"0", "more"', says: ['"0"', 'back', 'home'] }),
  error('key-clash', {
    edits: [
      ['"id": "login"', '"id": "login", "key": "#"'],
      ['"id": "exit"', '"id": "exit", "key": "#"'],
    ],
    at: '"#", "text": { "en": "Exit"',
    says: ['"#"', '"login"'],
  }),
  error('key-clash', {
    edits: [
      ['"more": "98"', '"more": "3"'],
      ['"id": "logout"', '"id": "logout", "key": "9"'],
    ],
    at: '{ "id": "exit"',
    says: ['"exit"', 'number 3', 'more'],
  }),

  error('unknown-variable', {
    edits: [['balance >= 1', 'balanse >= 1']],
    at: 'balanse >= 1',
    says: ['"balanse"', '"balance"'],
  }),
  error('unknown-variable', { edits: [['"=balance - 1"', '"=balance - price"']], at: 'price', says: ['"price"'] }),
  error('unknown-variable', {
    edits: [['{{name}}, balance', '{{nane}}, balance']],
    at: 'nane',
    says: ['"nane"', '"name"'],
  }),
  error('unknown-variable', { edits: [['"save": "tx"', '"save": "txs"']], at: '"txs"', says: ['"txs"'] }),
  error('unknown-variable', {
    edits: [['{ "lang": "=lang', '{ "language": "=lang']],
    at: '"language"',
    says: ['"language"'],
  }),
  error('unknown-variable', { edits: [['"digits": 4', '"sameAs": "pim"']], at: '"pim"', says: ['"pim"', '"pin"'] }),
  error('unknown-variable', {
    edits: [['"en": "No transactions"', '"en": "No {{row.label}}"']],
    at: 'row.label}}"',
    says: ['"row"'],
  }),
  error('unknown-variable', { edits: [['"auth.ok"', '"error.code == null"']], at: 'error.code', says: ['"error"'] }),
  error('unknown-variable', {
    edits: [
      ['"items": "tx"', '"items": "auth.tx", "pick": { "save": "one", "to": "home" }'],
      [
        '"tx": { "type": "array", "default": [] }',
        '"tx": { "type": "array" }, "b": { "type": "array", "default": [] }',
      ],
      [
        '"en": "Transactions", "sn": "Zvakaitwa" },\n      "empty"',
        '"en": "{{tx|count}}{{b|count}}", "sn": "Zvakaitwa" },\n      "empty"',
      ],
    ],
    at: '"one"',
    says: ['"one"'],
  }),
  error('unknown-variable', {
    edits: [called('history', '"with": { "phome": "=msisdn" }, ')],
    at: '"phome"',
    says: ['"phome"', '"phone"', '"history"'],
    known: { flows: new Map([['history', history]]) },
  }),
  warning('unused-variable', {
    edits: [['"auth": {', '"ghost": { "type": "string" },\n    "auth": {']],
    at: '"ghost"',
    says: ['"ghost" is never used'],
  }),
  warning('unused-variable', {
    edits: [
      ['"auth": {', '"seen": { "type": "boolean" },\n    "auth": {'],
      ['"else": "sorry"', '"set": { "seen": true },\n      "else": "sorry"'],
    ],
    at: '"seen": {',
    says: ['"seen" is set, and nothing reads it'],
  }),
  error('wrong-default', {
    edits: [['"default": 0', '"default": "0"']],
    at: '"0", "sample"',
    says: ['"balance"', '"0"', 'number'],
  }),
  error('wrong-default', { edits: [['"max": 16', '"max": 5']], at: '"Tariro"', says: ['"name"', '"Tariro"', '5'] }),

  error('expr', {
    edits: [['"balance >= 1"', '"balance >= "']],
    at: '",\n          "set": { "balance"',
    says: ['balance >= '],
  }),
  error('expr', {
    edits: [['"auth.ok"', '"auth.id == \\"\\u00e9\\" && auth.ok"']],
    at: '&& auth.ok',
    says: ['&&', 'Write "and"'],
  }),
  error('expr', { edits: [['"=balance - 1"', '"=balance - one(1)"']], at: 'one(1)', says: ['one', 'round'] }),
  error('expr', { edits: [['"items": "tx"', '"items": "tx["']], at: '",\n      "row"', says: ['tx['] }),
  error('expr', { edits: [['"set": { "tx": [] }', '"set": { "tx": "=[]" }']], at: '"=[]"', says: ['"=[]"'] }),
  error('template', {
    edits: [['{{name}}, balance', '{{name, balance']],
    at: ', balance {{',
    says: ['{{name, balance'],
  }),
  error('filter', {
    edits: [['{{name}}, mari {{balance|money}}', '{{name}}, mari {{balance|mony}}']],
    at: 'mony',
    says: ['"mony"', '"money"'],
  }),
  error('filter', { edits: [['trunc:14', 'trunc:x']], at: 'trunc:x', says: ['trunc', 'x'] }),
  error('accept', {
    edits: [['"digits": 4', '"digits": { "min": 6, "max": 4 }']],
    at: '{ "min": 6',
    says: ['digits', '"min":6'],
  }),
  error('accept', { edits: [['"digits": 4', '"pattern": "("']], at: '"("', says: ['pattern', '('] }),
  error('accept', {
    edits: [['{ "digits": 4 }', '{ "number": true, "date": true }']],
    at: '{ "number"',
    says: ['number and date'],
  }),

  error('missing-lang', {
    edits: [['"en": "Goodbye", "sn": "Chisarai"', '"en": "Goodbye"']],
    at: '{ "en": "Goodbye"',
    says: ['"sn"', '"bye"', 'Goodbye'],
  }),
  warning('unknown-lang', {
    edits: [['"sn": "Chisarai"', '"sn": "Chisarai", "fr": "Adieu"']],
    at: '"fr"',
    says: ['"fr"', '"bye"'],
  }),
  warning('lang-variable', {
    edits: [
      ['"lang": { "type": "string", "default": "en", "max": 2 },\n    ', ''],
      [`"set": { "lang": "=lang == 'en' ? 'sn' : 'en'" },\n          `, ''],
    ],
    at: '["en", "sn"]',
    says: ['en, sn', '"lang"'],
  }),
  warning('lang-variable', { edits: [['"default": "en"', '"default": "fr"']], at: '"fr"', says: ['"fr"', 'en, sn'] }),
  warning('non-gsm', { edits: [['"Goodbye"', '"Goodbye ✓ “you”"']], at: '✓', says: ['"✓", "“", "”"', '"bye"'] }),
  warning('too-long', {
    edits: [['"max": 16', '"max": 160']],
    at: '{ "en": "{{name}}, balance',
    says: ['menu "home"', '3 pages'],
  }),
  warning('too-long', {
    edits: [['Enter your 4-digit PIN', LONG]],
    at: `{ "en": "${LONG}`,
    says: ['input "pin"', '3 pages', '"en"'],
  }),
  warning('too-long', {
    edits: [['{{row.label|trunc:14}}', `${LONG} {{row.label}}`]],
    at: `"${LONG}`,
    says: ['row of list "history"'],
  }),
  error('too-long', { edits: [['"Goodbye"', `"${LONG}"`]], at: `{ "en": "${LONG}`, says: ['end "bye"', '190'] }),
  error('too-long', {
    edits: [['"screens": {\n', `"wait": "${LONG}",\n  "screens": {\n`]],
    at: `"${LONG}`,
    says: ['190'],
  }),
  error('too-long', {
    edits: [
      ['"screens": {\n', '"labels": { "back": "Back to the screen before this one, or further" },\n  "screens": {\n'],
      ['"chars": 182', '"chars": 80'],
    ],
    at: '{ "back": "Back',
    says: ['0. Back to', '80 characters'],
  }),

  error('secret-shown', {
    edits: [['Enter your 4-digit PIN', 'Again, not {{pin}}']],
    at: 'pin}}',
    says: ['"pin"', '{{pin}}'],
  }),
  error('secret-shown', {
    edits: [['"tx": { "type": "array"', '"tx": { "type": "array", "secret": true']],
    at: '"tx",\n      "row"',
    says: ['"tx"'],
  }),
  error('secret-kept', { edits: [['"=auth.name"', '"=pin"']], at: '"=pin", "bal', says: ['"pin"', '"name"'] }),
  error('secret-kept', {
    edits: [['"=auth.name"', `"=auth.ok ? 'x' + lower(pin) : ''"`]],
    at: '"=auth.ok ?',
    says: ['"pin"', '"name"'],
  }),
  error('secret-kept', {
    edits: [['"type": "end", ', '"type": "end", "output": { "p": "=pin" }, ']],
    at: '"=pin" }, "text"',
    says: ['"pin"', 'output'],
  }),
  error('secret-kept', {
    edits: [called('history', '"with": { "phone": "=pin" }, ')],
    at: '"=pin" }, "done"',
    says: ['"pin"', '"phone"', '"history"'],
    known: { flows: new Map([['history', history]]) },
  }),

  warning('private-copied', {
    edits: [
      ['"auth": { "type": "object"', '"auth": { "type": "object", "private": true'],
      ['"name": { "type": "string"', '"name": { "private": true, "type": "string"'],
    ],
    at: '"=auth.balance"',
    says: ['"auth"', '"balance"', '"private": true'],
  }),
  warning('private-copied', {
    edits: [
      ['"name": { "type": "string"', '"name": { "private": true, "type": "string"'],
      called('history', '"with": { "phone": "=name" }, '),
    ],
    at: '"=name" }, "done"',
    says: ['"name"', '"phone"', '"history"'],
    known: { flows: new Map([['history', history]]) },
  }),
  error('private-secret', {
    edits: [['"secret": true', '"secret": true, "private": true']],
    at: 'true, "max"',
    says: ['"pin"', 'secret'],
  }),

  error('secret-gone', {
    edits: [
      ['"to": "verify"', '"to": "sure"'],
      [
        '"bye": {',
        '"sure": { "type": "menu", "text": "Sure?", "options": [{ "id": "a", "text": "Yes", "to": "verify" }] },\n    "bye": {',
      ],
    ],
    at: '"=pin"',
    says: ['"with.pin" of screen "verify"', '"pin"'],
  }),

  warning('missing-equals', {
    edits: [['"pin": "=pin" }', '"pin": "=pin", "amount": "auth.fee" }']],
    at: '"auth.fee"',
    says: ['"with.amount" of screen "verify"', 'Write "=auth.fee"', `"='auth.fee'"`],
  }),
  warning('missing-equals', {
    edits: [['"with": { "msisdn": "=msisdn" }', '"with": { "msisdn": "=msisdn", "more": [{ "who": "name" }] }']],
    at: '"name" }]',
    says: ['"with.more[0].who" of screen "loadTx"', '"=name"'],
  }),
  warning('missing-equals', {
    edits: [['"with": { "msisdn": "=msisdn" }', '"with": { "msisdn": "=msisdn", "who": "{{ name }}" }']],
    at: '"{{ name }}"',
    says: ['"with.who" of screen "loadTx"', 'braces', 'Write "=name"'],
  }),
  warning('missing-equals', {
    edits: [['"with": { "msisdn": "=msisdn" }', '"with": { "msisdn": "=msisdn", "who": "It\'s {{name}}." }']],
    at: '"It\'s {{name}}."',
    says: ['{{name}}', `"='It\\'s ' + name + '.'"`],
  }),
  warning('missing-equals', {
    edits: [['"with": { "msisdn": "=msisdn" }', '"with": { "msisdn": "=msisdn", "most": "round(balance / 2)" }']],
    at: '"round(balance / 2)"',
    says: ['never computed', 'Write "=round(balance / 2)"'],
  }),
  warning('missing-braces', {
    edits: [['"en": "Goodbye"', '"en": "=name"']],
    at: '=name"',
    says: ['"=name"', 'Write {{name}}'],
  }),
  warning('missing-braces', {
    edits: [['"en": "Goodbye"', '"en": "Bye, %name%"']],
    at: '%name%',
    says: ['"%name%"', 'Write {{name}}'],
  }),
  warning('missing-braces', {
    edits: [['"en": "Goodbye"', '"en": "=balance - 2"']],
    at: '=balance - 2"',
    says: ['compute nothing', '"set"'],
  }),
  error('expr', {
    edits: [['"balance >= 1"', '"=balance >= 1"']],
    at: '=balance >= 1',
    says: ['"options[1].when" of screen "home"', 'Remove the "="', '"balance >= 1"'],
  }),
  warning('single-braces', {
    edits: [['{{name}}, balance', '{name}, balance']],
    at: '{name}, balance',
    says: ['"text.en" of screen "home"', '{name}', 'Write {{name}}'],
  }),
  warning('single-braces', {
    edits: [['{{row.label|trunc:14}} ', '{row.label|trunc:14} ']],
    at: '{row.label',
    says: ['{row.label|trunc:14}', '{{row.label|trunc:14}}', '"row.label"'],
  }),
  warning('unknown-field', {
    edits: [SAMPLED, ['{{name}}, balance', '{{name}} {{auth.nmae}}, balance']],
    at: 'nmae',
    says: ['reads "nmae" of "auth"', 'the sample of "auth"', 'Did you mean "name"?', 'Write "name"'],
  }),
  warning('unknown-field', {
    edits: [SAMPLED, ['"=auth.balance"', '"=auth.total"']],
    at: 'total"',
    says: ['"done[0].set.balance" of screen "verify"', 'Write one of: ok, name, balance'],
  }),
  warning('unknown-field', {
    edits: [
      [
        '"tx": { "type": "array", "default": [] }',
        '"tx": { "type": "array", "sample": [{ "label": "A", "amount": 1 }] }',
      ],
      ['row.amount', 'row.amout'],
    ],
    at: 'amout',
    says: ['"row" of screen "history"', 'Write "amount"'],
  }),
  error('unknown-field', {
    edits: [called('address', '"save": "auth", '), ...NO_AUTH, ['"balance >= 1"', '"auth.distrct == name"']],
    at: 'distrct',
    says: ['the output of the flow "address"', 'Write "district"'],
    known: { flows: new Map([['address', address]]) },
  }),
  error('unknown-field', {
    edits: [['{{name}}, balance', '{{name.first}}, balance']],
    at: 'first}}, bal',
    says: ['reads "first" of "name"', 'a text'],
  }),
  error('unknown-field', {
    edits: [
      [
        '"fail": "sorry"\n    },\n    "hi',
        `"fail": [{ "when": "error.kind == 'x'", "to": "bye" }, { "to": "sorry" }]\n    },\n    "hi`,
      ],
    ],
    at: "kind == 'x'",
    says: ['"error" of a failed call', 'Write one of: code, message'],
  }),
  error('not-a-list', {
    edits: [
      ['"items": "tx"', '"items": "auth"'],
      ['"with": { "msisdn": "=msisdn" }', '"with": { "msisdn": "=msisdn", "seen": "=tx" }'],
    ],
    at: '"auth",\n      "row"',
    says: ['Screen "history" lists "auth"', 'an object', 'always empty'],
  }),
  error('wrong-kind', {
    edits: [['"balance >= 1"', '"msisdn >= 5"']],
    at: '>= 5',
    says: ['"msisdn" (a text) >= 5 (a number)', 'never holds', 'num(msisdn)'],
  }),
  error('wrong-kind', {
    edits: [['"balance >= 1"', `"balance == '1'"`]],
    at: "== '1'",
    says: ['"balance" (a number)', 'Write 1 without quotes'],
  }),
  error('wrong-kind', {
    edits: [['"=balance - 1"', '"=msisdn - 1"']],
    at: '- 1"',
    says: ['"msisdn" (a text)', 'fails', 'num(msisdn)'],
  }),
  error('wrong-kind', {
    edits: [['"balance >= 1"', '"not name"']],
    at: 'name",\n          "set"',
    says: ['"name" (a text)', '!= null'],
  }),
  error('wrong-kind', {
    edits: [['"balance >= 1"', '"balance"']],
    at: 'balance",\n          "set"',
    says: ['as its condition', 'balance > 0'],
  }),
  error('hidden-without-key', {
    edits: [['"id": "exit", ', '"id": "exit", "hidden": true, ']],
    at: 'true, "text"',
    says: ['Option "exit" of menu "welcome"', '"key"'],
  }),

  warning('unknown-service', {
    edits: [],
    at: '"auth.verifyPin"',
    says: ['"auth.verifyPin"', '"auth.verifyPn"'],
    known: { services: new Set(['auth.verifyPn', 'wallet.history']) },
  }),
  error('long-timeout', { edits: [['"3s"', '"90s"']], at: '"90s"', says: ['90s', '60s'] }),
  error('unknown-flow', {
    edits: [called('histori')],
    at: '"histori"',
    says: ['"histori"', '"history"'],
    known: { flows: new Map([['history', history]]) },
  }),
  error('flow-circle', { edits: [called('wallet')], at: '"wallet", "done"', says: ['wallet → wallet'], known: {} }),
  error('flow-circle', {
    edits: [called('history')],
    at: '"history", "done"',
    says: ['wallet → history → wallet'],
    known: { flows: new Map([['history', circular]]) },
  }),
  warning('never-set', {
    edits: [
      ['"auth": {', '"fee": { "type": "number" },\n    "auth": {'],
      ['{ "msisdn": "=msisdn" }', '{ "msisdn": "=msisdn", "fee": "=fee" }'],
    ],
    at: '"fee": { "type"',
    says: ['"fee" is always null', '"with.fee" of screen "loadTx"', '"save" or "set"'],
    known: { flows: new Map() },
  }),
  warning('never-set', {
    edits: [
      ['"auth": {', '"phonenumber": { "type": "string", "max": 13 },\n    "auth": {'],
      ['{ "msisdn": "=msisdn" }', '{ "msisdn": "=phonenumber" }'],
    ],
    at: '"phonenumber": { "type"',
    says: ['"phonenumber"', 'Did you mean "phoneNumber"?', 'doors fill'],
    known: { flows: new Map() },
  }),
  error('door-variable', {
    edits: [['"msisdn": { "type": "string", "max": 13 }', '"msisdn": { "type": "number" }']],
    at: '"number" },\n    "lang"',
    says: ['"msisdn"', '"string"', 'a text'],
  }),
  warning('lang-variable', {
    edits: [[`"set": { "lang": "=lang == 'en' ? 'sn' : 'en'" },\n          `, '']],
    at: '"lang": { "type"',
    says: ['every caller reads "en"', 'sn', '"set": { "lang": "sn" }'],
    known: { flows: new Map() },
  }),
  error('prints-nothing', {
    edits: [['{{name}}, balance', '{{auth}}, balance']],
    at: 'auth}}, balance',
    says: ['"auth" (an object)', 'nothing is shown', '{{auth.'],
  }),
  error('prints-nothing', {
    edits: [['{{name}}, balance', '{{tx}}, balance']],
    at: 'tx}}, balance',
    says: ['"tx" (a list)', '{{tx|count}}'],
  }),
  warning('prints-nothing', {
    edits: [['{{name}}, balance', '{{name|money}}, balance']],
    at: 'name|money}}',
    says: ['"Tariro"', '"money"', 'Write {{name}}'],
  }),
  warning('prints-nothing', {
    edits: [['{{name}}, balance', '{{balance|date:iso}}, balance']],
    at: 'balance|date:iso',
    says: ['1970', '{{balance|number}}'],
  }),
  error('wrong-kind', {
    edits: [['"balance >= 1"', '"len(balance) >= 1"']],
    at: 'len(balance)',
    says: ['gives len "balance" (a number)', 'that fails', 'str(balance)'],
  }),
  error('wrong-kind', {
    edits: [['"balance >= 1"', '"contains(name, 5)"']],
    at: 'contains(name, 5)',
    says: ['5 (a number)', 'never holds', "'5' in quotes"],
  }),
  warning('wrong-kind', {
    edits: [
      [
        '"tx": { "type": "array", "default": [] }',
        '"tx": { "type": "array", "sample": [{ "label": "A", "amount": 1 }] }',
      ],
      ['"balance >= 1"', '"name in tx"'],
    ],
    at: 'in tx',
    says: ['each item of this one is an object', 'list of plain values'],
  }),
  error('service-input', {
    edits: [['"pin": "=pin" }', '"pin": 1234 }']],
    at: '1234 }',
    says: ['1234, a number, as "pin"', 'Write it in quotes: "1234"'],
    known: { contracts: { 'auth.verifyPin': VERIFY } },
  }),
  error('service-input', {
    edits: [['"pin": "=pin" }', '"pin": "=pin", "name": "=tx" }']],
    at: '"=tx" }',
    says: ['"tx", a list, as "name"', 'Give it a text'],
    known: { contracts: { 'auth.verifyPin': VERIFY } },
  }),
];
