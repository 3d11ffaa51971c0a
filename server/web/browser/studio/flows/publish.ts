// The dialog that publishes a draft: how it differs from what callers get, who saved and published when, and what stands in the way.

import type { TestedDraft } from '../../../studio/draft-work.ts';
import type { VersionEntry } from '../../../studio/versions.ts';
import { element, findElement } from '../../element.ts';
import { startCancel } from '../form/asking.ts';
import { showDifference } from '../look.ts';
import { get, post, type Refused } from '../requests.ts';
import type { OpenedFiles } from './opened.ts';

export interface PublishOptions {
  /** The name of the flow. */
  readonly flow: () => string;
  readonly base: () => OpenedFiles;
  /** Saves the draft; resolves to whether nothing is unsaved. */
  readonly save: () => Promise<boolean>;
  readonly onPublished: (files: OpenedFiles, words: string) => void;
}

export function startPublishing({ flow, base, save, onPublished }: PublishOptions): void {
  const dialog = findElement<HTMLDialogElement>('publish-draft');
  const reasons = findElement('publish-reasons');
  const publish = findElement<HTMLButtonElement>('publish-do');
  const drop = findElement('publish-drop');
  startCancel(dialog);

  async function open(): Promise<void> {
    if (!(await save()) || base().stage !== 'draft') return;
    const { published, ...draft } = base();
    findElement('publish-title').textContent = `Publish ${flow()}`;
    reasons.replaceChildren();
    publish.disabled = false;
    drop.hidden = published.flow.hash === '';
    const { versions } = await get<{ versions: VersionEntry[] }>(`/flows/${flow()}/versions`).catch(() => ({
      versions: [],
    }));
    findElement('publish-who').textContent = describeBoth(versions, published.flow.hash !== '');
    dialog.showModal();
    for (const part of ['flow', 'tests'] as const) {
      const isSame = published[part].text === draft[part].text;
      findElement(`publish-${part}`).hidden = isSame;
      if (!isSame) showDifference(findElement(`publish-${part}-diff`), published[part].text, draft[part].text);
    }
    findElement('publish-same').hidden =
      published.flow.text !== draft.flow.text || published.tests.text !== draft.tests.text;
  }

  async function work(path: string, words: string): Promise<void> {
    const { flow: file, tests, published } = base();
    const hashes = { base: file.hash, testsBase: tests.hash, publishedBase: published.flow.hash };
    publish.disabled = true;
    reasons.replaceChildren(element('li', { class: 'quiet', text: 'Lint and tests run …' }));
    try {
      const files = await post<OpenedFiles>(path, { flow: flow(), ...hashes });
      dialog.close();
      onPublished(files, words);
    } catch (error) {
      publish.disabled = false;
      reasons.replaceChildren(...listReasons(error as Refused).map((text) => element('li', { class: 'bad', text })));
    }
  }

  publish.addEventListener('click', () => void work('/publish', 'Published: callers who dial from now on get it.'));
  drop.addEventListener('click', () => void work('/drop-draft', 'The draft was dropped. It is kept in the history.'));
  findElement('publish').addEventListener('click', () => void open());
}

/** Reasons shown at most. */
const REASONS = 20;

function listReasons({ status, body, message }: Refused): string[] {
  if (status !== 422) return [message];
  const { problems, reports } = body as TestedDraft;
  const lines = [
    ...problems
      .filter(({ severity }) => severity === 'error')
      .map((one) => `Line ${one.line}: ${one.message} ${one.fix}`),
    ...reports.flatMap(({ name, failures }) =>
      failures.map((failure) => `The test “${name}” fails: ${failure.message}`),
    ),
  ];
  return ['Not published.', ...lines.slice(0, REASONS)];
}

function describeBoth(versions: readonly VersionEntry[], isPublished: boolean): string {
  const find = (stage: VersionEntry['stage']) => versions.find((one) => one.stage === stage);
  const say = (one: VersionEntry | undefined) =>
    one === undefined || one.by === 'disk'
      ? 'outside of the studio'
      : `by ${one.by}, ${new Date(one.at).toLocaleString()}`;
  const before = isPublished
    ? `Callers get what was written ${say(find('published'))}.`
    : 'Callers get nothing of it yet.';
  return `${before} The draft was saved ${say(find('draft'))}. Callers who are in it finish on their version.`;
}
