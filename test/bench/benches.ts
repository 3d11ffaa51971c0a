// The benchmarks by name; each measures its rows beside their floors.

import { agentRows } from './agent.ts';
import { domainRows } from './domain.ts';
import { compileRows, engineRows } from './engine.ts';
import { gatewayDoorRows } from './gateway-door.ts';
import { capacityRows } from './line/capacity.ts';
import { peerRows } from './line/peers.ts';
import { replyRows } from './line/replies.ts';
import { callersRows, storedRows, ussdRows } from './line/turns.ts';
import { loadingRows } from './loading.ts';
import type { Row } from './measure.ts';
import { tokenRows } from './token.ts';

export const BENCHES: { readonly [name: string]: () => Promise<Row[]> } = {
  engine: engineRows,
  compile: compileRows,
  loading: loadingRows,
  domain: domainRows,
  ussd: ussdRows,
  peers: peerRows,
  callers: callersRows,
  stored: storedRows,
  capacity: capacityRows,
  token: tokenRows,
  agent: agentRows,
  replies: replyRows,
  door: gatewayDoorRows,
};
