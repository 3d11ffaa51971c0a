// Checks of what the doors need: menus and services, the model and MCP servers of the agent, the node behind the query gateway.

import { modelListRequest } from '../../lib/agent/responders/model.ts';
import { systemClock } from '../../lib/clock.ts';
import { TwinlineError } from '../../lib/errors.ts';
import { isObject } from '../../lib/given.ts';
import { boundedFetch } from '../../lib/http/bounded-fetch.ts';
import { listDialled } from '../../lib/ussd/codes.ts';
import { readMcpServers } from '../agent/mcp.ts';
import { loadModel } from '../agent/responders.ts';
import { readGatewayFile } from '../gateway/file.ts';
import { openCatalog } from '../gateway/open.ts';
import { lintRulesFrom } from '../menus/lint-rules.ts';
import { machinesFrom } from '../menus/machines.ts';
import { lintDoors, loadMenus } from '../menus/menus.ts';
import { servicesFrom } from '../menus/services.ts';
import { advice, brokenFinding, type CheckContext, type DoctorCheck, type Finding, fine } from './check.ts';

const ASK_MS = 5_000;
const LIST_BYTES = 4_194_304;

export const MODEL_CHECKS: readonly DoctorCheck[] = [
  { name: 'model answers', when: ({ config }) => config.model !== undefined, run: answerFinding },
];

type Model = NonNullable<CheckContext['config']['model']>;

async function answerFinding({ config }: CheckContext): Promise<Finding> {
  const model = config.model!;
  const { from } = model;
  if ('module' in from)
    return loadModel(from.module).then(
      ({ modelId }) => fine(`${from.module} exports ${modelId}; it is not asked`),
      (error: TwinlineError) => brokenFinding(error.message, 'Check MODEL.'),
    );
  const { url, headers } = modelListRequest(from);
  const bounds = { headersMs: ASK_MS, stallMs: ASK_MS, bytes: LIST_BYTES, lineBytes: LIST_BYTES };
  try {
    const answer = await boundedFetch({ clock: systemClock, ...bounds })(url, { headers });
    return judge(model, { status: answer.status, text: await answer.text(), host: url.host });
  } catch (error) {
    const why = error instanceof TwinlineError ? error.message : 'the connection failed';
    return brokenFinding(`the model at ${url.host} does not answer: ${why}`, 'Check MODEL_BASE_URL, and that it runs.');
  }
}

interface DoorAnswer {
  readonly status: number;
  readonly text: string;
  readonly host: string;
}

function judge({ name, others }: Model, { status, text, host }: DoorAnswer): Finding {
  if (status === 401 || status === 403)
    return brokenFinding(`${host} refuses the key (${status})`, 'Set MODEL_API_KEY.');
  if (status >= 500) return brokenFinding(`${host} is broken (${status})`, 'Look at its own log.');
  const listed = status === 200 ? namesIn(text) : undefined;
  if (!listed) {
    const words = `${host} answers, and lists no models (${status})`;
    return advice(words, 'Make sure that MODEL_BASE_URL ends as the endpoint wants it, with /v1.');
  }
  const missing = [name, ...others].filter((one) => !listed.includes(one));
  if (!missing.length) return fine(`${host} answers and has ${[name, ...others].join(', ')}`);
  return advice(`${host} does not list ${missing.join(', ')}`, `It has ${listed.slice(0, 10).join(', ') || 'none'}.`);
}

function namesIn(text: string): string[] | undefined {
  try {
    const { data } = JSON.parse(text) as { data?: unknown };
    return Array.isArray(data) ? data.map((one) => String(isObject(one) ? one.id : one)) : undefined;
  } catch {
    return undefined;
  }
}

export const MCP_CHECKS: readonly DoctorCheck[] = [
  { name: 'MCP servers answer', when: ({ config }) => config.mcpServersFile !== undefined, run: serverFindings },
];

async function serverFindings({ config }: CheckContext): Promise<Finding[]> {
  const servers = readMcpServers(config.mcpServersFile!);
  const { mcpConnection, mcpSdk } = await import('../../lib/agent/mcp/connection.ts');
  const sdk = await mcpSdk();
  return Promise.all(
    servers.map(async (server) => {
      const problems: unknown[] = [];
      const onProblem = (error: unknown) => void problems.push(error);
      const connection = mcpConnection(server, { sdk, clock: systemClock, onProblem });
      await connection.look();
      const count = connection.tools().length;
      await connection.close();
      const [problem] = problems;
      if (problem !== undefined)
        return brokenFinding(describeError(problem), `Check its url and headers in ${config.mcpServersFile}.`);
      if (count > 0) return fine(`"${server.name}" answers and offers ${count} tools`);
      return advice(`"${server.name}" answers and offers no tool that can be called`, 'Look at its own settings.');
    }),
  );
}

const describeError = (error: unknown) => (error instanceof TwinlineError ? error.message : 'the connection failed');

const READY_MS = 2_000;

export const GATEWAY_CHECKS: readonly DoctorCheck[] = [
  {
    name: 'query gateway',
    when: ({ config }) => config.gatewayFile !== undefined,
    run: async ({ config }): Promise<Finding[]> => {
      const file = readGatewayFile(config.gatewayFile!);
      const { catalog, channel } = await openCatalog(file, { patienceMs: READY_MS });
      try {
        const calls = catalog.routes.filter(({ use }) => use === 'call').length;
        const words = `${calls} of ${catalog.routes.length} routes of ${config.gatewayFile} lead to methods`;
        const odd = catalog.warnings.map((warning) => advice(warning, 'See: npx twinline gateway routes'));
        return [
          fine(words),
          ...odd,
          ...gateFinding(file.settings.gate !== undefined, config.production),
          await nodeFinding(channel),
        ];
      } finally {
        await channel.close();
      }
    },
  },
];

function gateFinding(isGated: boolean, production: boolean): Finding[] {
  if (isGated || !production) return [];
  return [advice('the query gateway has no gate: everybody may ask the node through it', 'Set "gate" in its file.')];
}

async function nodeFinding(channel: Awaited<ReturnType<typeof openCatalog>>['channel']): Promise<Finding> {
  if (await channel.ready(READY_MS)) return fine(`the node ${channel.name} of the query gateway answers`);
  const { trouble } = channel.health();
  const why = trouble === undefined ? `no connection within ${READY_MS / 1_000} s` : trouble;
  return brokenFinding(
    `the node ${channel.name} of the query gateway cannot be reached (${why})`,
    'Check "upstream" and "tls".',
  );
}

export const MENU_CHECKS: readonly DoctorCheck[] = [
  {
    name: 'menus',
    run: async ({ config, env }) => {
      const known = await servicesFrom(env);
      const rules = await lintRulesFrom(env);
      const machines = new Set((await machinesFrom(env, known.services)).map(({ id }) => id));
      const own = machines.size ? [fine(`machines load from MACHINES: ${[...machines].join(', ')}`)] : [];
      const doors = lintDoors(config);
      const menus = await loadMenus(
        { folder: config.menusDir, ...known, machines, rules, doors },
        listDialled(config.ussd),
      );
      const errors = menus.problems.filter(({ severity }) => severity === 'error').length + menus.failures.length;
      const words = `${menus.compiled.size} of ${menus.files.length} menus load from ${config.menusDir}`;
      if (errors) return [...own, brokenFinding(`${words}, with ${errors} errors`, 'See: npx twinline lint')];
      const warnings = menus.problems.length;
      return [...own, warnings ? advice(`${words}, with ${warnings} warnings`, 'See: npx twinline lint') : fine(words)];
    },
  },
];
