// The documentation of the doors of this server. A door that is added brings its part; plugins bring theirs at start.

import type { Config } from '../config/config.ts';
import type { Part } from './operation.ts';
import { AGENT_PART } from './parts/agent.ts';
import { BULK_PART } from './parts/bulk.ts';
import { CARDS_PART, STATUS_LISTS_PART } from './parts/credentials.ts';
import { EVENTS_PART } from './parts/events.ts';
import { HEALTH_PART } from './parts/health.ts';
import { IDENTIFIERS_PART } from './parts/identifiers.ts';
import { INSPECTOR_PART } from './parts/inspector.ts';
import { MODELS_PART } from './parts/models.ts';
import { operatorPart } from './parts/operator.ts';
import { DOCS_PART } from './parts/own-pages.ts';
import { PROPOSALS_PART } from './parts/proposals.ts';
import { PROTOCOLS_PART } from './parts/protocols.ts';
import { LIMITS_PART } from './parts/service-limits.ts';
import { TOOLS_PART } from './parts/tools.ts';
import { TWINS_PART } from './parts/twins.ts';
import { ussdPart } from './parts/ussd.ts';
import { WEBHOOKS_PART } from './parts/webhooks.ts';

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
