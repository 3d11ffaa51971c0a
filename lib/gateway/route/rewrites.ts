// Paths of a deployment made into paths of the descriptors: prefixes, then rewrites, both still encoded; and the routes of
// earlier versions of the ixo protocol, as rewrites to those of today.

import { requireGiven } from '../../given.ts';
import { prefixErrors } from '../request/message-builder.ts';
import { PathTree, parseTemplate, type Template, type Variable } from './paths.ts';

/** An older address and the one that it stands for. */
export interface Rewrite {
  /** A template whose variables have any names, such as `/ixo/claim/{id}`. */
  readonly from: string;
  /** The same variables, in any order, between literal segments. */
  readonly to: string;
}

/** Options of `compileRewrites`. */
export interface RewriteOptions {
  /** Path of the deployment → path of the descriptors, `{"/impacthub": "/ixo"}`. Empty: all paths are served as they are. */
  readonly prefixes: Readonly<Record<string, string>>;
  readonly rewrites: readonly Rewrite[];
  /** Rewrites that stand back where one of `rewrites` takes the same paths. @default none */
  readonly legacy?: readonly Rewrite[];
}

/** The path in the descriptors for the path of a request, without query; undefined when no prefix serves it. */
export type RewritePath = (path: string) => string | undefined;

/**
 * Compiles prefixes (the longest wins) and rewrites (once, the most literal wins). Throws an Error for the first bad one.
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
      throw new Error(`${one.from} is rewritten twice: another one takes the same paths`);
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

/** Throws an Error that says what is wrong with a rewrite. */
function compileRewrite({ from: fromText, to: toText }: Rewrite): CompiledRewrite {
  const from = prefixErrors(fromText, () => parseTemplate(fromText));
  const { segments, variables, verb } = prefixErrors(toText, () => parseTemplate(toText));
  const known = new Map(from.variables.map((variable) => [variable.path, variable]));
  for (const { path } of variables)
    if (!known.has(path)) throw new Error(`${toText}: the variable ${path} does not stand in ${fromText}`);
  const pieces: (string | Variable)[] = [];
  for (let at = 0; at < segments.length; ) {
    const variable = variables.find(({ start }) => start === at);
    const segment = segments[at]!;
    if (variable) pieces.push(known.get(variable.path)!);
    else if (segment.kind === 'literal') pieces.push(segment.text);
    else throw new Error(`${toText}: a star needs a name, as in {path=**}`);
    at = variable ? (variable.end ?? segments.length) : at + 1;
  }
  const apply = (given: readonly string[]): string => {
    const parts = pieces.flatMap((piece) =>
      typeof piece === 'string' ? [piece] : given.slice(piece.start, piece.end),
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

/** Whether a prefix can be used: `/`, or segments of literals without a slash at the end. */
export function isPrefix(text: string): boolean {
  if (text === '/') return true;
  try {
    const { segments, verb } = parseTemplate(text);
    return verb === '' && segments.every(({ kind }) => kind === 'literal');
  } catch {
    return false;
  }
}

/** Addresses of older versions of a protocol, and what answers them now. */
export interface LegacyProfile {
  /** The versions of the protocol that had these routes. */
  readonly versions: string;
  readonly rewrites: readonly Rewrite[];
  /** Routes of those versions that nothing of today answers: their modules are gone, or they need to know more. */
  readonly gone: readonly string[];
}

const DIDS: readonly Rewrite[] = [
  { from: '/ixo/did', to: '/ixo/did/dids' },
  { from: '/ixo/allDidDocs', to: '/ixo/did/dids' },
  { from: '/ixo/did/{did}', to: '/ixo/did/dids/{did}' },
  // Today's own routes under the same beginning.
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

/** By the name that GATEWAY_FILE uses. */
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
    // Since v7 there are several pools, and these do not say which.
    gone: ['/ixo/liquidstake/v1beta1/states', '/ixo/liquidstake/v1beta1/validators'],
  },
} as const satisfies Readonly<Record<string, LegacyProfile>>;

/** The names of the legacy profiles. */
export type LegacyName = keyof typeof LEGACY_PROFILES;

export const LEGACY_NAMES = Object.keys(LEGACY_PROFILES) as readonly LegacyName[];

/**
 * The rewrites of these profiles; the first that names a path counts.
 * @example
 * legacyRewrites(['ixo-v0.18']).length > 0; // → true
 */
export function legacyRewrites(names: readonly LegacyName[]): Rewrite[] {
  return names.flatMap((name): readonly Rewrite[] => LEGACY_PROFILES[name].rewrites);
}
