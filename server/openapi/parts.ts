// The documentation of the doors of this server. A door that is added brings its part; plugins bring theirs at start.

import type { Config } from '../config.ts';
import { AGENT_PART } from './agent.ts';
import { BULK_PART } from './bulk.ts';
import { CARDS_PART, STATUS_LISTS_PART } from './credentials.ts';
import { EVENTS_PART } from './events.ts';
import { HEALTH_PART } from './health.ts';
import { IDENTIFIERS_PART } from './identifiers.ts';
import { INSPECTOR_PART } from './inspector.ts';
import { MODELS_PART } from './models.ts';
import type { Part } from './operation.ts';
import { operatorPart } from './operator.ts';
import { DOCS_PART } from './own-pages.ts';
import { PROPOSALS_PART } from './proposals.ts';
import { PROTOCOLS_PART } from './protocols.ts';
import { LIMITS_PART } from './service-limits.ts';
import { TOOLS_PART } from './tools.ts';
import { TWINS_PART } from './twins.ts';
import { ussdPart } from './ussd.ts';
import { WEBHOOKS_PART } from './webhooks.ts';

export function documentedParts({ metricsPort, ussd }: Pick<Config, 'metricsPort' | 'ussd'>): Part[] {
  return [
    ussdPart(ussd),
    TWINS_PART,
    PROTOCOLS_PART,
    PROPOSALS_PART,
    EVENTS_PART,
    WEBHOOKS_PART,
    BULK_PART,
    CARDS_PART,
    STATUS_LISTS_PART,
    IDENTIFIERS_PART,
    LIMITS_PART,
    AGENT_PART,
    MODELS_PART,
    operatorPart({ metrics: metricsPort === undefined }),
    TOOLS_PART,
    INSPECTOR_PART,
    HEALTH_PART,
    DOCS_PART,
  ];
}
