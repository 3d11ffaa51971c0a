// /docs/expressions: values, operators, functions, filters, and the names that have a value by themselves.

import type { Arguments, Described } from '../../../lib/flow/expression/described.ts';
import { FILTERS } from '../../../lib/flow/expression/filters.ts';
import { FUNCTIONS } from '../../../lib/flow/expression/functions.ts';
import {
  BINARY_OPERATORS,
  type Operator,
  OTHER_OPERATORS,
  WRITTEN_VALUES,
} from '../../../lib/flow/expression/operators.ts';
import { DOOR_VARIABLES, LOCAL_NAMES } from '../../../lib/flow/format/names.ts';
import { FLOW_SCHEMA } from '../../../lib/flow/format/schema.ts';
import { FLOW_LIMITS } from '../../../lib/flow/limits.ts';
import { html, type Markup } from '../../../lib/markup.ts';
import { exampleLines, formatCode } from './code.ts';
import { once, type Reference, type ReferenceEntry, type Section } from './frame.ts';

export const expressions: Reference = {
  path: '/docs/expressions',
  title: 'Expressions and filters',
  about: 'conditions, values that are computed, and what texts put in',
  lead: html`<p class="lead">An expression computes a value from the variables of a flow; a text prints variables, through filters.</p>
<p>Expressions are the whole text of <code>when</code> and <code>items</code>, and what follows a <code>=</code> at the beginning of
a text in <code>set</code>, <code>with</code> and <code>output</code>: <code>"bags": "=bags + 1"</code>. Texts of screens hold
<code>{{name}}</code> or <code>{{amount|money}}</code> instead: a path and its filters, and no expression.</p>
<p>Nothing is converted by itself, and what is missing is null. What cannot be computed, such as <code>1 + 'a'</code>, is an error;
<code>lint</code> finds most of them. An expression has at most ${FLOW_LIMITS.expressionChars} characters.</p>`,
  sections: once(listSections),
};

function listSections(): Section[] {
  const operators = Object.entries<Operator>({ ...BINARY_OPERATORS, ...OTHER_OPERATORS });
  return [
    section('values', 'Values', tableEntries('value', WRITTEN_VALUES)),
    {
      ...section(
        'operators',
        'Operators',
        operators.sort(([, a], [, b]) => b.level - a.level).map(([sign, one]) => entry(operatorId(sign), sign, one)),
      ),
      lead: html`<p>Higher levels bind first: <code>2 + 3 * 4</code> is 14. The same level goes from left to right. Parentheses come before all.</p>`,
    },
    section('functions', 'Functions', tableEntries('function', FUNCTIONS)),
    {
      ...section('filters', 'Filters', tableEntries('filter', FILTERS)),
      lead: html`<p>Behind a path in a text, one after the other: <code>{{name|trunc:12|upper}}</code>. An argument stands behind a
colon, in quotes where it holds <code>:</code>, <code>|</code> or braces. What a filter cannot read prints as nothing.
<code>\\{{</code> prints two braces.</p>`,
    },
    namesSection(),
  ];
}

const section = (id: string, title: string, entries: readonly ReferenceEntry[]): Section => {
  return { id, title, groups: [{ entries }], isListed: true };
};

type DescribedName = Described & { readonly args?: Arguments; readonly level?: number };

const tableEntries = (kind: string, table: { readonly [name: string]: DescribedName }) =>
  Object.entries(table).map(([name, one]) => entry(`${kind}-${name}`, name, one));

function entry(id: string, short: string, { usage, doc, examples, args = {}, level }: DescribedName): ReferenceEntry {
  const body = html`<p>${formatCode(doc)}</p>${argumentList(args)}${exampleLines(examples)}`;
  return { id, name: usage, short, body, ...(level !== undefined && { note: `level ${level}` }) };
}

const SIGN_NAMES: { readonly [sign: string]: string } = {
  '==': 'same',
  '!=': 'other',
  '<': 'less',
  '<=': 'at-most',
  '>': 'more',
  '>=': 'at-least',
  '+': 'plus',
  '-': 'difference',
  '*': 'times',
  '/': 'divided',
  '%': 'rest',
  '? :': 'choice',
};

// Signs are no good anchors.
const operatorId = (sign: string) => `operator-${SIGN_NAMES[sign] ?? sign.replace(' ', '-')}`;

function argumentList(args: Arguments): Markup | false {
  const names = Object.keys(args);
  return (
    names.length > 0 &&
    html`<dl class="args">${names.map((name) => html`<dt><code>${name}</code></dt><dd>${formatCode(args[name]!)}</dd>`)}</dl>`
  );
}

const DOORS = { phone: 'A dialled flow', chat: 'A flow that answers chats' } as const;

function namesSection(): Section {
  const doors = (Object.keys(DOORS) as (keyof typeof DOORS)[]).map((door) => ({
    title: `${DOORS[door]} knows`,
    entries: Object.entries(DOOR_VARIABLES[door]).map(
      ([name, { about, example }]): ReferenceEntry => ({
        id: `name-${door}-${name}`,
        name,
        body: html`<p>${about} Such as <code>${example}</code>.</p>`,
      }),
    ),
  }));
  const local = Object.entries(LOCAL_NAMES).map(
    ([name, { screen, about }]): ReferenceEntry => ({
      id: `name-${name}`,
      name,
      note: html`on <a href="/docs/flow-format#screen-${screen}">${screen}</a> screens`,
      body: html`<p>${formatCode(about)}</p>`,
    }),
  );
  const lang: ReferenceEntry = {
    id: 'name-lang',
    name: 'lang',
    note: html`with <a href="/docs/flow-format#flow-langs">langs</a>`,
    body: html`<p>${formatCode(FLOW_SCHEMA.properties!.langs!.description!)} A called flow that declares it gets that of its caller.</p>`,
  };
  return {
    id: 'names',
    title: 'Names that have a value by themselves',
    lead: html`<p>What a door knows of the caller goes into the <a href="/docs/flow-format#flow-vars">variables</a> of these names, where a flow declares
them: <code>"phoneNumber": { "type": "string" }</code>.</p>`,
    groups: [...doors, { title: 'In some places', entries: [...local, lang] }],
    isListed: true,
  };
}
