// The benchmarks by name; each measures its rows beside their floors.

import { agentRows } from './agent.ts';
import { domainRows } from './domain.ts';
import { compileRows, engineRows } from './engine.ts';
import { gatewayRows } from './gateway.ts';
import { gatewayDoorRows } from './gateway-door.ts';
import { grpcRows } from './grpc.ts';
import { inspectorRows } from './inspector.ts';
import { capacityRows } from './line/capacity.ts';
import { callersRows, storedRows, ussdRows } from './line/turns.ts';
import { loadingRows } from './loading.ts';
import type { Row } from './measure.ts';
import { redisRows } from './redis.ts';
import { scaleRows } from './scale.ts';
import { tokenRows } from './token.ts';

export const BENCHES: { readonly [name: string]: () => Promise<Row[]> } = {
  engine: engineRows,
  compile: compileRows,
  loading: loadingRows,
  scale: scaleRows,
  redis: redisRows,
  domain: domainRows,
  ussd: ussdRows,
  callers: callersRows,
  stored: storedRows,
  capacity: capacityRows,
  token: tokenRows,
  agent: agentRows,
  grpc: grpcRows,
  gateway: gatewayRows,
  inspector: inspectorRows,
  door: gatewayDoorRows,
};
