// The page of chats before a real agent whose replies a test gives piece by piece.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Router from '@koa/router';
import Koa from 'koa';
import type { Test } from 'uvu';
import { type Agent, openAgent } from '../../../lib/agent/agent.ts';
import type { ResponderPart, ResponderTurn } from '../../../lib/agent/responder.ts';
import { systemClock as clock } from '../../../lib/clock.ts';
import { tokenGuard } from '../../../lib/delegation/guard.ts';
import { parseOracleKey } from '../../../lib/delegation/issuer/oracle-key.ts';
import { parseKeyring } from '../../../lib/keyring.ts';
import { redactor } from '../../../lib/redact.ts';
import { memoryChannel, memoryDocuments, memoryLogs } from '../../../lib/store/memory/index.ts';
import { agentDoor } from '../../../server/agent/door.ts';
import { makeOracleKey } from '../../../server/config/data-dir.ts';
import { eventStreams } from '../../../server/http/event-streams.ts';
import { jsonBody } from '../../../server/http/middleware/json-body.ts';
import { ownPagesOnly } from '../../../server/http/middleware/own-origin.ts';
import { addRoutes } from '../../../server/http/route-table.ts';
import { CHAT_ROUTES } from '../../../server/web/chat/routes.ts';
import { PAGE_FILE_ROUTES } from '../../../server/web/kit/routes.ts';
import { scripted } from '../../agent/ground.ts';

const PIN_KEY = '8f1de1e2c1a53b2d7f6a90e4b35c7d2818aa4cfe0b61d9f3e27c5b8490ad6f13';

export interface ChatPlace {
  readonly url: string;
  readonly agent: Agent;
  /** Replies to the messages that come from now on. */
  answer(script: (turn: ResponderTurn) => AsyncIterable<ResponderPart>): void;
  /** Breaks all connections, as a network does. */
  cut(): void;
  readonly problems: readonly unknown[];
}

/** One for all tests of a suite; its page shows replies as those of this writer. */
export function chatPlace(test: Pick<Test, 'before' | 'after'>, writer: 'flow' | 'model' = 'flow'): () => ChatPlace {
  let here: ChatPlace | undefined;
  let close = async () => {};
  test.before(async () => {
    const made = await opened(writer);
    here = made.place;
    close = made.close;
  });
  test.after(() => close());
  return () => here!;
}

async function opened(writer: 'flow' | 'model'): Promise<{ place: ChatPlace; close: () => Promise<void> }> {
  const problems: unknown[] = [];
  const onProblem = (error: unknown) => void problems.push(error);
  const key = parseOracleKey(makeOracleKey());
  let script: (turn: ResponderTurn) => AsyncIterable<ResponderPart> = async function* () {};
  const agent = await openAgent({
    ...{
      clock,
      onProblem,
      documents: memoryDocuments({ clock }),
      logs: memoryLogs({ clock }),
      channel: memoryChannel(),
    },
    responder: scripted((turn) => script(turn)),
    oracle: { name: 'Twinline', did: key.did, entityDid: key.did },
  });
  const streams = eventStreams({ clock, onProblem });
  const guard = tokenGuard({
    audience: key.did,
    clock,
    maxTtlSeconds: { invocation: 900 },
    revoked: async () => false,
  });
  // Nothing here asks for delegations.
  const unasked = {
    guard,
    delegationAuth: false,
    delegations: undefined as never,
    redact: redactor([]),
    onFault: onProblem,
  };
  const readers = { admit: () => new AbortController().signal };
  const plugins = { doors: [], routers: [], routes: [], free: new Set<string>(), gate: async () => {} };
  const models = { model: undefined, agent: undefined as never };
  const door = agentDoor({ ...unasked, agent, streams, readers, plugins, models });
  const router = new Router({ sensitive: true, strict: true });
  router.use(jsonBody());
  addRoutes(router, PAGE_FILE_ROUTES, { deps: undefined });
  const everybody: Koa.Middleware = (_ctx, next) => next();
  addRoutes(
    router,
    { tag: 'Chat', description: 'Chat', access: 'operator', routes: CHAT_ROUTES },
    {
      deps: { keyring: parseKeyring(PIN_KEY), audience: key.did, maxTtlSeconds: 900, writer },
      guards: { operator: everybody, ownPages: ownPagesOnly() },
    },
  );
  const app = new Koa();
  app.use((ctx, next) => {
    ctx.state.requestId = 'request';
    return next();
  });
  app.use(door).use(router.routes());
  const server = createServer(app.callback());
  const url = await listening(server);
  const place: ChatPlace = {
    url,
    agent,
    problems,
    answer: (next) => {
      script = next;
    },
    cut: () => server.closeAllConnections(),
  };
  const close = async () => {
    streams.close();
    await agent.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { place, close };
}

function listening(server: Server): Promise<string> {
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)),
  );
}
