// Opens the studio of a server, or routes that say it is off.

import type { Clock } from '../../../lib/clock.ts';
import type { Library } from '../../../lib/engine/conversation.ts';
import type { Services } from '../../../lib/engine/service.ts';
import type { LintDoors } from '../../../lib/flow/lint/lint.ts';
import type { Contracts } from '../../../lib/flow/lint/shapes.ts';
import { flowsIn } from '../../../lib/flow/run/compile.ts';
import type { JsonObject } from '../../../lib/json/json.ts';
import type { Keyring } from '../../../lib/keyring.ts';
import { html } from '../../../lib/markup.ts';
import type { DocumentStore } from '../../../lib/store/store.ts';
import { PAGE, PAGE_LIMITED, PLAIN_ANSWERS, SIGN_IN_ANSWER, UNKNOWN } from '../../http/common-answers.ts';
import type { RouteGroup } from '../../http/route-table.ts';
import type { DialChoice } from '../../menus/dialled.ts';
import { flowFiles } from '../../menus/files.ts';
import type { MenuHome } from '../../menus/home.ts';
import type { Drawings } from '../diagram/drawings.ts';
import { messagePage, sendPage } from '../kit/frame.ts';
import { PREVIEW, previewLinks } from '../preview/links.ts';
import { turnLimiter } from '../preview/routes.ts';
import type { ServiceRecorder } from '../simulator/flow-test.ts';
import { drafts } from './drafts.ts';
import type { NoteDeed, StudioDeps } from './requests.ts';
import { STUDIO_ROUTES } from './routes.ts';
import { STUDIO_VERSION, versions } from './versions.ts';

export interface StudioOptions {
  /** Folder of the flows. */
  readonly home: MenuHome;
  readonly dialled: DialChoice;
  /** The flow that answers chats. */
  readonly chatFlow: string;
  /** Whether a save keeps a draft; else it publishes. */
  readonly savesDrafts: boolean;
  readonly library: Library;
  readonly services: Services;
  /** Their inputs and outputs, as far as known. @default those of ours */
  readonly contracts?: Contracts | undefined;
  /** Whether dialled drafts call services. */
  readonly callsServices: boolean;
  /** For lint. */
  readonly doors: LintDoors;
  readonly documents: DocumentStore;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly keyring: Keyring;
  /** How others reach this server. @default as an operator does */
  readonly publicUrl: string | undefined;
  readonly drawings: Pick<Drawings, 'draw'>;
  readonly recorder: Pick<ServiceRecorder, 'answers'>;
  readonly note: NoteDeed;
  readonly reload: () => Promise<void>;
}

/** Opens the studio. Close it at the end. */
export async function openStudio(options: StudioOptions): Promise<StudioDeps & { close(): Promise<void> }> {
  const { library, services, contracts, documents, clock, doors, keyring, ...deps } = options;
  const { callsServices } = deps;
  await documents.declare([STUDIO_VERSION, PREVIEW]);
  const flows = () => flowsIn(library);
  const isMachine = (name: string) => library.ids.includes(name) && !flows().has(name);
  const own = drafts({ flows, services, contracts, callsServices, doors });
  const previewDrafts = drafts({ flows, services, contracts, callsServices: false, doors });
  return {
    ...deps,
    services,
    files: flowFiles(deps.home, isMachine),
    noteEdit: ({ by, ...edit }) => deps.note('menus.edited', by, edit as unknown as JsonObject),
    drafts: own,
    previews: {
      links: previewLinks({ documents, keyring, clock }),
      drafts: previewDrafts,
      limitTurns: turnLimiter(clock),
    },
    close: async () => {
      await Promise.all([own.close(), previewDrafts.close()]);
    },
    versions: versions(documents, clock),
  };
}

const OFF = messagePage(
  'The studio is off',
  html`<p>Start the server with <code>STUDIO=true</code> to let operators edit flows in the browser.</p>
<p>Flows are files: any editor will do. Saved files are checked, tested and served at once.</p>`,
);

/** Routes without a studio. */
export const NO_STUDIO: RouteGroup<undefined> = {
  tag: 'Studio',
  description: 'Says how to turn the studio on.',
  access: 'operator',
  answers: { ...PLAIN_ANSWERS, 429: PAGE_LIMITED, 401: SIGN_IN_ANSWER },
  routes: [
    {
      method: 'GET',
      path: '/studio',
      id: 'getStudio',
      summary: 'The studio is off',
      answers: { 404: { ...UNKNOWN, types: { ...UNKNOWN.types, ...PAGE.types } } },
      handle: async (ctx) => {
        ctx.status = 404;
        await sendPage(ctx, OFF);
      },
    },
  ],
};

/** The routes of the studio, or those that say it is off. */
export const studioRouteGroup = (isOn: boolean): RouteGroup<StudioDeps> | RouteGroup<undefined> =>
  isOn ? STUDIO_ROUTES : NO_STUDIO;
