// The page of the studio: the text and tests of one flow, and the parts that follow their changes.

import type { TestedDraft } from '../../studio/draft-work.ts';
import { findElement } from '../element.ts';
import { startHeader } from '../site.ts';
import { checking, describeState } from './checking.ts';
import { dialling } from './dialling.ts';
import { openEditor } from './editor.ts';
import { beginning } from './flows/begin.ts';
import { startManaging } from './flows/manage.ts';
import { type OpenedFiles, openedPart } from './flows/opened.ts';
import { startPreviews } from './flows/preview.ts';
import { startPublishing } from './flows/publish.ts';
import type { SentText } from './followed.ts';
import { buildPart } from './form/building.ts';
import { editSteps } from './form/steps.ts';
import { pageParts } from './parts.ts';
import { get, post, type Refused } from './requests.ts';
import { countFailing, testing } from './testing.ts';
import { storeDrafts } from './unsaved.ts';
import { type Conflict, conflictPart, versionsPart, watchDisk } from './versions.ts';
import { wordsPart } from './words.ts';

startHeader();

const TEST_MS = 700;

const page = findElement('studio');
const flows = findElement<HTMLSelectElement>('flows');
const state = findElement('state');

let flow = '';
let failing = 0;
let isSaving = false;
/** The tests of the last run. */
let testsSent: SentText | undefined;
/** The flow that was asked for last. */
let wanted = '';
let testTimer: ReturnType<typeof setTimeout> | undefined;

const tell = (words: string) => {
  const notice = findElement('notice');
  notice.textContent = words;
  notice.hidden = words === '';
};

const editor = openEditor({
  host: findElement('editor'),
  flow: () => flow,
  onChange: (document) => {
    stored.keepSoon();
    showState();
    steps.show();
    if (document === 'tests') return testSoon();
    // Tests run after the check.
    clearTimeout(testTimer);
    checks.soon();
  },
  onMove: (offset) => builder.follow(checks.findScreen(offset)),
  onSave: () => void save(),
  onMissed: () => tell('The text there has changed. Wait for the next check.'),
});
const parts = pageParts(editor, () => refreshPart());
const opened = openedPart(editor, page.dataset.saves === 'draft');
const steps = editSteps({ editor, flow: () => flow, onSave: () => void save() });
const draft = () => ({ flow, text: editor.text('flow') });
const builder = buildPart({
  ...{ editor, flow: () => flow },
  findOffset: (screen) => checks.findOffset(screen),
  onText: (pointer) => parts.revealPointer('flow', pointer),
  tell: (words) => tell(words),
});
const checks = checking({
  editor,
  flow: () => flow,
  onPick: (offset) => parts.reveal('flow', offset),
  onChecked: () => {
    showState();
    builder.check(checks.problems);
    if (checks.errors) return builder.outdate();
    testSoon();
    refreshPart();
  },
  tell: (words) => tell(words),
});
const tests = testing({
  draft: () => {
    testsSent = editor.send('tests');
    return { ...draft(), tests: testsSent.text };
  },
  onUpdate: (text) => editor.change('tests', text),
  onPick: (pointer) => parts.revealPointer('tests', pointer),
  onTested: (tested) => {
    failing = countFailing(tested);
    if (testsSent?.isCurrent()) editor.problems('tests', tested.problems, testsSent);
    showState();
  },
});
const words = wordsPart({
  draft,
  write: (pointer, value) => {
    const range = editor.find('flow', pointer);
    if (range) editor.replace('flow', { ...range, insert: value });
  },
  onPick: (pointer) => parts.revealPointer('flow', pointer),
});
const versions = versionsPart({
  draft,
  onRestore: ({ text, tests: itsTests }) => {
    editor.change('flow', text);
    if (itsTests !== '') editor.change('tests', itsTests);
    tell(`The version is in the editor. ${opened.keepsDraft() ? 'Publish' : 'Save'} to serve it.`);
    parts.showDocument('flow');
  },
});
dialling({
  draft,
  onPick: (path) => {
    parts.open('drawing');
    builder.open(path.split('.')[0]!);
  },
  tests: () => editor.text('tests'),
  onRecorded: (text) => {
    editor.change('tests', text);
    tell('The dialogue was added to the tests. Save to write the file.');
    void tests.run();
  },
  tell,
});
const conflict = conflictPart({
  onTakeDisk: () => {
    stored.forget(flow);
    void load(flow);
  },
  onKeepMine: ({ file, present }) => {
    opened.base = { ...opened.base, [file]: present };
    showState();
  },
  tell,
});
const showConflict = (next: Conflict) => conflict.show(next, editor.text(next.file));
const stored = storeDrafts({
  flow: () => flow,
  unsaved: () => (opened.isDirty() ? { flow: editor.text('flow'), tests: editor.text('tests') } : undefined),
});
const flowList = beginning({
  open: () => ({ ...draft(), tests: editor.text('tests') }),
  onBegun: async (name, words) => {
    await flowList.refresh(name);
    await load(name);
    tell(words);
  },
});

startPreviews({ draft: () => ({ ...draft(), tests: editor.text('tests') }) });
startManaging({
  list: flowList,
  flow: () => flow,
  isDirty: opened.isDirty,
  onDone: async (name, words) => {
    await load(name);
    tell(words);
  },
});
startPublishing({
  flow: () => flow,
  base: () => opened.base,
  save: async () => {
    await save(true);
    return !opened.isDirty();
  },
  onPublished: (files, words) => {
    reopen(files);
    tell(words);
    void flowList.refresh(flow);
  },
});

function showState(): void {
  const { errors, warnings } = checks;
  state.textContent = describeState(opened.describe(isSaving), { errors, warnings, failing });
  state.classList.toggle('wrong', errors + failing > 0);
  opened.showButtons(isSaving);
}

function testSoon(): void {
  clearTimeout(testTimer);
  testTimer = setTimeout(() => void tests.run(), TEST_MS);
}

/** Refreshes the open part. */
function refreshPart(): void {
  if (!flow) return;
  const { part } = page.dataset;
  if (part === 'drawing' || part === 'text') void builder.draw(draft());
  if (part === 'drawing') void builder.refresh();
  if (part === 'words') void words.refresh();
  if (part === 'history') void versions.refresh();
}

async function save(asDraft = false): Promise<void> {
  if (isSaving || !opened.isDirty()) return;
  isSaving = true;
  showState();
  tell('');
  try {
    const saved = await post<OpenedFiles>('/save', opened.request(flow, asDraft));
    opened.base = saved;
    stored.forget(flow);
    if (opened.isDirty()) stored.keepSoon();
    tell(
      saved.stage === 'draft'
        ? 'Saved as a draft. Callers get it when it is published.'
        : `Saved in ${saved.file} and served.`,
    );
    void flowList.refresh(flow);
    refreshPart();
  } catch (error) {
    showRefusal(error as Refused);
  }
  isSaving = false;
  showState();
}

function showRefusal({ status, body, message }: Refused): void {
  if (status === 409) return void showConflict(body as Conflict);
  if (status !== 422) return void tell(`Not saved: ${message}`);
  const refused = body as TestedDraft;
  if (refused.reports.length || refused.problems.length) tests.show({ ...refused, problems: [] });
  failing = refused.reports.filter(({ failures }) => failures.length).length;
  tell(checks.errors ? 'Not saved: the flow has errors.' : 'Not saved: its tests fail.');
  if (!checks.errors) parts.open('tests');
}

async function load(name: string): Promise<void> {
  wanted = name;
  flows.value = name;
  conflict.hide();
  const files = await get<OpenedFiles>(`/flows/${encodeURIComponent(name)}`).catch((error: Error) => error);
  if (wanted !== name) return;
  if (files instanceof Error) {
    flows.value = flow;
    return tell(files.message);
  }
  stored.keepNow();
  // The name changes with the text: what is asked meanwhile is about the flow of before.
  flow = name;
  opened.base = files;
  findElement('file').textContent = files.file;
  const unsaved = stored.find(name);
  editor.load('flow', unsaved?.flow ?? files.flow.text);
  editor.load('tests', unsaved?.tests ?? files.tests.text);
  if (unsaved) tell('Unsaved changes were restored.');
  failing = 0;
  builder.restart();
  steps.show();
  history.replaceState(null, '', `#${name}`);
  parts.showDocument('flow');
  showState();
  await checks.now();
}

/** Shows other files of the flow that is open, where nothing is unsaved. */
function reopen(files: OpenedFiles): void {
  opened.base = files;
  editor.load('flow', files.flow.text);
  editor.load('tests', files.tests.text);
  checks.soon();
  showState();
}

findElement('save').addEventListener('click', () => void save());
findElement('save-draft').addEventListener('click', () => void save(true));
flows.addEventListener('change', () => void load(flows.value));
watchDisk({
  flow: () => flow,
  base: () => opened.base,
  isDirty: opened.isDirty,
  onConflict: showConflict,
  onNew: (present) => {
    reopen(present);
    tell('The file has changed on disk and was reloaded.');
  },
});
addEventListener('hashchange', () => {
  const name = decodeURIComponent(location.hash.slice(1));
  if (name !== '' && name !== flow) void load(name);
});
addEventListener('beforeunload', (event) => {
  if (opened.isDirty()) event.preventDefault();
});
parts.open('drawing');
const listed = await flowList.refresh('');
if (listed.flows.length) await load(decodeURIComponent(location.hash.slice(1)) || page.dataset.flow!);
else {
  state.textContent = 'No menus yet';
  await flowList.begin(listed.dialled);
}
