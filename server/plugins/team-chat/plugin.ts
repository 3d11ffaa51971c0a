// The plugin `team-chat`: messages of a team chat such as Slack are answered by the agent, in their threads.

import { record } from '../../../lib/domain/schema/twin-answers.ts';
import { TwinlineError } from '../../../lib/errors.ts';
import { AGENT_ERROR } from '../../user/errors.ts';
import type { Plugin, PluginDocumentation } from '../plugin.ts';
import type { TeamChatSettings } from '../settings.ts';
import { type ChatApi, carryOn, sweepTurns } from './answer.ts';
import { readEvent } from './event.ts';
import { isSigned } from './signature.ts';
import { THREAD, TURN, takeIn } from './turn.ts';

const PATH = '/team-chat/events';

export function teamChatPlugin({ signingSecret, botToken, replyUrl }: TeamChatSettings): Plugin {
  if (signingSecret === undefined || botToken === undefined) throw missing({ signingSecret, botToken });
  const api: ChatApi = { url: replyUrl, token: botToken };
  return {
    name: 'team-chat',
    version: '1.0.0',
    kinds: [TURN, THREAD],
    authExcluded: [{ path: PATH, method: 'POST' }],
    documentation,
    routes(router, ctx) {
      router.post(PATH, ctx.jsonBody as never, async (koa) => {
        const { body, rawBody = '' } = koa.request as { body?: unknown; rawBody?: string };
        const timestamp = koa.get('x-slack-request-timestamp');
        const signed = { timestamp, signature: koa.get('x-slack-signature'), body: rawBody };
        if (!isSigned(signingSecret, signed, ctx.clock.now()))
          throw ctx.refuse(401, 'The signature is missing, wrong or too old', { error: 'Unauthorized' });
        const event = readEvent(body);
        if (event.kind === 'challenge') koa.body = { challenge: event.challenge };
        else koa.body = { ok: true };
        if (event.kind !== 'said') return;
        // The chat waits three seconds for an answer, and the agent may take longer.
        const turn = await takeIn(ctx, event.said);
        if (turn) void carryOn(ctx, api, turn);
      });
    },
    sweep: (ctx) => sweepTurns(ctx, api),
  };
}

function missing(secrets: Pick<TeamChatSettings, 'signingSecret' | 'botToken'>): TwinlineError {
  const lines = Object.entries({
    signingSecret:
      'TEAM_CHAT_SIGNING_SECRET: is not set, and the plugin team-chat needs it. Copy it from the settings of your chat app.',
    botToken:
      'TEAM_CHAT_BOT_TOKEN: is not set, and the plugin team-chat needs it. Copy it from the settings of your chat app.',
  }).filter(([name]) => secrets[name as keyof typeof secrets] === undefined);
  return new TwinlineError('ERR_CONFIG', lines.map(([, line]) => line).join('\n'));
}

const TEXT = { type: 'string' };
const documentation: PluginDocumentation = {
  description: 'Messages of a team chat, signed by it; their replies are posted to its API.',
  routes: [
    {
      method: 'POST',
      path: PATH,
      id: 'receiveTeamChat',
      summary: 'An event of the team chat',
      headers: {
        'X-Slack-Request-Timestamp': { description: 'Seconds since 1970', schema: TEXT },
        'X-Slack-Signature': { description: '`v0=` and the HMAC-SHA256 of `v0:<timestamp>:<body>`', schema: TEXT },
      },
      body: { types: { 'application/json': { type: 'object', additionalProperties: true } } },
      answers: {
        200: {
          description: 'It is taken in, or it was before; or the challenge is given back',
          types: {
            'application/json': record('Taken in', { ok: { const: true }, challenge: TEXT }, ['ok', 'challenge']),
          },
        },
        400: { description: 'The body is no JSON', types: { 'application/json': AGENT_ERROR } },
        413: { description: 'The body is too large', types: { 'application/json': AGENT_ERROR } },
        415: { description: 'The encoding of the body is not read', types: { 'application/json': AGENT_ERROR } },
      },
    },
  ],
};
