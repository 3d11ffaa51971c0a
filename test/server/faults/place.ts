// A server with all four doors whose dependencies stand behind proxies.

import { randomUUID } from 'node:crypto';
import type { Seams } from '../../../server/boot/start.ts';
import { withFolder } from '../../support/process.ts';
import { withGateway } from '../gateway/place.ts';
import { newUser, ORACLE_KEY, type User } from '../plugins/users.ts';
import { domainClient, writeKeys } from '../support/domain-client.ts';
import { ask } from '../support/serve.ts';
import { type Door, SHORT, type Windows } from './matrix.ts';
import { writeFlows } from './menus.ts';
import {
  dial,
  logIn,
  type MakeRequest,
  makeAccount,
  makeTwin,
  newCaller,
  sameAgain,
  say,
  summary,
} from './requests.ts';

export interface Place {
  readonly url: string;
  /** Its log so far. */
  printed(): string;
  /** What is asked of a door that needs nothing in particular. */
  readonly requests: { readonly [door in Door]: MakeRequest };
  /** Types the PIN of an account. */
  readonly logIn: MakeRequest;
  readonly user: User;
}

interface ServicePlace {
  /** Of the service that the flows call. */
  readonly url?: string | undefined;
  readonly windows?: Windows | undefined;
}

/** The settings of a server on these flows. */
export function placeSettings(folder: string, { url = 'http://localhost:1', windows = SHORT }: ServicePlace = {}) {
  writeFlows(folder, { url, callMs: windows.callMs });
  return {
    ...{ MENUS_DIR: folder, ORACLE_KEY, API_KEYS_FILE: writeKeys(folder), LOG_LEVEL: 'info' },
    ...{ USSD_TURN_DEADLINE_MS: String(windows.turnMs), SERVICE_HTTP_HOSTS: new URL(url).host },
  };
}

interface PlaceOptions extends Pick<Seams, 'webhookSender'> {
  readonly env?: NodeJS.ProcessEnv;
  readonly service?: ServicePlace;
  /** Of the query gateway, besides a node that works. */
  readonly gateway?: Readonly<Record<string, unknown>>;
}

/** Opens a server in this process; closes it when `work` is done. */
export function withPlace(options: PlaceOptions, work: (place: Place) => Promise<void>): Promise<void> {
  const { env, service, gateway, ...seams } = options;
  return withFolder((folder) =>
    withGateway(
      gateway ?? {},
      async ({ server, node }) => {
        node.script = () => ({ reply: { text: 'fine' } });
        await work(await openPlace(server.url, () => server.logged.map((line) => JSON.stringify(line)).join('\n')));
      },
      { env: { ...placeSettings(folder, service), ...env }, ...seams },
    ),
  );
}

/** The doors of a server that runs with {@link placeSettings}: makes a protocol, an account and a user. */
export async function openPlace(url: string, printed: () => string): Promise<Place> {
  const { send, post, protocol } = domainClient(() => url);
  await protocol('controller');
  const user = await newUser();
  await makeAccount(url);
  return {
    url,
    printed,
    requests: {
      ussd: () => dial(url, newCaller(), ['1', '1']),
      domain: () =>
        makeTwin({ send: (path) => send('controller', path), post: (...given) => post('controller', ...given) }),
      agent: () => say(url, user, 'hello'),
      gateway: async () => sameAgain(async () => summary(await ask(`${url}/grove/search?note=${randomUUID()}`))),
    },
    logIn: () => logIn(url),
    user,
  };
}
