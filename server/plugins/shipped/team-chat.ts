// The plugin `team-chat`: the agent answers messages of a team chat such as Slack in their threads.

import { TwinlineError } from '../../../lib/errors.ts';
import { record } from '../../../lib/json/schema.ts';
import type { TeamChatSettings } from '../../config/agent-settings.ts';
import { readInput } from '../../http/check-input.ts';
import { agentError, BODY_ANSWERS, jsonAnswer } from '../../user/errors.ts';
import type { Plugin, PluginRoute } from '../plugin.ts';
import { isSigned, readEvent } from './team-chat-event.ts';
import { type ChatApi, carryOn, sweepTurns, THREAD, TURN, takeIn } from './team-chat-turn.ts';

const TEXT = { type: 'string' };

function eventRoute(secret: string, api: ChatApi): PluginRoute {
  return {
    method: 'POST',
    path: '/team-chat/events',
    // Authenticated by the signature over the body, once that is read.
    access: 'public',
    id: 'receiveTeamChat',
    summary: 'An event of the team chat',
    headers: {
      'X-Slack-Request-Timestamp': { description: 'Seconds since 1970', schema: TEXT },
      'X-Slack-Signature': { description: '`v0=` and the HMAC-SHA256 of `v0:<timestamp>:<body>`', schema: TEXT },
    },
    body: { types: { 'application/json': { type: 'object', additionalProperties: true } } },
    answers: {
      200: jsonAnswer(
        'Accepted, now or before; or the challenge is returned',
        record('Accepted', { ok: { const: true }, challenge: TEXT }, ['ok', 'challenge']),
      ),
      ...BODY_ANSWERS,
    },
    async handle(koa, ctx) {
      const timestamp = koa.get('x-slack-request-timestamp');
      const { rawBody = '' } = koa.request as { rawBody?: string };
      const signedRequest = { timestamp, signature: koa.get('x-slack-signature'), body: rawBody };
      if (!isSigned(secret, signedRequest, ctx.clock.now()))
        throw agentError(401, 'The signature is missing, wrong or too old');
      const event = readEvent(readInput(koa).body);
      koa.body = event.kind === 'challenge' ? { challenge: event.challenge } : { ok: true };
      if (event.kind !== 'said') return;
      // The chat waits three seconds for an answer; the agent may take longer.
      const turn = await takeIn(ctx, event.said);
      if (turn) void carryOn(ctx, api, turn);
    },
  };
}

export function teamChatPlugin({ signingSecret, botToken, replyUrl }: TeamChatSettings): Plugin {
  if (signingSecret === undefined || botToken === undefined) {
    const missing = [
      ...(signingSecret === undefined ? ['TEAM_CHAT_SIGNING_SECRET'] : []),
      ...(botToken === undefined ? ['TEAM_CHAT_BOT_TOKEN'] : []),
    ];
    const fix = 'is not set, but the team-chat plugin requires it. Copy it from the settings of your chat app.';
    throw new TwinlineError('ERR_CONFIG', missing.map((name) => `${name}: ${fix}`).join('\n'));
  }
  const api: ChatApi = { url: replyUrl, token: botToken };
  return {
    name: 'team-chat',
    version: '1.0.0',
    kinds: [TURN, THREAD],
    documentation: { description: 'Signed messages of a team chat; replies are posted to its API.' },
    routes: [eventRoute(signingSecret, api)],
    sweep: (ctx) => sweepTurns(ctx, api),
  };
}
