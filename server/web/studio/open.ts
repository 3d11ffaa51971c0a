// Opens the studio of a server: its files, drafts and versions; or only says that it is off.

import type { Clock } from '../../../lib/clock.ts';
import type { Library } from '../../../lib/engine/conversation.ts';
import type { Services } from '../../../lib/engine/service.ts';
import { flowsIn } from '../../../lib/flow/run/compile.ts';
import { html } from '../../../lib/markup.ts';
import type { DocumentStore } from '../../../lib/store/store.ts';
import { PAGE, PLAIN_ANSWERS, SIGN_IN_ANSWER, UNKNOWN } from '../../http/common-answers.ts';
import type { RouteGroup } from '../../http/route-table.ts';
import { flowFiles } from '../../menus/files.ts';
import type { Drawings } from '../diagram/drawings.ts';
import { messagePage, sendPage } from '../kit/frame.ts';
import type { ServiceRecorder } from '../simulator/flow-test.ts';
import { drafts } from './drafts.ts';
import type { NoteEdit, StudioDeps } from './requests.ts';
import { STUDIO_ROUTES } from './routes.ts';
import { STUDIO_VERSION, versions } from './versions.ts';

export interface StudioOptions {
  /** Where the flows are. */
  readonly folder: string;
  /** The flow that a dial starts. */
  readonly flow: string;
  readonly library: Library;
  readonly services: Services;
  /** Whether drafts that are dialled call them. */
  readonly callsServices: boolean;
  readonly documents: DocumentStore;
  readonly clock: Pick<Clock, 'now'>;
  readonly drawings: Pick<Drawings, 'draw'>;
  readonly recorder: Pick<ServiceRecorder, 'answers'>;
  readonly noteEdit: NoteEdit;
  readonly reload: () => Promise<void>;
}

/** Its drafts are to be closed. */
export async function openStudio(options: StudioOptions): Promise<StudioDeps> {
  const { folder, library, services, documents, clock, ...deps } = options;
  const { callsServices } = deps;
  await documents.declare([STUDIO_VERSION]);
  const flows = () => flowsIn(library);
  const isMachine = (name: string) => library.ids.includes(name) && !flows().has(name);
  return {
    ...deps,
    files: flowFiles(folder, isMachine),
    drafts: drafts({ flows, services, callsServices }),
    versions: versions(documents, clock),
  };
}

const OFF = messagePage(
  'The studio is off',
  html`<p>Flows are not written in the browser here. Start the server with <code>STUDIO=true</code>, and operators can.</p>
<p>Flows are files: any editor will do. Saved files are checked, tested and served at once.</p>`,
);

/** What is served where there is no studio. */
export const NO_STUDIO: RouteGroup<undefined> = {
  tag: 'Studio',
  description: 'Says how to switch it on.',
  access: 'operator',
  answers: { ...PLAIN_ANSWERS, 401: SIGN_IN_ANSWER },
  routes: [
    {
      method: 'GET',
      path: '/studio',
      id: 'getStudio',
      summary: 'Says that the studio is off',
      answers: { 404: { ...UNKNOWN, types: { ...UNKNOWN.types, ...PAGE.types } } },
      handle: async (ctx) => {
        ctx.status = 404;
        await sendPage(ctx, OFF);
      },
    },
  ],
};

/** The routes of the studio, or those that say that there is none. */
export const studioRouteGroup = (isOn: boolean): RouteGroup<StudioDeps> | RouteGroup<undefined> =>
  isOn ? STUDIO_ROUTES : NO_STUDIO;
