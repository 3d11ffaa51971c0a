// The page of chats of a server whose replies a test gives piece by piece.

import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Test } from 'uvu';
import type { ResponderPart, ResponderTurn } from '../../../lib/agent/responder.ts';
import { scripted } from '../../agent/ground.ts';
import { sharedServer, testRoutes } from '../support/serve.ts';

type Script = (turn: ResponderTurn) => AsyncIterable<ResponderPart>;

export interface ChatPlace {
  /** Of the page. */
  readonly url: () => string;
  /** Replies to the messages that come from now on. */
  answer(script: Script): void;
  /** Breaks all connections, as a network does. */
  cut(): Promise<unknown>;
}

const MODEL = { MODEL_BASE_URL: 'http://127.0.0.1:1/v1', MODEL_NAME: 'scripted' };

/** One for all tests of a suite; its page shows replies as those of this writer. */
export function chatPlace(test: Pick<Test, 'before' | 'after'>, writer: 'flow' | 'model' = 'flow'): ChatPlace {
  let script: Script = async function* () {};
  const cut = testRoutes({
    'GET /cut': ({ req }) => (req.socket as Socket & { readonly server: Server }).server.closeAllConnections(),
  });
  const server = sharedServer(test, {
    env: writer === 'model' ? MODEL : {},
    routes: [cut],
    parts: { responder: scripted((turn) => script(turn)) },
  });
  return {
    url: () => `${server().url}/chat`,
    answer: (next) => {
      script = next;
    },
    cut: () =>
      server()
        .ask('/cut')
        .catch(() => {}),
  };
}
