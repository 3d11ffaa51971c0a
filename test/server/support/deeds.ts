// What operators and voters do that the audit log tells of, each kind of it, and the book of it: of every deed there are at least as
// many entries as were acknowledged, and at most as many as were begun.

import { readFileSync } from 'node:fs';
import { pinVault } from '../../../lib/account/pin.ts';
import type { JsonObject } from '../../../lib/json/json.ts';
import { parseKeyring } from '../../../lib/keyring.ts';
import type { AuditEntry } from '../../../server/audit/audit.ts';
import { type Ask, COOKING, created, path, view, YES } from '../domain/place.ts';
import type { Answer, Served } from './serve.ts';

/** Action → what tells its deeds apart, in the details of an entry. */
const KEYS = {
  'account.unlock': ({ phone }) => phone,
  'credits.added': ({ did }) => did,
  'credits.issued': ({ amount }) => amount,
  'menus.edited': ({ flow }) => flow,
  'proposal.executed': ({ proposal }) => proposal,
  'proposal.vetoed': ({ proposal }) => proposal,
  'records.export': () => '',
  'records.importing': () => '',
  'session.ended': ({ session }) => session,
  'session.private': ({ session }) => session,
} satisfies { readonly [action: string]: (details: JsonObject) => unknown };
export type Deed = keyof typeof KEYS;

export type Book = ReturnType<typeof newBook>;

export function newBook() {
  const begun = new Map<string, number>();
  const acknowledged = new Map<string, number>();
  const add = (counts: Map<string, number>, deed: Deed, key: string) =>
    counts.set(`${deed} ${key}`, (counts.get(`${deed} ${key}`) ?? 0) + 1);
  return {
    begin: (deed: Deed, key = '') => add(begun, deed, key),
    acknowledge: (deed: Deed, key = '') => add(acknowledged, deed, key),
    /** Begins a deed and does it; one that fails was begun only. */
    async note(deed: Deed, key: string, work: () => Promise<Answer>): Promise<void> {
      add(begun, deed, key);
      const answer = await work().catch(() => undefined);
      if (answer && answer.status < 300) add(acknowledged, deed, key);
    },
    /** How many deeds of which kind were acknowledged. */
    counts: (): Readonly<Record<string, number>> => {
      const counts: Record<string, number> = Object.fromEntries(Object.keys(KEYS).map((deed) => [deed, 0]));
      for (const [name, count] of acknowledged) counts[name.split(' ')[0]!]! += count;
      return counts;
    },
    /** What is wrong with these entries; empty when nothing. */
    check(entries: readonly AuditEntry[]): string[] {
      const noted = new Map<string, number>();
      for (const { action, details } of entries)
        if (Object.hasOwn(KEYS, action)) add(noted, action as Deed, String(KEYS[action as Deed](details)));
      return [...new Set([...begun.keys(), ...noted.keys()])].flatMap((name) => {
        const [least, count, most] = [acknowledged, noted, begun].map((counts) => counts.get(name) ?? 0) as Triple;
        return least <= count && count <= most ? [] : [`${name}: ${least} acknowledged, ${count} noted, ${most} begun`];
      });
    },
  };
}
type Triple = [number, number, number];

export interface DeedPlace {
  readonly ask: Ask;
  /** Without a key, as from the machine of the server, where operators need none in development. */
  readonly plain: Served['ask'];
  readonly url: () => string;
  readonly book: Book;
  readonly pinKeys: string;
}

/** A vote that one ballot decides, and one that can be stopped, on domains of their own. */
export async function openVotes({
  ask,
}: Pick<DeedPlace, 'ask'>): Promise<{ did: string; decisive: string; stoppable: string }> {
  const open = async () => {
    const { did } = created(await ask('owner', 'POST /v1/domains', { type: 'Project', class: COOKING }));
    const { id } = created(await ask('rep', `POST ${path(did)}/proposals`, { kind: 'verify' }));
    created(await ask('ann', `POST /v1/proposals/${id}/votes`, YES));
    return { did, id };
  };
  const [{ did, id: decisive }, { id: stoppable }] = await Promise.all([open(), open()]);
  return { did, decisive, stoppable };
}

/** Notes of each vote that it was executed, when it was. */
export async function readOutcomes({ ask, book }: DeedPlace, proposals: readonly string[]): Promise<void> {
  for (const id of proposals)
    if (view(await ask('rep', `GET /v1/proposals/${id}`)).status === 'executed')
      book.acknowledge('proposal.executed', id);
}

/** One of each kind at the same time; `did` is verified, and `n` was not used before. */
export function doDeeds(
  { ask, plain, url, book, pinKeys }: DeedPlace,
  { did, decisive, stoppable, n }: { did: string; decisive: string; stoppable: string; n: number },
): Promise<unknown> {
  const phone = `+26097${String(n).padStart(7, '0')}`;
  const alias = pinVault({ keyring: parseKeyring(pinKeys) }).alias(phone);
  const send = (where: string, body: unknown, method = 'POST') =>
    plain(where, {
      method,
      headers: { 'content-type': 'application/json', origin: url() },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const record = importedLine(n);
  book.begin('proposal.executed', decisive);
  return Promise.all([
    ask('bob', `POST /v1/proposals/${decisive}/votes`, YES).catch(() => {}),
    book.note('proposal.vetoed', stoppable, () => ask('operator', `POST /v1/proposals/${stoppable}/veto`, {})),
    book.note('credits.issued', String(n), () => ask('issuer', `POST ${path(did)}/credits`, { amount: String(n) })),
    book.note('account.unlock', alias, () => send('/api/ussd/accounts/unlock', { phoneNumber: phone })),
    book.note('credits.added', `did:key:z${n}`, () => send(`/credits/did:key:z${n}`, { amount: 1 })),
    book.note('records.export', '', () => ask('operator', 'GET /v1/export')),
    book.note('records.importing', '', async () => {
      const answer = await ask('operator', 'POST /v1/bulk', record, { 'content-type': 'application/x-ndjson' });
      return { ...answer, status: (answer.json() as { status: number }).status };
    }),
    doSessionDeeds({ plain, send, book }, { sessionId: `deed-${n}`, phone }).catch(() => {}),
  ]);
}

/** A flow is begun in the studio; apart from the others, for each is compiled by every instance that serves its folder. */
export function beginFlow({ plain, url, book }: DeedPlace, flow: string): Promise<void> {
  const headers = { 'content-type': 'application/json', origin: url() };
  const body = JSON.stringify({ flow, starter: 'menu' });
  return book.note('menus.edited', flow, () => plain('/studio/new', { method: 'POST', headers, body }));
}

interface SessionDeeds extends Pick<DeedPlace, 'plain' | 'book'> {
  readonly send: (where: string, body: unknown, method?: string) => Promise<Answer>;
}

// A call whose private value is shown, where its menu has one, before it is ended.
async function doSessionDeeds(
  { send, book }: SessionDeeds,
  { sessionId, phone }: { sessionId: string; phone: string },
) {
  for (const text of ['', '884213'])
    await send('/api/ussd', { sessionId, phoneNumber: phone, serviceCode: '*2233#', text });
  const { sessions } = (await send('/inspector/callers', { number: phone })).json() as {
    sessions: readonly { sessionId: string }[];
  };
  for (const { sessionId: actor } of sessions) {
    // Of a menu without private values nothing is shown, and nothing noted.
    await book.note('session.private', sessionId, async () => {
      const answer = await send(`/inspector/sessions/${actor}/private`, undefined);
      return answer.text.includes('{}') ? { ...answer, status: 404 } : answer;
    });
    await book.note('session.ended', sessionId, () => send(`/inspector/sessions/${actor}`, undefined, 'DELETE'));
  }
}

/** A verified domain of another server, as an export has it: nobody has voted on it here. */
export function importedLine(n: number): string {
  const did = `did:ixo:entity:${n.toString(16).padStart(32, '0')}`;
  return `${JSON.stringify({ ...EXPORTED, id: did, did, body: { ...EXPORTED.body, did } })}\n`;
}
const EXPORTED = JSON.parse(
  readFileSync(new URL('../../fixtures/domain/verified-elsewhere.json', import.meta.url), 'utf8'),
);
