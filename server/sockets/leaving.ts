// Who has to go: sockets whose token has expired or was revoked, by whichever instance, or whose session was deleted.

import type { Agent } from '../../lib/agent/agent.ts';
import type { Clock } from '../../lib/clock.ts';
import { LIMITS } from '../../lib/limits.ts';
import type { Channel } from '../../lib/store/channel.ts';
import type { Member, Members } from './member.ts';

export interface LeavingOptions {
  readonly agent: { readonly sessions: Pick<Agent['sessions'], 'owns'> };
  readonly members: Members;
  readonly channel: Channel;
  readonly clock: Clock;
  /** Whether a token with one of these keys was revoked. */
  readonly revoked: (keys: readonly string[]) => Promise<boolean>;
  readonly onProblem: (error: unknown) => void;
}

export interface Leaving {
  /** Watches a member as long as it is there. */
  watch(member: Member): void;
  /** Sends away everybody, on every instance, who came in with a token of these keys. */
  revoke(keys: readonly string[]): void;
  close(): void;
}

const TOPIC = 'sockets/revoked';

/** Begins to listen for revocations. */
export async function openLeaving(options: LeavingOptions): Promise<Leaving> {
  const { agent, members, channel, clock, onProblem } = options;

  const isOver = async ({ user, session }: Member) =>
    user.expiresAt <= clock.now() ||
    (await options.revoked(user.keys)) ||
    !(await agent.sessions.owns(user.did, session));

  async function look(member: Member): Promise<void> {
    try {
      if (await isOver(member)) sendAway(member);
    } catch (error) {
      // A store that is away sends nobody away; the next look may tell.
      onProblem(error);
    }
  }

  // The first look comes when the member is on the list: what was revoked before is in the store, what is revoked from
  // now on is told.
  async function stay(member: Member): Promise<void> {
    while (!member.gone.aborted) {
      await look(member);
      const left = member.user.expiresAt - clock.now();
      await clock.wait(Math.min(Math.max(left, 0), LIMITS.socketCheckMs), member.gone);
    }
  }

  function sendAwayAll(keys: readonly string[]): void {
    for (const member of members.all()) if (member.user.keys.some((key) => keys.includes(key))) sendAway(member);
  }

  const unsubscribe = await channel.subscribe(TOPIC, {
    onMessage: (message) => sendAwayAll(JSON.parse(message) as string[]),
    onGap: () => void Promise.all(members.all().map(look)),
  });
  return {
    watch: (member) => void stay(member),
    revoke(keys) {
      sendAwayAll(keys);
      // Whoever does not hear of it looks for himself within LIMITS.socketCheckMs.
      channel.publish(TOPIC, JSON.stringify(keys)).catch(onProblem);
    },
    close: unsubscribe,
  };
}

const sendAway = ({ socket }: Member) => void socket.disconnect(true);
