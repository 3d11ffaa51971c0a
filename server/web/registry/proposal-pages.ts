// Pages of proposals over HTTP: for API keys that accept HTML, and for browsers with a signed link. Links are not stored;
// the signature says what they open.

import { timingSafeEqual } from 'node:crypto';
import Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import type { Clock } from '../../../lib/clock.ts';
import { COMMON_LIMITS } from '../../../lib/common-limits.ts';
import type { Caller } from '../../../lib/domain/caller.ts';
import { findDomain } from '../../../lib/domain/find.ts';
import { PROPOSAL } from '../../../lib/domain/kinds.ts';
import type { Domain } from '../../../lib/domain/twin/record.ts';
import type { VerificationService } from '../../../lib/domain/verification.ts';
import { type Proposal, proposalView, type StoredProposal } from '../../../lib/domain/voting/proposal.ts';
import { hmacSha256, type Keyring } from '../../../lib/keyring.ts';
import { html } from '../../../lib/markup.ts';
import type { DocumentStore } from '../../../lib/store/store.ts';
import { localUrl } from '../../http/listen.ts';
import { messagePage, type PageContent, prefersHtml, sendPage } from '../kit/frame.ts';
import { PAGE_LIMITS } from '../limits.ts';
import { proposalCards, proposalTitle, type ShownBallot, type ShownProposal } from './proposal-view.ts';

export interface ProposalPages {
  /** Answers with the page of a proposal that the caller may read. */
  show(ctx: Context, proposal: Proposal, view: PageView): Promise<void>;
  /** A link to the page, as `page-link` answers. */
  link(proposal: Proposal, view: PageView): { url: string; expiresAt: string; rationales: boolean };
  /** Handles requests of browsers, which have a pass and no key; calls the next handler for others. */
  readonly browsers: Middleware;
}

export interface ProposalPageOptions {
  readonly documents: DocumentStore;
  readonly verification: VerificationService;
  readonly keyring: Keyring;
  readonly clock: Clock;
  /** Base URL of this server without a trailing slash. @default links are paths */
  readonly publicUrl: string | undefined;
}

export function proposalPages(options: ProposalPageOptions): ProposalPages {
  const { documents, verification, keyring, clock, publicUrl = '' } = options;
  const passes = pagePasses({ keyring, clock });

  const show: ProposalPages['show'] = async (ctx, proposal, { rationales }) => {
    const { tenant, subject } = proposal.body;
    const domain = await findDomain(documents, tenant, subject);
    const reasons = rationales ? await readRationales(proposal) : undefined;
    ctx.set('Cache-Control', 'private, no-store');
    await sendPage(ctx, proposalPage({ proposal, domain, reasons, now: clock.now() }));
  };

  async function readRationales({ id, body, context }: Proposal): Promise<Map<string, string>> {
    const query = { id, limit: COMMON_LIMITS.pageSizeMax };
    const { items } = await verification.votes(tenantReader(body.tenant), query);
    const last = new Map(context.voters.map(({ did, at }) => [did, at]));
    // Of a voter who voted twice, only the reason for the ballot that counts.
    const counting = items.filter(({ voter, at }) => Date.parse(at) === last.get(voter));
    return new Map(
      counting.flatMap(({ voter, rationale }) => (typeof rationale === 'string' ? [[voter, rationale]] : [])),
    );
  }

  async function showByPass(ctx: Context, id: string, pass: unknown): Promise<void> {
    ctx.set('Cache-Control', 'private, no-store');
    const reading = typeof pass === 'string' ? passes.read(id, pass) : ({ kind: 'wrong' } as const);
    if (reading.kind !== 'valid') return sendRefusal(ctx, reading.kind);
    const stored = await documents.get<StoredProposal>(PROPOSAL, id);
    if (!stored) return sendRefusal(ctx, 'wrong');
    await show(ctx, await verification.get(tenantReader(stored.body.tenant), id), reading);
  }

  const router = new Router({ sensitive: true, strict: true });
  router.get('/v1/proposals/:id', (ctx, next) => {
    const { pass } = ctx.query;
    if (pass !== undefined) return showByPass(ctx, ctx.params.id!, pass);
    if (ctx.get('authorization') !== '' || !prefersHtml(ctx)) return next();
    const id = ctx.params.id!;
    // The refusal shows a command that contains the id.
    if (!ID.test(id)) return sendRefusal(ctx, 'wrong');
    return sendRefusal(ctx, 'none', `${publicUrl || localUrl(ctx.req.socket)}/v1/proposals/${id}`);
  });

  return {
    show,
    link({ id }, view) {
      const { pass, expiresAt } = passes.issue(id, view);
      const url = `${publicUrl}/v1/proposals/${id}?pass=${pass}`;
      return { url, expiresAt: new Date(expiresAt).toISOString(), ...view };
    },
    browsers: router.routes() as Middleware,
  };
}

interface PageFacts {
  readonly proposal: Proposal;
  readonly domain: Domain | undefined;
  /** By voter. @default the page shows none */
  readonly reasons: ReadonlyMap<string, string> | undefined;
  readonly now: number;
}

function proposalPage({ proposal, domain, reasons, now }: PageFacts): PageContent {
  const { voters } = proposal.context;
  const name = domain?.body.metadata.name;
  const shown: ShownProposal = {
    proposal: proposalView(proposal),
    domain: domain && { type: domain.body.type, name: typeof name === 'string' && name.trim() ? name : undefined },
    ballots: voters
      .flatMap(({ did, power, vote, at = 0 }): ShownBallot[] =>
        vote ? [{ voter: did, power, vote, at: new Date(at).toISOString(), rationale: reasons?.get(did) }] : [],
      )
      .sort((a, b) => Date.parse(b.at) - Date.parse(a.at)),
    silent: voters.flatMap(({ did, power, vote }) => (vote ? [] : [{ voter: did, power }])),
    now,
  };
  return {
    title: `${proposalTitle(shown)} · Proposal`,
    script: 'header.js',
    style: 'registry.css',
    body: proposalCards(shown),
  };
}

/** Valid ids of proposals. */
const ID = /^[\w-]{1,100}$/;

const TITLES = {
  none: 'This page opens by a link',
  expired: 'This link has expired',
  wrong: 'This link is not valid',
} as const;

async function sendRefusal(ctx: Context, why: keyof typeof TITLES, url = ''): Promise<void> {
  ctx.status = 401;
  ctx.set('WWW-Authenticate', 'Bearer realm="twinline"');
  ctx.set('Cache-Control', 'private, no-store');
  const words = {
    none: html`<p>With an API key you can make a link, valid for an hour:</p>
<p><code>curl -H "Authorization: Bearer $KEY" ${url}/page-link</code></p>`,
    expired: html`<p>Links are valid for an hour. Ask for a new one.</p>`,
    wrong: html`<p>The link is damaged or belongs to another page. Open it exactly as it was sent.</p>`,
  };
  await sendPage(ctx, messagePage(TITLES[why], words[why]));
}

// A pass grants the read access of the tenant, and no roles.
function tenantReader(tenant: string): Caller {
  return { principal: 'did:ixo:reader', roles: new Set(), tenant };
}

/** What a pass shows of a proposal. */
export interface PageView {
  readonly rationales: boolean;
}

export type PassReading = ({ readonly kind: 'valid' } & PageView) | { readonly kind: 'expired' | 'wrong' };

export interface PagePasses {
  /** Issues a pass for the page of one proposal; `expiresAt` in milliseconds since 1970. */
  issue(id: string, view: PageView): { readonly pass: string; readonly expiresAt: number };
  read(id: string, pass: string): PassReading;
}

const PASS = /^([1-9]\d{0,11})\.([rn])\.([\w-]{43})\.([\w.-]{1,32})$/;

/** Passes signed with this keyring. Passes of an older key in the ring stay valid until they expire. */
export function pagePasses({ keyring, clock }: { keyring: Keyring; clock: Pick<Clock, 'now'> }): PagePasses {
  const keys = new Map(keyring.ids.map((id) => [id, keyring.subkey('page-pass/v1', id)!]));
  const mac = (kid: string, parts: readonly (string | number)[]) => {
    const key = keys.get(kid);
    return key && hmacSha256(key, JSON.stringify(parts));
  };
  return {
    issue(id, { rationales }) {
      const until = Math.ceil((clock.now() + PAGE_LIMITS.pagePassMs) / 1_000);
      const flag = rationales ? 'r' : 'n';
      const kid = keyring.active;
      const pass = `${until}.${flag}.${mac(kid, [id, until, flag])}.${kid}`;
      return { pass, expiresAt: until * 1_000 };
    },
    read(id, pass) {
      const [, until, flag, signature, kid] = PASS.exec(pass) ?? [];
      const expected = kid !== undefined && mac(kid, [id, Number(until), flag!]);
      if (!expected || !timingSafeEqual(Buffer.from(expected), Buffer.from(signature!))) return { kind: 'wrong' };
      return clock.now() < Number(until) * 1_000 ? { kind: 'valid', rationales: flag === 'r' } : { kind: 'expired' };
    },
  };
}
