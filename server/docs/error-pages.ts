// The pages of errors below /docs: every error with its cause and what to do.

import { RESOLUTION_ERRORS, type ResolutionCode } from '../../lib/domain/did/resolution-options.ts';
import { PROBLEMS, type Reason } from '../../lib/domain/problems.ts';
import { ERROR_CODES, type ErrorCode } from '../../lib/errors.ts';
import { capitalize } from '../../lib/flow/format/problem.ts';
import { html, type Markup } from '../../lib/markup.ts';
import { REASON_STATUS, REFUSAL_OF, REFUSALS, RESOLUTION_STATUS, type RefusalKind } from '../http/errors.ts';
import type { PageContent } from '../web/kit/frame.ts';
import { type Advice, CODE_ADVICE, PROBLEM_ADVICE } from './error-advice.ts';
import type { DocsPage } from './guides.ts';
import { formatCode } from './reference/code.ts';
import { type ReferenceEntry, referencePage, type Section } from './reference/frame.ts';

export interface ErrorEntry extends Advice {
  /** The anchor, too. */
  readonly name: string;
  readonly note: string;
  readonly meaning: string;
}

/** Every problem type, by status. */
function problemEntries(): ErrorEntry[] {
  const names = Object.keys(PROBLEM_ADVICE) as (Reason | RefusalKind)[];
  const entries = names.map((name) => {
    const isReason = name in PROBLEMS;
    const status = isReason ? REASON_STATUS[name as Reason] : REFUSALS[name as RefusalKind].status;
    const title = isReason ? PROBLEMS[name as Reason].title : REFUSALS[name as RefusalKind].words;
    return { status, entry: { name, note: `HTTP ${status}`, meaning: `${title}.`, ...PROBLEM_ADVICE[name] } };
  });
  return entries.sort((a, b) => a.status - b.status).map(({ entry }) => entry);
}

/** Every error code, in the order of its table. */
function codeEntries(): ErrorEntry[] {
  return (Object.keys(ERROR_CODES) as ErrorCode[]).map((name) => {
    const { means, retry } = ERROR_CODES[name];
    const { status } = REFUSALS[REFUSAL_OF[name]];
    const again = retry ? 'trying again can help' : 'trying again does not help';
    return { name, note: `HTTP ${status} · ${again}`, meaning: `${capitalize(means)}.`, ...CODE_ADVICE[name] };
  });
}

export function errorsPage(): PageContent {
  return referencePage(
    {
      path: '/docs/errors',
      title: 'Errors',
      about: 'every error, its cause and what to do',
      lead: html`<p class="lead">What can go wrong, why, and what to do. The <code>type</code> of a problem document leads here;
<code>code</code> of the other answers is the same word. All routes are in <a href="/docs">the documentation</a>.</p>`,
      sections: () => [
        section('problem-types', 'Problem types', problemEntries()),
        {
          ...section('error-codes', 'Error codes', codeEntries()),
          lead: html`<p class="lead">Codes of <code>TwinlineError</code>, in logs and for those who use the library.</p>`,
        },
        {
          id: 'did-resolution',
          title: 'Errors of DID resolution',
          lead: html`<p class="lead">In results of /1.0/identifiers, under the names that the standard gives them.</p>`,
          isListed: true,
          groups: [{ entries: resolutionEntries() }],
        },
      ],
    },
    [],
  );
}

const section = (id: string, title: string, entries: readonly ErrorEntry[]): Section => ({
  ...{ id, title, isListed: true },
  groups: [
    { entries: entries.map((entry) => ({ id: entry.name, name: entry.name, note: entry.note, body: facts(entry) })) },
  ],
});

function resolutionEntries(): ReferenceEntry[] {
  return Object.entries(RESOLUTION_ERRORS).map(([name, { title }]) => ({
    ...{ id: name, name, note: `HTTP ${RESOLUTION_STATUS[name as ResolutionCode]}` },
    body: html`<p>${title}.</p>`,
  }));
}

/** Every problem type and error code. */
export function errorEntries(): readonly ErrorEntry[] {
  return [...problemEntries(), ...codeEntries()];
}

/** The page of one problem type or error code; undefined when there is none of this name. */
export function errorPage(name: string): DocsPage | undefined {
  const entry = errorEntries().find((one) => one.name === name);
  if (!entry) return undefined;
  return {
    title: `${name} · Twinline`,
    body: html`<section class="card">${errorEntry(entry)}<p class="lead">One of all <a href="/docs/errors">errors</a>.</p></section>`,
  };
}

function errorEntry(entry: ErrorEntry): Markup {
  const { name, note } = entry;
  return html`<article class="entry" id="${name}"><h3 class="named"><a href="#${name}">${name}</a> <small>${note}</small></h3>
${facts(entry)}</article>
`;
}

function facts({ meaning, cause, remedy }: ErrorEntry): Markup {
  return html`<dl class="facts"><dt>Meaning</dt><dd>${formatCode(meaning)}</dd><dt>Cause</dt><dd>${formatCode(cause)}</dd><dt>What to do</dt><dd>${formatCode(
    remedy,
  )}</dd></dl>`;
}
