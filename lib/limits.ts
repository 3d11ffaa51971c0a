// Every limit of the library in one table, for its documentation and for those who import it. Each is declared beside its room.

import { ACCOUNT_LIMITS } from './account/limits.ts';
import { AGENT_LIMITS } from './agent/limits.ts';
import { COMMON_LIMITS } from './common-limits.ts';
import { DELEGATION_LIMITS } from './delegation/limits.ts';
import { DIAGRAM_LIMITS } from './diagram/limits.ts';
import { DOMAIN_LIMITS } from './domain/limits.ts';
import { ENGINE_LIMITS } from './engine/limits.ts';
import { FLOW_LIMITS } from './flow/limits.ts';
import { GATEWAY_LIMITS } from './gateway/limits.ts';
import { HTTP_LIMITS } from './http/limits.ts';
import { INSPECTION_LIMITS } from './inspection/limits.ts';
import { STORE_LIMITS } from './store/limits.ts';
import { USSD_LIMITS } from './ussd/limits.ts';

/** Every limit of the library, by name; each says its unit. */
export const LIMITS = {
  ...COMMON_LIMITS,
  ...ACCOUNT_LIMITS,
  ...AGENT_LIMITS,
  ...DELEGATION_LIMITS,
  ...DIAGRAM_LIMITS,
  ...DOMAIN_LIMITS,
  ...ENGINE_LIMITS,
  ...FLOW_LIMITS,
  ...GATEWAY_LIMITS,
  ...HTTP_LIMITS,
  ...INSPECTION_LIMITS,
  ...STORE_LIMITS,
  ...USSD_LIMITS,
} as const;
