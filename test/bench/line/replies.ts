// `npm run bench -- replies`: a model's streamed reply, resumable and guarded by a token, beside what passes it on without either.

import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { parseOracleKey } from '../../../lib/delegation/oracle-key.ts';
import { mintInvocation } from '../../../lib/delegation/tokens.ts';
import { makeOracleKey } from '../../../server/config/data-dir.ts';
import { quartiles, type Row, us } from '../measure.ts';
import { cpuUs, type Target } from '../target.ts';
import { LOAD_CORE, pin } from './servers.ts';
import { onSite, type Site } from './site.ts';

const WARM_UP = 3;
const ROUNDS = 5;
/** Talks at a time, and replies of each in one round. */
const PACES = {
  human: { everyMs: 100, talks: 100, replies: 1 },
  fast: { everyMs: 2, talks: 16, replies: 20 },
} as const;

/** A server that talks; its talks go on from round to round. */
interface Speaker {
  readonly target: Target;
  /** Begins a talk; resolves with its address and the headers of its messages. */
  begin(everyMs: number): Promise<Talk>;
}

interface Talk {
  readonly path: string;
  readonly headers: Headers;
  readonly model: string;
}

type Headers = Readonly<Record<string, string>>;

export function replyRows(): Promise<Row[]> {
  return onSite(async (site) => {
    const rows: Row[] = [];
    for (const [pace, { everyMs, talks, replies }] of Object.entries(PACES)) {
      const speakers = await openSpeakers(site, { pace, everyMs });
      const costs = speakers.map((): number[] => []);
      const said = new Set<string>();
      const opened: Talk[][] = [];
      for (const speaker of speakers) opened.push(await openTalks(speaker, { everyMs, talks }));
      for (let round = 0; round < WARM_UP + ROUNDS; round++)
        for (const [at, speaker] of speakers.entries()) {
          const before = cpuUs(speaker.target);
          const texts = await Promise.all(opened[at]!.map((talk) => hear(speaker, talk, replies)));
          for (const text of texts.flat()) said.add(text);
          if (round >= WARM_UP) costs[at]!.push((cpuUs(speaker.target) - before) / (talks * replies));
        }
      if (said.size !== 1) throw new Error(`The servers do not say the same: ${[...said].join('\n')}`);
      const [ours, sdk, floor] = costs as [number[], number[], number[]];
      const what = `streamed reply of 60 words, one every ${everyMs} ms, resumable and guarded`;
      rows.push(
        row(`${what}, against Koa + AI SDK + LMDB, which resumes nothing`, [ours, sdk], 1),
        row(
          'the same, against node:http that passes the words on and puts two messages on the disk',
          [ours, floor],
          pace === 'human' ? 5 : 3.6,
        ),
        row('Koa + AI SDK + LMDB, against that node:http', [sdk, floor]),
      );
    }
    return rows;
  });
}

async function openSpeakers(site: Site, { pace, everyMs }: { pace: string; everyMs: number }): Promise<Speaker[]> {
  const model = await site.program('words.mjs', `words-${pace}`, []);
  pin(model.process.pid!, LOAD_CORE);
  const modelUrl = `http://127.0.0.1:${model.port}/v1`;
  const oracleKey = makeOracleKey();
  const env = { ORACLE_KEY: oracleKey, MODEL_BASE_URL: modelUrl, MODEL_NAME: String(everyMs) };
  const limits = { AGENT_SESSIONS_PER_USER: '100000', AGENT_USER_BYTES_PER_DAY: '1099511627776' };
  const { target } = await site.ours(`agent-${pace}`, { env: { ...env, ...limits } });
  const place = (kind: string) => join(site.folder, `${kind}-${pace}-data`);
  const peer = (kind: string) => site.program('chat.mjs', `${kind}-${pace}`, [kind, place(kind), modelUrl]);
  return [ourSpeaker(target, oracleKey), speaker(await peer('ai-sdk')), speaker(await peer('floor'))];
}

function speaker(target: Target): Speaker {
  let talks = 0;
  const begin = async (everyMs: number) => ({ path: `/messages/${++talks}`, headers: {}, model: String(everyMs) });
  return { target, begin };
}

/** Each talk has a user with a token of its own. */
function ourSpeaker(target: Target, oracleKey: string): Speaker {
  const oracle = parseOracleKey(oracleKey);
  const capability = { can: '*', with: 'ixo:oracle' };
  return {
    target,
    async begin(everyMs) {
      const key = parseOracleKey(makeOracleKey());
      const token = await mintInvocation({ key, audience: oracle.did, capability, expiresIn: 3_600 });
      const headers = { authorization: `Bearer ${token}`, 'x-auth-type': 'ucan' };
      const { sessionId } = JSON.parse(await post(target.port, '/sessions', { headers })) as { sessionId: string };
      return { path: `/messages/${sessionId}`, headers, model: String(everyMs) };
    },
  };
}

const agent = new Agent({ keepAlive: true });

async function openTalks(speaker: Speaker, { everyMs, talks }: { everyMs: number; talks: number }): Promise<Talk[]> {
  const opened: Talk[] = [];
  while (opened.length < talks) opened.push(await speaker.begin(everyMs));
  return opened;
}

/** What a user reads next in a talk: the text of each reply. */
async function hear(speaker: Speaker, { path, headers, model }: Talk, replies: number): Promise<string[]> {
  const texts: string[] = [];
  while (texts.length < replies) {
    const body = JSON.stringify({ message: 'Say sixty words', stream: true, model });
    const events = await post(speaker.target.port, path, { headers, body });
    if (!/^event: done$/m.test(events)) throw new Error(`A reply without an end: ${events.slice(0, 400)}`);
    const pieces = events.matchAll(/^event: message\n(?:id: \d+\n)?data: (.*)$/gm);
    texts.push([...pieces].map(([, data]) => (JSON.parse(data!) as { content: string }).content).join(''));
  }
  return texts;
}

function post(port: number, path: string, { headers, body }: { headers: Headers; body?: string }): Promise<string> {
  return new Promise((resolve, reject) => {
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const asked = request(
      { host: '127.0.0.1', port, path, method: 'POST', agent, headers: { ...headers, ...type } },
      (answer) => {
        let text = '';
        answer.setEncoding('utf8');
        answer.on('data', (chunk) => {
          text += chunk;
        });
        answer.on('end', () =>
          answer.statusCode! < 300 ? resolve(text) : reject(new Error(`${path}: ${answer.statusCode} ${text}`)),
        );
        answer.on('error', reject);
      },
    );
    asked.on('error', reject);
    asked.end(body);
  });
}

function row(what: string, [own, other]: readonly [number[], number[]], atMost?: number): Row {
  const { low, middle, high } = quartiles(own.map((cost, at) => cost / other[at]!));
  return {
    what,
    measured: `${us(quartiles(own).middle)} · ${us(quartiles(other).middle)}`,
    ratio: middle,
    spread: `${low.toFixed(2)}–${high.toFixed(2)}`,
    target: atMost === undefined ? undefined : { atMost },
  };
}
