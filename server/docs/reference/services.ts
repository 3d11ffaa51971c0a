// /docs/services: what the services that come with Twinline take and answer, and what `error` holds when a call fails.

import { CALL_ERRORS } from '../../../lib/engine/calls.ts';
import { ERROR_CODES, type ErrorCode } from '../../../lib/errors.ts';
import { capitalize } from '../../../lib/flow/format/problem.ts';
import { FLOW_SCHEMA } from '../../../lib/flow/format/schema.ts';
import { FAILURE_FIELDS } from '../../../lib/flow/lint/shapes.ts';
import { html, type Markup } from '../../../lib/markup.ts';
import { CONTRACTS } from '../../menus/contracts.ts';
import type { DocumentedService, ServiceExample } from '../../menus/http-contracts.ts';
import { formatCode, jsonBlock, keyBlock } from './code.ts';
import { once, type Reference, type ReferenceEntry, type Section } from './frame.ts';

export const services: Reference = {
  path: '/docs/services',
  title: 'Services',
  about: 'what each built-in service takes and answers, and what error holds',
  lead: html`<p class="lead">A <a href="/docs/flow-format#screen-call">call screen</a> asks a service: <code>with</code> is what it
gets, <code>save</code> keeps its answer, and <code>done</code> or <code>fail</code> says where to go on.</p>
<p>These come with Twinline. A rule that says no, such as a wrong PIN, is an answer with <code>ok</code> false and goes on by
<code>done</code>; <code>fail</code> is for calls that cannot be answered. For services of your own see
<a href="/docs/guides/menus#calling-a-service">Writing menus</a>; <a href="/docs/test-files#answer">tests</a> play all of them.</p>`,
  sections: once(() => [
    ...Object.entries(CONTRACTS).map(([name, contract]) => serviceSection(name, contract)),
    errorSection(),
  ]),
};

function serviceSection(name: string, { doc, input, answer, errors, examples }: DocumentedService): Section {
  const id = name.replace('.', '-');
  const field = (part: string, key: string, note: Markup | string | undefined, about: string): ReferenceEntry => {
    return {
      id: `${id}-${part}-${key}`,
      name: key,
      ...(note !== undefined && { note }),
      body: html`<p>${formatCode(`${capitalize(about)}.`)}</p>`,
    };
  };
  return {
    id,
    title: name,
    lead: html`<p>${formatCode(doc)}</p>`,
    groups: [
      {
        title: 'with',
        entries: Object.entries(input).map(([key, { kind, about, required }]) =>
          field('with', key, html`${required && html`<b>required</b> · `}${KINDS[kind]}`, about),
        ),
      },
      {
        title: 'The answer',
        entries: Object.entries(answer).map(([key, { kind, about }]) => field('answer', key, KINDS[kind], about)),
      },
      {
        title: 'It fails with',
        entries: Object.entries(errors).map(([code, about]) => field('error', code, undefined, about)),
      },
      { title: 'Examples', entries: examples.map((one, at) => exampleEntry(`${id}-example-${at + 1}`, one)) },
    ],
  };
}

const KINDS = {
  text: 'text',
  number: 'number',
  boolean: 'true or false',
  list: 'list',
  object: 'object',
  any: 'any value',
};

function exampleEntry(id: string, { title, with: input, http, gives }: ServiceExample): ReferenceEntry {
  const outcome =
    'answer' in gives ? jsonBlock(gives.answer) : html`<p><code>fail</code>, with <code>${gives.fails}</code></p>`;
  const exchange =
    http &&
    html`<p class="at">The other side gets <code>${http.request}</code> and answers ${http.status}${http.answer !== null && html` <code>${JSON.stringify(http.answer)}</code>`}.</p>`;
  return {
    id,
    name: title,
    isPlain: true,
    body: html`${keyBlock('with', input)}${exchange}<p class="at">gives</p>${outcome}`,
  };
}

function errorSection(): Section {
  const [, example] = FLOW_SCHEMA.definitions!.call!.properties!.fail!.examples ?? [];
  const fields = Object.entries(FAILURE_FIELDS).map(
    ([name, { about }]): ReferenceEntry => ({
      id: `error-${name}`,
      name: `error.${name}`,
      note: 'text',
      body: html`<p>${about}</p>`,
    }),
  );
  const codes = Object.entries(CALL_ERRORS).map(
    ([code, about]): ReferenceEntry => ({
      id: `error-${code}`,
      name: code,
      note: ERROR_CODES[code as ErrorCode].retry
        ? html`tried again, up to <code>retry</code> times`
        : 'not tried again',
      body: html`<p>${formatCode(`${capitalize(about)}.`)} <a href="/docs/errors#${code}">More</a></p>`,
    }),
  );
  return {
    id: 'error',
    title: 'error: why a call has failed',
    lead: html`<p>The <code>when</code> and <code>set</code> of <code>fail</code> have <code>error</code> in reach:</p>${keyBlock('fail', example)}`,
    groups: [{ entries: fields }, { title: 'Codes that a call of any service may fail with', entries: codes }],
  };
}
