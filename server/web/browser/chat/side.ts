// The list of chats, most recently used first, to open or delete.

import type { ChatSession } from '../../../../lib/agent/session/session.ts';
import { button, element } from '../element.ts';
import { deleteSession, sessionPage } from './service.ts';

export interface Side {
  /** Reads the list again. */
  refresh(): Promise<void>;
  /** Marks the open chat. */
  mark(session: string | undefined): void;
  findTitle(session: string): string | undefined;
}

export interface SideDeps {
  readonly list: HTMLElement;
  readonly more: HTMLElement;
  readonly onDeleted: (session: string) => void;
  readonly onTrouble: (error: unknown) => void;
}

const PAGE = 20;
const MOST = 100;

export function side({ list, more, onDeleted, onTrouble }: SideDeps): Side {
  let sessions: readonly ChatSession[] = [];
  let open: string | undefined;
  let shown = PAGE;

  async function refresh(): Promise<void> {
    const page = await sessionPage(Math.min(MOST, shown), 0);
    sessions = page.sessions;
    more.hidden = page.total <= sessions.length || shown >= MOST;
    draw();
  }

  function draw(): void {
    const focused = (document.activeElement as HTMLElement | null)?.dataset.session;
    list.replaceChildren(...sessions.map(item));
    if (focused !== undefined) list.querySelector<HTMLElement>(`a[data-session="${focused}"]`)?.focus();
  }

  function item({ sessionId, title, lastUpdatedAt }: ChatSession): HTMLElement {
    const is = { href: `#${sessionId}`, 'data-session': sessionId, 'aria-current': sessionId === open && 'page' };
    const name = title ?? 'New chat';
    const remove = button('Delete', () => deleteOnSecondPress(remove, sessionId), {
      is: { 'aria-label': `Delete “${name}”` },
    });
    return element('li', {}, [
      element('a', { is }, [
        element('span', { class: 'name', text: name }),
        element('span', {
          class: 'at',
          text: new Date(lastUpdatedAt).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' }),
        }),
      ]),
      remove,
    ]);
  }

  // Deletes only on a second press within a moment.
  function deleteOnSecondPress(pressed: HTMLButtonElement, session: string): void {
    if (pressed.dataset.asked) {
      deleteSession(session).then(() => onDeleted(session), onTrouble);
      return;
    }
    pressed.dataset.asked = 'yes';
    pressed.textContent = 'Really?';
    setTimeout(() => {
      delete pressed.dataset.asked;
      pressed.textContent = 'Delete';
    }, 3_000);
  }

  more.addEventListener('click', () => {
    shown += PAGE;
    refresh().catch(onTrouble);
  });

  return {
    refresh,
    mark(session) {
      open = session;
      draw();
    },
    findTitle: (session) => sessions.find(({ sessionId }) => sessionId === session)?.title,
  };
}
