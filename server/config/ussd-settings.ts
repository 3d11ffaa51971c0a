// The setting that says which telecom gateways may speak for callers.

import { list } from './kinds.ts';
import type { Setting } from './settings.ts';

export const USSD_SETTINGS = {
  USSD_GATEWAYS: {
    kind: list('ussd-gateway'),
    secret: 'entries',
    meaning:
      'telecom gateways that may speak for callers: networks (after trusted proxies), <dialect>:<secret>, or * for everybody; unset = everybody in development',
    fix: 'Set the addresses of your telecom gateway, for example USSD_GATEWAYS=203.0.113.0/24, or hubtel:<secret of 16 characters or more>, or * for everybody.',
  },
} as const satisfies Record<string, Setting>;
