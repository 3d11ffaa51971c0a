// Which events a listener wants: a list of their types, or of families such as `proposal.*`.

import type { Detail } from '../../errors.ts';
import { DOMAIN_LIMITS } from '../limits.ts';

const FAMILIES = ['domain', 'protocol', 'proposal', 'vote', 'credits'] as const;
const NAME = new RegExp(`^(\\*|(${FAMILIES.join('|')})\\.(\\*|[a-z_]{1,40}))$`);

/** What is wrong with a list of types, by its place in `field`; empty when nothing. */
export function typeProblems(types: readonly string[], field: string): Detail[] {
  if (types.length > DOMAIN_LIMITS.eventTypes)
    return [{ field, error: `has more than ${DOMAIN_LIMITS.eventTypes} types` }];
  return types.flatMap((type, at) =>
    NAME.test(type)
      ? []
      : [
          {
            field: `${field}/${at}`,
            error: `must be a type of event such as domain.verified, a family such as proposal.*, or *; families are ${FAMILIES.join(', ')}`,
          },
        ],
  );
}

/** Whether one of these types means an event of this type. No types mean all. */
export function wantsType(types: readonly string[], type: string): boolean {
  const family = `${type.slice(0, type.indexOf('.'))}.*`;
  return types.length === 0 || types.includes(type) || types.includes(family) || types.includes('*');
}
