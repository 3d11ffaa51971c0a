// Checks of the endpoint of a model: whether it answers, takes the key, and has the models that are configured.

import { modelListRequest } from '../../lib/agent/responders/model.ts';
import { systemClock } from '../../lib/clock.ts';
import { TwinlineError } from '../../lib/errors.ts';
import { boundedFetch } from '../../lib/http/bounded-fetch.ts';
import { isObject } from '../../lib/shape.ts';
import { advice, broken, type Check, type Finding, fine, type Patient } from './check.ts';

const ASK_MS = 5_000;
const LIST_BYTES = 4_194_304;

export const MODEL_CHECKS: readonly Check[] = [
  { name: 'model answers', when: ({ config }) => config.model !== undefined, run: answerFinding },
];

type Model = NonNullable<Patient['config']['model']>;

async function answerFinding({ config }: Patient): Promise<Finding> {
  const model = config.model!;
  const { url, headers } = modelListRequest(model);
  const bounds = { headersMs: ASK_MS, stallMs: ASK_MS, bytes: LIST_BYTES, lineBytes: LIST_BYTES };
  try {
    const answer = await boundedFetch({ clock: systemClock, ...bounds })(url, { headers });
    return judge(model, { status: answer.status, text: await answer.text(), host: url.host });
  } catch (error) {
    const why = error instanceof TwinlineError ? error.message : 'the connection failed';
    return broken(`the model at ${url.host} does not answer: ${why}`, 'Check MODEL_BASE_URL, and that it runs.');
  }
}

interface Answered {
  readonly status: number;
  readonly text: string;
  readonly host: string;
}

function judge({ name, others }: Model, { status, text, host }: Answered): Finding {
  if (status === 401 || status === 403) return broken(`${host} refuses the key (${status})`, 'Set MODEL_API_KEY.');
  if (status >= 500) return broken(`${host} is broken (${status})`, 'Look at its own log.');
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
