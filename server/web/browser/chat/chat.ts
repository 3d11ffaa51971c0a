// The page of chats: the open chat, its composer, and the run that answers, resumed after a reload.

import type { RunView } from '../../../../lib/agent/run/run.ts';
import type { Message, MessagePage } from '../../../../lib/agent/session/message.ts';
import type { ReplyStream } from '../../../../lib/client/agent.ts';
import { ProblemError } from '../../../../lib/client/errors.ts';
import type { ListenOptions } from '../../../../lib/client/events.ts';
import { findElement } from '../element.ts';
import { startHeader } from '../site.ts';
import type { ReplyView } from './reply.ts';
import { abortRun, follow, makeMessageId, messagePage, newSession, openRun, sendMessage, user } from './service.ts';
import { side } from './side.ts';
import { thread } from './thread.ts';

startHeader();

const composer = findElement<HTMLFormElement>('composer');
const message = findElement<HTMLTextAreaElement>('message');
const stop = findElement<HTMLButtonElement>('abort');
const send = findElement<HTMLButtonElement>('send');
const state = findElement('state');
const trouble = findElement('trouble');

/** The open chat, and the run that is being read. */
let open: string | undefined;
let run: string | undefined;
let reading = new AbortController();

/** Last message of the user, to retry after a failed reply. */
let lastSaid = '';

const shown = thread(findElement('messages'), {
  writer: findElement('messages').dataset.writer as 'flow' | 'model',
  choose: (key) => void say(key),
  retry: () => void say(lastSaid),
});
const list = side({
  list: findElement('sessions'),
  more: findElement('more'),
  onDeleted: (session) => {
    if (session === open) location.hash = '';
    void refresh();
  },
  onTrouble: tellTrouble,
});

function tellTrouble(error: unknown): void {
  const isOurs = error instanceof ProblemError;
  trouble.textContent = isOurs ? error.message : 'The server does not answer. Is it running?';
  trouble.hidden = false;
}

function setRun(next: string | undefined): void {
  run = next;
  stop.hidden = next === undefined;
  send.hidden = next !== undefined;
  state.textContent = next === undefined ? '' : 'Answering…';
}

/** Shows the transcript of a chat and resumes reading the reply in progress. */
async function show(session: string | undefined): Promise<void> {
  reading.abort();
  reading = new AbortController();
  const { signal } = reading;
  open = session;
  setRun(undefined);
  trouble.hidden = true;
  shown.older(undefined);
  list.mark(session);
  title();
  shown.clear(session === undefined ? 'Write a message to start a new chat.' : 'Reading…');
  if (session === undefined) return;
  try {
    // In this order: the answer of a run that ends in between is in the transcript.
    const live = await openRun(session);
    const page = await messagePage(session);
    if (signal.aborted) return;
    shown.clear('No messages yet.');
    const [question, answer] = live ? await Promise.all([makeId(live, 'human'), makeId(live, 'ai')]) : [];
    lastSaid = page.messages.findLast(({ type }) => type === 'human')?.content ?? '';
    shown.prepend(page.messages.filter(({ id }) => id !== answer));
    offerOlder(session, page.hasOlder ? page.prevCursor : null);
    if (!live) return;
    const isAsked = question === undefined || page.messages.some(({ id }) => id === question);
    const onFirst = isAsked ? undefined : async () => tellQuestion(await messagePage(session), question);
    await read(follow(live.runId, followOptions(signal)), { signal, onFirst });
    // Without message ids, read the transcript again.
    if (question === undefined && !signal.aborted) await show(session);
  } catch (error) {
    if (!signal.aborted) tellTrouble(error);
  }
}

const makeId = ({ runId }: RunView, type: Message['type']) => makeMessageId(runId, type);

// The question of a queued run was not in the transcript.
function tellQuestion({ messages }: MessagePage, id: string): void {
  const question = messages.find((one) => one.id === id);
  if (question) shown.addMessage(question.content);
}

function offerOlder(session: string, cursor: string | null): void {
  const load = async () => {
    try {
      const page = await messagePage(session, cursor!);
      if (session !== open) return;
      shown.prepend(page.messages);
      offerOlder(session, page.hasOlder ? page.prevCursor : null);
    } catch (error) {
      tellTrouble(error);
    }
  };
  shown.older(cursor === null ? undefined : load);
}

const followOptions = (signal: AbortSignal): ListenOptions => ({
  signal,
  onConnected: (isConnected) => {
    if (run !== undefined) state.textContent = isConnected ? 'Answering…' : 'The connection is lost. Trying again…';
  },
});

interface ReplyReading {
  readonly signal: AbortSignal;
  /** Runs before the first frame is shown. */
  readonly onFirst?: (() => Promise<void>) | undefined;
}

/** Shows a reply as it arrives. The run continues without readers. */
async function read(frames: ReplyStream, { signal, onFirst }: ReplyReading): Promise<void> {
  setRun(frames.runId);
  let reply: ReplyView | undefined;
  try {
    for await (const frame of frames) {
      if (!reply) await onFirst?.();
      if (signal.aborted) return;
      reply ??= shown.reply();
      const view = reply;
      shown.growing(() => view.take(frame));
    }
  } catch (error) {
    if (signal.aborted) return;
    reply?.end('interrupted');
    tellTrouble(error);
  }
  if (signal.aborted) return;
  setRun(undefined);
  message.focus();
  await refresh();
}

async function say(text: string): Promise<void> {
  if (run !== undefined || text.trim() === '') return;
  trouble.hidden = true;
  const { signal } = reading;
  try {
    const session = open ?? (await begin());
    lastSaid = text;
    shown.addMessage(text);
    setRun('');
    await read(await sendMessage(session, text, followOptions(signal)), { signal });
  } catch (error) {
    if (signal.aborted) return;
    // The transcript tells whether the message arrived.
    await show(open);
    message.value = text;
    tellTrouble(error);
  }
}

async function begin(): Promise<string> {
  const { sessionId } = await newSession();
  open = sessionId;
  history.pushState(null, '', `#${sessionId}`);
  await list.refresh();
  list.mark(sessionId);
  return sessionId;
}

async function refresh(): Promise<void> {
  await list.refresh().catch(tellTrouble);
  list.mark(open);
  title();
}

function title(): void {
  findElement('title').textContent = (open !== undefined && list.findTitle(open)) || 'New chat';
}

const fromAddress = () => (/^#[0-9a-f]{32}$/.test(location.hash) ? location.hash.slice(1) : undefined);

composer.addEventListener('submit', (event) => {
  event.preventDefault();
  if (run !== undefined) {
    state.textContent = 'Answering… Wait, or stop the reply first.';
    return;
  }
  const text = message.value;
  message.value = '';
  void say(text);
});
message.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  composer.requestSubmit();
});
stop.addEventListener('click', () => {
  if (open !== undefined && run) abortRun(open, run).catch(tellTrouble);
});
findElement('new').addEventListener('click', () => {
  location.hash = '';
  message.focus();
});
addEventListener('hashchange', () => {
  if (fromAddress() !== open) void show(fromAddress());
});

user().then((did) => {
  findElement('user').textContent = `You are ${did}`;
}, tellTrouble);
void refresh();
void show(fromAddress());
