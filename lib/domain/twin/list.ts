// Lists of twins: an index narrows the query, the remaining conditions are checked per record.

import { createHash } from 'node:crypto';
import { type Clock, timeSlice } from '../../clock.ts';
import { COMMON_LIMITS } from '../../common-limits.ts';
import type { DocumentStore, IndexValue, Query } from '../../store/store.ts';
import type { Caller } from '../caller.ts';
import { cursorError, findPage, isVisible, requireLimit } from '../find.ts';
import { DOMAIN } from '../kinds.ts';
import { DOMAIN_LIMITS } from '../limits.ts';
import { parseMoment } from '../moment.ts';
import { refuse } from '../problems.ts';
import { compileFilter, type Filter, parseFilter } from './filter.ts';
import type { Spend } from './like.ts';
import type { Protocols } from './protocol.ts';
import { type Domain, domainView, findValidity, type StoredDomain } from './record.ts';
import { hasWords, listTerms, MANY_VALUES, splitWords } from './terms.ts';

/** What a list is asked for. Texts as clients send them. */
export interface ListQuery {
  readonly type?: string;
  /** A protocol by DID or alias. */
  readonly class?: string;
  readonly status?: string;
  readonly controller?: string;
  readonly name?: string;
  readonly externalId?: string;
  /** Words, each of which begins a word of its name or of its name elsewhere, in any case. */
  readonly text?: string;
  /** Only twins that are valid at this moment, RFC 3339. */
  readonly validAt?: string;
  /** See filter.ts. */
  readonly filter?: string;
  /** A field that gives the order; a minus reverses it. @default 'created' */
  readonly sort?: string;
  /** 1 to COMMON_LIMITS.pageSizeMax. @default 20 */
  readonly limit?: number;
  readonly cursor?: string;
}

export interface ListDeps {
  readonly documents: DocumentStore;
  readonly protocols: Protocols;
  readonly clock: Pick<Clock, 'now'>;
}

/** A page of a list. It may be short or even empty and still have a next page. */
export interface DomainPage {
  readonly items: Domain[];
  readonly next?: string;
}

interface Equalities {
  readonly [field: string]: IndexValue;
}

// In order of preference; each serves equality on its fields, ordered by creation.
const BY_CREATION = [
  { index: 'external', fields: ['externalId'] },
  { index: 'name', fields: ['metadata.name'] },
  { index: 'type-status', fields: ['type', 'status'] },
  { index: 'controller', fields: ['controllers[]'] },
  { index: 'class', fields: ['class'] },
  { index: 'type', fields: ['type'] },
  { index: 'status', fields: ['status'] },
  { index: 'created', fields: [] },
] as const;

const BY_FIELD: { readonly [sort: string]: string } = { updated: 'updated', name: 'name' };

/** Finds a page; throws `bad-filter`, `bad-cursor`, `bad-limit` or `bad-request`. */
export async function listTwins(deps: ListDeps, caller: Caller, query: ListQuery): Promise<DomainPage> {
  const limit = query.limit ?? 20;
  requireLimit(limit);
  const equal = await readEqualities(deps, caller, query);
  if (!equal) return { items: [] };
  const holds = makeCondition(query, equal, deps.clock.now());
  const { plan, number } = await choosePlan(deps, caller, { query, equal });
  return walk(deps.documents, plan, {
    limit,
    holds,
    cursor: query.cursor,
    print: `${fingerprintQuery(query)}-${number}`,
  });
}

// Undefined when nothing can match.
async function readEqualities(
  { protocols }: ListDeps,
  { tenant }: Caller,
  query: ListQuery,
): Promise<Equalities | undefined> {
  const { type, status, controller, name, externalId } = query;
  const protocol = query.class === undefined ? undefined : await protocols.find(tenant, query.class);
  if (query.class !== undefined && !protocol) return undefined;
  const equalities = {
    type,
    status,
    'controllers[]': controller,
    'metadata.name': name,
    externalId,
    class: protocol?.body.did,
  };
  const filter = query.filter === undefined ? {} : listEqualities(parseFilter(query.filter));
  const conditions = Object.entries(equalities).filter(([, value]) => value !== undefined);
  return { ...filter, ...Object.fromEntries(conditions) } as Equalities;
}

/** The terms that serve a query; see terms.ts. */
async function readTerms(documents: DocumentStore, tenant: string, query: ListQuery): Promise<readonly string[]> {
  const filter = query.filter === undefined ? undefined : parseFilter(query.filter);
  const terms = listTerms({ words: splitWords(query.text ?? ''), filter });
  if (!terms.some(({ orElse }) => orElse !== undefined)) return terms.map(({ term }) => term);
  // The values of twins that have very many are no terms: where there are such twins, all that have the property are read.
  const where = { tenant, 'found[]': MANY_VALUES };
  const { items } = await documents.find(DOMAIN, { index: 'found', where, limit: 1 });
  return terms.map(({ term, orElse = term }) => (items.length > 0 ? orElse : term));
}

interface PlanInput {
  readonly query: ListQuery;
  readonly equal: Equalities;
}

/** A plan and which of those that a query has it is. */
interface Chosen {
  readonly plan: ListPlan;
  readonly number: number;
}

/** Chooses the most selective of the indexes that serve the search. */
async function choosePlan({ documents }: ListDeps, { tenant }: Caller, { query, equal }: PlanInput): Promise<Chosen> {
  const plan = planQuery(tenant, equal, query);
  if (plan.index !== 'created' && !COUNTED.has(plan.index)) return { plan, number: 0 };
  const terms = await readTerms(documents, tenant, query);
  const others = terms.map((term) => ({ ...plan, index: 'found', where: { tenant, 'found[]': term } }));
  const plans = plan.index === 'created' ? others : [plan, ...others];
  const [only = plan, ...more] = plans;
  if (more.length === 0) return { plan: only, number: 0 };
  // The next page continues on the previous page's index.
  const [, begun] = /^[^.]*-(\d+)\./.exec(query.cursor ?? '') ?? [];
  if (begun !== undefined && plans[Number(begun)]) return { plan: plans[Number(begun)]!, number: Number(begun) };
  const counts = await Promise.all(plans.map(({ index, where }) => documents.count(DOMAIN, { index, where })));
  const number = counts.indexOf(Math.min(...counts));
  return { plan: plans[number]!, number };
}

/** Indexes that hold many twins of one value, and give the order of creation. */
const COUNTED = new Set(['type-status', 'controller', 'class', 'type', 'status']);

/** Fields that a filter holds to one value. */
function listEqualities(filter: Filter): Equalities {
  if (filter.op === 'and') return Object.assign({}, ...filter.of.map(listEqualities));
  if (filter.op !== 'eq' || !['type', 'status', 'externalId', 'metadata.name'].includes(filter.field)) return {};
  const value = filter.values[0];
  return typeof value === 'string' ? { [filter.field]: value } : {};
}

type ListPlan = Query & Required<Pick<Query, 'index' | 'where'>>;

function planQuery(tenant: string, equal: Equalities, { sort = 'created' }: ListQuery): ListPlan {
  const descending = sort.startsWith('-');
  const field = descending ? sort.slice(1) : sort;
  if (field !== 'created' && !Object.hasOwn(BY_FIELD, field))
    throw refuse(
      'bad-request',
      `sort=${JSON.stringify(sort)} is not one of created, updated, name, or one of them after a minus.`,
    );
  if (field !== 'created') {
    const named = field === 'name' ? equal['metadata.name'] : undefined;
    const where = { tenant, ...(named !== undefined && { 'metadata.name': named }) };
    return { index: BY_FIELD[field]!, where, descending };
  }
  const { index, fields } = BY_CREATION.find(({ fields }) => fields.every((name) => name in equal))!;
  return { index, where: { tenant, ...Object.fromEntries(fields.map((name) => [name, equal[name]!])) }, descending };
}

type Holds = (domain: Domain, spend: Spend) => boolean;

function makeCondition(query: ListQuery, equal: Equalities, now: number): Holds {
  const fits = query.filter === undefined ? undefined : compileFilter(parseFilter(query.filter));
  const moment = query.validAt === undefined ? undefined : parseMoment(query.validAt);
  if (Number.isNaN(moment))
    throw refuse('bad-request', `validAt=${JSON.stringify(query.validAt)} is no moment such as 2026-01-01T00:00:00Z.`);
  const { 'controllers[]': controller, 'metadata.name': name, ...plain } = equal;
  const words = [...new Set(splitWords(query.text ?? ''))];
  return (domain, spend) => {
    const { body } = domain;
    if (body.status === 'Deactivated' && query.status !== 'Deactivated') return false;
    if (controller !== undefined && !body.controllers.includes(controller as string)) return false;
    if (name !== undefined && body.metadata.name !== name) return false;
    if (words.length > 0 && !hasWords(body, words, spend)) return false;
    if (!Object.entries(plain).every(([field, value]) => body[field] === value)) return false;
    if (moment !== undefined && findValidity(body, moment) !== 'valid') return false;
    return fits === undefined || fits(domainView(domain, now), spend);
  };
}

interface Walk {
  readonly limit: number;
  readonly holds: Holds;
  readonly cursor: string | undefined;
  readonly print: string;
}

async function walk(documents: DocumentStore, plan: Query, { limit, holds, cursor, print }: Walk): Promise<DomainPage> {
  const items: Domain[] = [];
  let from = cursor === undefined ? undefined : readCursor(cursor, print);
  let [bytes, shown] = [0, 0];
  const work = pageWork();
  const pause = timeSlice();
  for (let count = 0; count < DOMAIN_LIMITS.listScan && bytes < DOMAIN_LIMITS.listScanBytes; ) {
    const size = Math.min(COMMON_LIMITS.pageSizeMax, count === 0 ? limit : limit * 4);
    const chunk = await findFrom(documents, plan, { limit: size, cursor: from });
    count += chunk.items.length;
    bytes += chunk.size;
    for (const [at, item] of chunk.items.entries()) {
      if (holds(item, work.startRecord(item.id)) && (await isVisible(documents, item))) {
        items.push(item);
        shown += chunk.size / chunk.items.length;
      }
      await pause();
      if (items.length < limit && !work.isSpent()) continue;
      const whole = at === chunk.items.length - 1;
      const next = whole ? chunk.next : (await findFrom(documents, plan, { limit: at + 1, cursor: from })).next;
      return { items, ...(next !== undefined && { next: `${print}.${next}` }) };
    }
    if (chunk.next === undefined) return { items };
    from = chunk.next;
    if (shown >= DOMAIN_LIMITS.pageBytes) break;
  }
  return { items, next: `${print}.${from}` };
}

/** The work budget of a page; one record alone may not exceed it. */
function pageWork() {
  let spent = 0;
  return {
    startRecord(did: string): Spend {
      const most = spent + DOMAIN_LIMITS.listWork;
      return (work) => {
        spent += work;
        if (spent <= most) return;
        throw refuse(
          'bad-filter',
          `The filter compares too much in ${did}, which holds long texts or lists. Ask for fewer conditions, shorter patterns or other fields.`,
        );
      };
    },
    isSpent: () => spent >= DOMAIN_LIMITS.listWork,
  };
}

function findFrom(documents: DocumentStore, plan: Query, page: { limit: number; cursor: string | undefined }) {
  return findPage<StoredDomain>(documents, DOMAIN, { ...plan, ...page });
}

// A cursor is bound to its query, but not to the page size.
function fingerprintQuery({ limit: _limit, cursor: _cursor, ...query }: ListQuery): string {
  const text = JSON.stringify(Object.entries(query).sort(([a], [b]) => (a < b ? -1 : 1)));
  return createHash('sha256').update(text).digest('base64url').slice(0, 8);
}

function readCursor(cursor: string, print: string): string {
  const dot = cursor.indexOf('.');
  if (cursor.slice(0, dot) !== print) throw cursorError();
  return cursor.slice(dot + 1);
}
