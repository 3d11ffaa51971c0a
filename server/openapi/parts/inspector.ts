// The inspector, as OpenAPI describes it.

import type { Schema } from '../../../lib/domain/schema/parts.ts';
import { record } from '../../../lib/domain/schema/twin-answers.ts';
import { PLAIN_ANSWERS, REFUSED, UNKNOWN } from '../../http/common-answers.ts';
import type { Answered, RouteGroup } from '../../http/route-table.ts';

const TEXT: Schema = { type: 'string' };
const json = (schema: Schema) => ({ 'application/json': schema });
const PAGE: Answered = { description: 'The page', types: { 'text/html': TEXT } };

const MACHINE = record('A machine', {
  id: TEXT,
  kind: { enum: ['flow', 'lifecycle'] },
  version: { type: 'integer' },
  title: TEXT,
});

const SVG: Answered = {
  description: 'The drawing; of a large machine the part around one state',
  types: { 'image/svg+xml': TEXT },
  headers: { 'X-States': 'States of the machine', 'X-Shown': 'How many of them are drawn' },
};

export const INSPECTOR_PART: RouteGroup = {
  tag: 'Inspector',
  description:
    'Sessions, proposals, delegations and runs as they happen, for operators and pages of this server alone. It only reads, and nothing is noted while nobody watches. Secrets are left out, phone numbers are shortened, and nothing is shown of what people write to the agent.',
  access: 'operator',
  parameters: {
    file: { description: 'The id of a machine, and `.svg`', schema: TEXT },
    actor: { description: 'A session, as the stream names it', schema: TEXT },
  },
  answers: {
    ...PLAIN_ANSWERS,
    400: { description: 'The page of another site asks', types: json(REFUSED) },
    401: {
      description: 'Nobody is signed in; a browser gets a page to sign in on',
      types: { ...json(REFUSED), 'text/html': TEXT },
      headers: { 'WWW-Authenticate': 'How to come in' },
    },
    404: UNKNOWN,
  },
  routes: [
    { method: 'GET', path: '/inspector', id: 'getInspector', summary: 'Sessions live', answers: { 200: PAGE } },
    {
      method: 'GET',
      path: '/inspector/stream',
      id: 'watch',
      summary: 'What happens, in the format of Stately’s inspector',
      description:
        'Each `data:` is one message: `@xstate.actor`, `@xstate.event` or `@xstate.snapshot`. First come the sessions that live and the last 500 turns that were watched, then every turn once it is stored, of all instances. Whoever reads too slowly is cut off.',
      query: {
        definitions: {
          description: '`always`: every actor brings the config of its machine',
          schema: { enum: ['once', 'always'] },
        },
      },
      answers: { 200: { description: 'The stream', types: { 'text/event-stream': TEXT } }, 503: PLAIN_ANSWERS[503] },
    },
    {
      method: 'GET',
      path: '/inspector/stately',
      id: 'openStately',
      summary: 'The way to the inspector at stately.ai; as a WebSocket, the stream for Stately’s own tools',
      answers: { 200: PAGE },
    },
    {
      method: 'GET',
      path: '/inspector/machines',
      id: 'listMachines',
      summary: 'Flows and lifecycles',
      answers: {
        200: {
          description: 'The machines',
          types: json(record('Machines', { machines: { type: 'array', items: MACHINE } })),
        },
      },
    },
    {
      method: 'GET',
      path: '/inspector/machines/:file',
      id: 'drawMachine',
      summary: 'A machine as SVG',
      query: { focus: { description: 'The path of a state around which to draw', schema: TEXT } },
      answers: { 200: SVG },
    },
    {
      method: 'GET',
      path: '/inspector/sessions/:actor/flow-test',
      id: 'takeFlowTest',
      summary: 'A session that was watched from its beginning, as a file of flow tests',
      description: 'Dummies stand for secrets and hidden numbers; services answer what they answered.',
      answers: { 200: { description: 'The file', types: json(record('A file', { name: TEXT, text: TEXT })) } },
    },
  ],
};
