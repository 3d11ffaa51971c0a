// The parsers that read bytes of strangers, for packets at random: tokens, flows, templates, expressions, filters, replies of nodes
// and frames of HTTP/2. Each may refuse with an error of Twinline, whose words hold no value of a caller.

import { readFileSync } from 'node:fs';
import { fromJson, toBinary } from '@bufbuild/protobuf';
import { tokenGuard } from '../../lib/delegation/index.ts';
import { TwinlineError } from '../../lib/errors.ts';
import { FILTERS } from '../../lib/flow/expression/filters.ts';
import { compileExpression, compileFlow, compileTemplate, lintFlow, parseFlow } from '../../lib/flow/index.ts';
import { createJsonWriters, readDescriptorSet } from '../../lib/gateway/index.ts';
import type { Json } from '../../lib/json/json.ts';
import { alice, clockAt, everything, IDENTITY, oracle, talk, text } from '../delegation/tokens.ts';
import { hear, LAST } from '../gateway/heard.ts';
import { answer, messageOf, rawFrame } from '../gateway/raw-node.ts';
import { SET } from '../server/gateway/node.ts';
import type { Reader } from './packets.ts';

/** A value of a caller: in no error. */
const SECRET = 'secret-80593746';
const SCOPE = { pin: SECRET, name: 'Ann', tx: [{ label: 'a', amount: 12.5 }], n: 7, yes: true, none: null };
const LANGUAGES = ['en', 'sw', 'x-none', ''];

/** Runs it; an error of Twinline is an outcome, and any other, or one that tells the secret, is thrown. */
function outcomeOf(work: () => string | undefined): string {
  try {
    return work() ?? 'read';
  } catch (error) {
    if (!(error instanceof TwinlineError)) throw error;
    if (error.message.includes(SECRET)) throw new Error('the secret is in an error');
    return error.code;
  }
}

const textOf = (packet: Buffer) => packet.toString('utf8');
const bytesOf = (texts: readonly string[]) => texts.map((one) => Buffer.from(one));

const EXPRESSIONS = [
  "pin == '1234' and n > 3 or not yes",
  'length(tx) > 0 ? tx[0].amount * 2 : none',
  "name in ['Ann', 'Bob'] and tx[0].label != ''",
  '-(n + 1) % 3 / (2 - n) >= 1.5',
];
const TEMPLATES = [
  "Hello {{name}}, {{tx[0].amount | number: 2 | default: 'none'}}",
  '\\{{x}} {{ pin | mask }} {{n|plural}}',
];
const WORDS = [
  '(',
  ')',
  '[',
  ']',
  '.',
  '{{',
  '}}',
  '|',
  ':',
  "'",
  '\\',
  'not ',
  ' and ',
  '__proto__',
  'constructor',
  '1e309',
  '-',
];

/** Each filter as its examples use it, on a variable of ours. */
const FILTERED = Object.values(FILTERS).flatMap(({ examples }) =>
  examples.map(([source]) => compileTemplate(`{{v${/\|.*\}\}/s.exec(source)?.[0] ?? '}}'}`)),
);

const { registry } = readDescriptorSet(SET);
const found = registry.getMessage('grove.Found')!;
const writers = (['cosmos', 'proto3'] as const).map((form) => createJsonWriters({ registry, form }).findWriter(found));
const reply = fromJson(
  found,
  {
    tree: {
      id: 't',
      rings: '5',
      planted: '2026-01-02T03:04:05Z',
      birds: ['a', 'b'],
      parent: { id: 'p' },
      seed: 'AAAA',
    },
    trees: [{ id: 'x' }, {}],
    text: 'fine',
    counts: { a: 1, b: 2 },
    extra: { '@type': 'type.googleapis.com/grove.Tree', id: 'e' },
  },
  { registry },
);
const guard = tokenGuard({ audience: oracle.did(), clock: clockAt(), accepted: { resource: 'root' } });
const tokens = [await text(), await text({ capabilities: [everything(alice), IDENTITY, talk(alice)], nonce: 'n' })];

export const READERS: Readonly<Record<string, Reader>> = {
  CAR: {
    seeds: tokens.map((token) => Buffer.from(token, 'base64')),
    pieces: ['\u0001', '\ud83d', 'att', 'prf', 'ucan/*', '\u00ff\u00ff'],
    mostMs: 50,
    async read(packet) {
      const token = packet.toString('base64');
      const result = await guard.checkDelegation(token);
      return result.ok ? 'passed' : result.reason;
    },
  },
  'flow JSON': {
    seeds: ['wallet', 'main'].map((name) => readFileSync(new URL(`../../menus/${name}.flow.json`, import.meta.url))),
    pieces: ['"__proto__":', '{', '[', '"screens":{', '"type":"menu",', 'null', '1e999', '"{{', '\\u0000', '"go":"a"'],
    cost: 10,
    mostMs: 1_000,
    read: (packet) =>
      outcomeOf(() => {
        const { flow, source, problems } = parseFlow(textOf(packet), 'any.flow.json');
        if (!flow) return problems[0]!.code;
        const all = [...problems, ...lintFlow(flow, { source })];
        const error = all.find(({ severity }) => severity === 'error');
        if (!error) compileFlow(flow);
        return error?.code;
      }),
  },
  template: {
    seeds: bytesOf(TEMPLATES),
    pieces: [...WORDS, ...Object.keys(FILTERS)],
    mostMs: 50,
    read: (packet) =>
      outcomeOf(() => {
        const template = compileTemplate(textOf(packet));
        for (const lang of LANGUAGES) template.render(SCOPE, lang);
        return undefined;
      }),
  },
  expression: {
    seeds: bytesOf(EXPRESSIONS),
    pieces: WORDS,
    mostMs: 50,
    read: (packet) => outcomeOf(() => typeof compileExpression(textOf(packet)).evaluate(SCOPE)),
  },
  filter: {
    seeds: bytesOf(['"2026-02-29"', '12.5', '["a",[1],{"b":null}]', '"+260971230001"', '-0', '"ä😀 "', '1e21']),
    pieces: ['9', '-', 'e', '.', ':', 'T', 'Z', '[', '"', '\\ud800', '\\u0000'],
    mostMs: 50,
    read(packet) {
      let value: unknown;
      try {
        value = JSON.parse(textOf(packet));
      } catch {
        value = textOf(packet);
      }
      for (const template of FILTERED) for (const lang of LANGUAGES) template.render({ v: value as Json }, lang);
      return typeof value;
    },
  },
  'protobuf reply': {
    seeds: [Buffer.from(toBinary(found, reply))],
    pieces: ['\u0000', '\u0001', '\b\u0001', '\u0012\u0000', '\u001a\u0002xx', '*\u0000', '\u000b', '\f'],
    mostMs: 50,
    read: (packet) => writers.map((write) => outcomeOf(() => typeof JSON.parse(write(packet).toString('utf8')))).join(),
  },
  'HTTP/2 frames': {
    seeds: [
      Buffer.concat([answer(1), answer(3)]),
      Buffer.concat([
        rawFrame(4, 0, 0, Buffer.from([0, 4, 0, 0, 255, 255])),
        rawFrame(0, 1, 5, messageOf(Buffer.from('x'))),
      ]),
    ],
    pieces: ['\u0000\u0000\u0004', '\u0001\u0004', '\u0000\u0000\u0000\u0001', '\u0008', '\u0009', '\u0007'],
    cost: 3,
    mostMs: 200,
    async read(packet) {
      const { told } = await hear([packet]);
      for (const events of told)
        if (events.filter((event) => LAST.test(event)).length !== 1 || !LAST.test(events.at(-1)!))
          throw new Error(`a stream ends not once: ${events.join(', ')}`);
      return told.map((events) => events.at(-1)!.split(' ')[0]).join();
    },
  },
};
