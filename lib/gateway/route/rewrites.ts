// Maps a deployment's paths to paths in the descriptors: prefixes, then rewrites, on encoded paths. Includes rewrites for
// routes of earlier versions of the ixo protocol.

import { requireGiven } from '../../given.ts';
import { prefixErrors } from '../request/message-builder.ts';
import { PathTree, parseTemplate, type Template, type Variable } from './paths.ts';

/** An alias path and its target. */
export interface Rewrite {
  /** A template with any variable names, such as `/ixo/claim/{id}`. */
  readonly from: string;
  /** The same variables in any order, between literal segments. */
  readonly to: string;
}

/** Options of `compileRewrites`. */
export interface RewriteOptions {
  /** Deployment path → descriptor path, such as `{"/impacthub": "/ixo"}`. Empty: paths are served unchanged. */
  readonly prefixes: Readonly<Record<string, string>>;
  readonly rewrites: readonly Rewrite[];
  /** Rewrites that yield to `rewrites` for the same paths. @default none */
  readonly legacy?: readonly Rewrite[];
}

/** Maps a request path, without query, to the descriptors; undefined when no prefix matches. */
export type RewritePath = (path: string) => string | undefined;

/**
 * Compiles prefixes (longest first) and rewrites (applied once, most literal first). Throws an Error for the first invalid
 * one.
 * @example
 * const rewrite = compileRewrites({ prefixes: { '/ixo': '/ixo' }, rewrites: [{ from: '/ixo/claim/{id}', to: '/ixo/claims/claim/{id}' }] });
 * rewrite('/ixo/claim/7'); // → '/ixo/claims/claim/7'
 * rewrite('/other'); // → undefined
 */
export function compileRewrites(options: RewriteOptions): RewritePath {
  requireGiven('compile rewrites', options, { prefixes: 'object', rewrites: 'object' });
  const { prefixes, rewrites, legacy = [] } = options;
  const byLength = Object.entries(prefixes)
    .map(([from, to]) => ({ from: trimSlash(from), to: trimSlash(to) }))
    .sort((a, b) => b.from.length - a.from.length);
  const tree = new PathTree<CompiledRewrite>();
  for (const one of rewrites) {
    const compiled = compileRewrite(one);
    if (tree.add(compiled.from, () => compiled) !== compiled)
      throw new Error(`${one.from} is rewritten twice: another rewrite matches the same paths`);
  }
  for (const one of legacy) {
    const compiled = compileRewrite(one);
    tree.add(compiled.from, () => compiled);
  }
  return (path) => {
    const inside = byLength.length ? replacePrefix(byLength, path) : path;
    if (inside === undefined) return undefined;
    return tree.find(inside, ({ apply }, segments) => apply(segments)) ?? inside;
  };
}

interface CompiledRewrite {
  readonly from: Template;
  readonly apply: (segments: readonly string[]) => string;
}

/** Throws an Error that describes what is wrong with a rewrite. */
function compileRewrite({ from: fromText, to: toText }: Rewrite): CompiledRewrite {
  const from = prefixErrors(fromText, () => parseTemplate(fromText));
  const { segments, variables, verb } = prefixErrors(toText, () => parseTemplate(toText));
  const sources = new Map(from.variables.map((variable) => [variable.path, variable]));
  for (const { path } of variables)
    if (!sources.has(path)) throw new Error(`${toText}: the variable ${path} does not occur in ${fromText}`);
  const pieces: (string | Variable)[] = [];
  for (let at = 0; at < segments.length; ) {
    const variable = variables.find(({ start }) => start === at);
    const segment = segments[at]!;
    if (variable) pieces.push(sources.get(variable.path)!);
    else if (segment.kind === 'literal') pieces.push(segment.text);
    else throw new Error(`${toText}: a star needs a name, as in {path=**}`);
    at = variable ? (variable.end ?? segments.length) : at + 1;
  }
  const apply = (segments: readonly string[]): string => {
    const parts = pieces.flatMap((piece) =>
      typeof piece === 'string' ? [piece] : segments.slice(piece.start, piece.end),
    );
    return `/${parts.join('/')}${verb && `:${verb}`}`;
  };
  return { from, apply };
}

function replacePrefix(prefixes: readonly { from: string; to: string }[], path: string): string | undefined {
  for (const { from, to } of prefixes)
    if (path.startsWith(`${from}/`) || path === from) return `${to}${path.slice(from.length)}` || '/';
  return undefined;
}

function trimSlash(prefix: string): string {
  return prefix === '/' ? '' : prefix;
}

/** Whether a prefix is valid: `/`, or literal segments without a trailing slash. */
export function isPrefix(text: string): boolean {
  if (text === '/') return true;
  try {
    const { segments, verb } = parseTemplate(text);
    return verb === '' && segments.every(({ kind }) => kind === 'literal');
  } catch {
    return false;
  }
}

/** Paths of older protocol versions, and their current targets. */
export interface LegacyProfile {
  /** The protocol versions with these routes. */
  readonly versions: string;
  readonly rewrites: readonly Rewrite[];
  /** Routes of those versions without a current equivalent: their modules are gone, or they need more input. */
  readonly gone: readonly string[];
}

const DIDS: readonly Rewrite[] = [
  { from: '/ixo/did', to: '/ixo/did/dids' },
  { from: '/ixo/allDidDocs', to: '/ixo/did/dids' },
  { from: '/ixo/did/{did}', to: '/ixo/did/dids/{did}' },
  // Current routes with the same prefix.
  { from: '/ixo/did/dids', to: '/ixo/did/dids' },
];

const BONDS: readonly Rewrite[] = [
  { from: '/ixo/bonds', to: '/ixo/bonds/bonds' },
  { from: '/ixo/bonds_detailed', to: '/ixo/bonds/bonds_detailed' },
];

const PROJECTS: readonly string[] = [
  '/ixo/didToAddr/{did=**}',
  '/ixo/pubKeyToAddr/{pubKey}',
  '/ixo/project/{project_did}',
  '/ixo/projectAccounts/{project_did}',
  '/ixo/projectTxs/{project_did}',
  '/ixo/projectParams',
  '/ixo/payments/templates/{payment_template_id}',
  '/ixo/payments/contracts/{payment_contract_id}',
  '/ixo/payments/subscriptions/{subscription_id}',
];

/** By their names in GATEWAY_FILE. */
export const LEGACY_PROFILES = {
  'ixo-v0.18': { versions: 'v0.18', rewrites: [...DIDS, ...BONDS], gone: PROJECTS },
  'ixo-v0.19': {
    versions: 'v0.19',
    rewrites: [...DIDS, ...BONDS, { from: '/ixo/entity/config', to: '/ixo/entity/params' }],
    gone: PROJECTS,
  },
  'ixo-v0.20': {
    versions: 'v0.20 to v3',
    rewrites: [
      { from: '/ixo/claim', to: '/ixo/claims/claims' },
      { from: '/ixo/claim/{id}', to: '/ixo/claims/claim/{id}' },
      { from: '/ixo/collection', to: '/ixo/claims/collections' },
      { from: '/ixo/collection/{id}', to: '/ixo/claims/collection/{id}' },
      { from: '/ixo/dispute', to: '/ixo/claims/disputes' },
      { from: '/ixo/dispute/{proof}', to: '/ixo/claims/dispute/{proof}' },
    ],
    gone: [],
  },
  'ixo-v4': {
    versions: 'v4 to v6',
    rewrites: [{ from: '/ixo/liquidstake/v1beta1/params', to: '/ixo/liquidstake/v1beta1/module_params' }],
    // Since v7 there are several pools, and these routes do not name one.
    gone: ['/ixo/liquidstake/v1beta1/states', '/ixo/liquidstake/v1beta1/validators'],
  },
} as const satisfies Readonly<Record<string, LegacyProfile>>;

/** The names of the legacy profiles. */
export type LegacyName = keyof typeof LEGACY_PROFILES;

export const LEGACY_NAMES = Object.keys(LEGACY_PROFILES) as readonly LegacyName[];

/**
 * The rewrites of these profiles; for duplicate paths, the first profile wins.
 * @example
 * legacyRewrites(['ixo-v0.18']).length > 0; // → true
 */
export function legacyRewrites(names: readonly LegacyName[]): Rewrite[] {
  return names.flatMap((name): readonly Rewrite[] => LEGACY_PROFILES[name].rewrites);
}
