// The canonical class of a twin, and the chain of relationships that every registry knows.

/** What a twin stands for. */
export type CanonicalClass = 'Physical Twins' | 'Cognitive Twins' | 'Twin Systems' | 'Oracle Twins';

// First segment of a type, in lower case → its class. Twins of other types are networks of these.
const CLASS_OF: { readonly [type: string]: CanonicalClass } = {
  device: 'Physical Twins',
  asset: 'Physical Twins',
  sensor: 'Physical Twins',
  organisation: 'Cognitive Twins',
  organization: 'Cognitive Twins',
  membershipgroup: 'Cognitive Twins',
  project: 'Cognitive Twins',
  dao: 'Cognitive Twins',
  oracle: 'Oracle Twins',
};

/** The canonical class by type (`asset/device` counts as `asset`); Twin Systems for a type that is not in the table. */
export function canonicalClass(type: string): CanonicalClass {
  const name = kindOf(type.split('/')[0]!);
  if (Object.hasOwn(CLASS_OF, name)) return CLASS_OF[name]!;
  const ending = Object.keys(CLASS_OF).find((known) => name.endsWith(known));
  return ending ? CLASS_OF[ending]! : 'Twin Systems';
}

/** A type for comparison: lower case, without the suffix Entity. `OracleEntity` and `Oracle` are one kind. */
export function kindOf(type: string): string {
  return type.toLowerCase().replace(/entity$/, '') || 'entity';
}

/** Whether a twin of this type fills a role that asks for `kind`; `asset/device` is an asset, too. */
export function isOfKind(type: string, kind: string): boolean {
  const wanted = kindOf(kind);
  if (wanted === 'entity') return true;
  const steps = type.split('/').map(kindOf);
  return kindOf(type) === wanted || steps.some((_, at) => steps.slice(0, at + 1).join('/') === wanted);
}

/** Type → relation → the type on its other end. */
export const CHAIN: { readonly [type: string]: { readonly [relation: string]: string } } = {
  organisation: { implements: 'Project' },
  project: { generates: 'Asset' },
  asset: { produces: 'Claim' },
  device: { produces: 'Claim' },
  oracle: { verifies: 'Claim' },
  claim: { becomes: 'Credential' },
};

/** The relations of the chain that a twin of this type may have. */
export function chainOf(type: string): { readonly [relation: string]: string } {
  const name = kindOf(type.split('/')[0]!);
  return Object.hasOwn(CHAIN, name) ? CHAIN[name]! : {};
}
